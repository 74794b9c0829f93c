"""Beams, shells and joints of frames, groups of rigid particles; bars that yield, cohesive faces."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".beam": ("Beams", "beams"),
        "..couplings.cohesive": ("CohesiveFaces",),
        ".corotational": ("CorotationalDamping", "CorotationalEnergy"),
        ".coupling": ("Coupling",),
        ".frames": ("Frames",),
        ".joint_laws": ("JointLoad", "JointSpring"),
        ".joints": ("Joint", "JointReaction"),
        ".moments": ("Moment",),
        ".plies": ("Orthotropic", "Ply", "ShellProperties"),
        ".quadratic_measures": ("QuadraticMeasures",),
        ".rigidity": ("body_particles",),
        ".sections": ("BeamProperties", "Section"),
        ".shell": ("Shells", "shells"),
        ".viscoelastic_sections": ("ViscoelasticSections",),
        ".viscous_measures": ("ViscousMeasures",),
        ".yielding": ("YieldingBar",),
        ".yielding_beams": ("YieldingBeams",),
    },
)

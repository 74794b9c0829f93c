"""Scalars of a stencil (lengths, constraints) and the energies that are laws of them."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".anchors": ("Anchors",),
        ".force_table": ("ForceTable",),
        ".bars": ("Bars", "all_pairs"),
        ".constraints": ("Constraint", "OnCylinder", "OnPlane", "OnSphere", "RigidBars"),
        ".inelastic_bars": ("InelasticBars", "LengthLaw"),
        ".pair_laws": (
            "CompressionOnly",
            "EngineeringStrain",
            "GreenStrain",
            "InverseDistance",
            "InverseSquare",
            "LennardJones",
            "PairLaw",
            "TensionOnly",
        ),
        ".penalty": ("Penalty",),
        ".separation": ("BreakingBar", "TractionSeparation"),
        ".short_range": ("ShortRangeLennardJones",),
    },
)

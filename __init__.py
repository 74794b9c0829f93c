"""symplex: finite-element structural dynamics with integrators that keep what the physics keeps."""

# Nothing but this is imported here, neither from typing nor from __future__: with ``python -m``, files of such names in
# the working directory would be run in their place (see __main__.py).
from importlib import import_module

from symplex.base.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symplex.contact.massless import redistributed_mass as redistributed_mass
    from symplex.contact.obstacles import (
        Box as Box,
        Capsule as Capsule,
        Cylinder as Cylinder,
        HalfSpace as HalfSpace,
        Sphere as Sphere,
    )
    from symplex.contact.rigid import RigidContact as RigidContact
    from symplex.errors import SymplexError as SymplexError
    from symplex.fem.actions.damping import (
        Dashpots as Dashpots,
        DifferentiableLoad as DifferentiableLoad,
        Drag as Drag,
        StiffnessDamping as StiffnessDamping,
    )
    from symplex.fem.actions.loads import (
        Gravity as Gravity,
        NodalForce as NodalForce,
        NodalLoad as NodalLoad,
        Pressure as Pressure,
        SurfaceTraction as SurfaceTraction,
    )
    from symplex.fem.actions.mass import (
        bar_mass as bar_mass,
        consistent_bar_mass as consistent_bar_mass,
        consistent_mass as consistent_mass,
        lumped_mass as lumped_mass,
    )
    from symplex.fem.actions.support_motion import (
        SupportMotion as SupportMotion,
        SupportRotation as SupportRotation,
        SupportTranslation as SupportTranslation,
    )
    from symplex.fem.actions.supports import fixed_mask as fixed_mask
    from symplex.fem.actions.time_function import TimeFunction as TimeFunction
    from symplex.fem.energy import Energy as Energy
    from symplex.fem.grid.lattice_values import compile_lattice as compile_lattice
    from symplex.fem.jacobi import JacobiCoordinates as JacobiCoordinates
    from symplex.fem.measures.bars import (
        Bars as Bars,
        all_pairs as all_pairs,
    )
    from symplex.fem.measures.constraints import (
        Constraint as Constraint,
        OnCylinder as OnCylinder,
        OnPlane as OnPlane,
        OnSphere as OnSphere,
        RigidBars as RigidBars,
    )
    from symplex.fem.measures.pair_laws import (
        CompressionOnly as CompressionOnly,
        EngineeringStrain as EngineeringStrain,
        GreenStrain as GreenStrain,
        InverseDistance as InverseDistance,
        InverseSquare as InverseSquare,
        LennardJones as LennardJones,
        PairLaw as PairLaw,
        TensionOnly as TensionOnly,
    )
    from symplex.fem.measures.penalty import Penalty as Penalty
    from symplex.fem.measures.short_range import ShortRangeLennardJones as ShortRangeLennardJones
    from symplex.fem.solids.formula import FormulaMaterial as FormulaMaterial, material as material
    from symplex.fem.solids.materials import (
        LinearElastic as LinearElastic,
        Material as Material,
        MooneyRivlin as MooneyRivlin,
        NeoHookean as NeoHookean,
        SaintVenantKirchhoff as SaintVenantKirchhoff,
    )
    from symplex.fem.solids.solid import Solid as Solid
    from symplex.fem.system import (
        State as State,
        System as System,
    )
    from symplex.meshes.bundled_meshes import bundled as bundled
    from symplex.meshes.formats.read import read_mesh as read_mesh
    from symplex.meshes.formats.save import save_mesh as save_mesh
    from symplex.meshes.generate import (
        box as box,
        cube_mesh as cube_mesh,
    )
    from symplex.meshes.mesh import (
        Mesh as Mesh,
        merge as merge,
    )
    from symplex.meshes.midside_nodes import quadratic as quadratic
    from symplex.meshes.pictures.render import (
        render_film as render_film,
        render_snapshots as render_snapshots,
    )
    from symplex.meshes.pictures.view import View as View
    from symplex.meshes.series.series import (
        Block as Block,
        open_series as open_series,
        read_series as read_series,
        repair_series as repair_series,
    )
    from symplex.runs.history import read_history as read_history
    from symplex.runs.plots import (
        compare_histories as compare_histories,
        plot_history as plot_history,
    )
    from symplex.runs.run import simulate as simulate
    from symplex.scenario.scenario import Scenario as Scenario
    from symplex.time.composition import Composition as Composition
    from symplex.time.conserving.energy_momentum import EnergyMomentum as EnergyMomentum
    from symplex.time.conserving.graham_jelenic import GrahamJelenic as GrahamJelenic
    from symplex.time.constraints.multipliers import project as project
    from symplex.time.constraints.rattle import (
        Rattle as Rattle,
        Shake as Shake,
    )
    from symplex.time.dense_output import (
        Interpolant as Interpolant,
        locate as locate,
    )
    from symplex.time.equilibria.relative_path import (
        RelativeEquilibrium as RelativeEquilibrium,
        RelativePath as RelativePath,
    )
    from symplex.time.equilibria.steady_rotation import (
        relative_equilibrium as relative_equilibrium,
        relative_equilibrium_of_momentum as relative_equilibrium_of_momentum,
    )
    from symplex.time.events.energy_stepping import EnergyStepping as EnergyStepping
    from symplex.time.events.force_stepping import ForceStepping as ForceStepping
    from symplex.time.explicit.newmark import Newmark as Newmark
    from symplex.time.explicit.variational_euler import VariationalEuler as VariationalEuler
    from symplex.time.implicit.generalized_alpha import (
        GeneralizedAlpha as GeneralizedAlpha,
        HilberHughesTaylor as HilberHughesTaylor,
    )
    from symplex.time.implicit.linearly_implicit import LinearlyImplicitNewmark as LinearlyImplicitNewmark
    from symplex.time.implicit.midpoint import Midpoint as Midpoint
    from symplex.time.integrator import Integrator as Integrator
    from symplex.time.langevin import Langevin as Langevin, kinetic_temperature as kinetic_temperature
    from symplex.time.manifolds.manifold import (
        ComposedMethod as ComposedMethod,
        ManifoldMethod as ManifoldMethod,
    )
    from symplex.time.manifolds.planar_pendulum import (
        PlanarMethod as PlanarMethod,
        PlanarState as PlanarState,
        SwingPlane as SwingPlane,
    )
    from symplex.time.manifolds.rigid_body import (
        BodyPotential as BodyPotential,
        BodyState as BodyState,
        RelaxedBody as RelaxedBody,
        RelaxedState as RelaxedState,
        RigidBody as RigidBody,
        UniformField as UniformField,
    )
    from symplex.time.manifolds.rigid_body_methods import BodyCayley as BodyCayley, BodyZhangSkeel as BodyZhangSkeel
    from symplex.time.manifolds.sphere import (
        AxialPotential as AxialPotential,
        SpherePotential as SpherePotential,
        SphereState as SphereState,
        SphericalPendulum as SphericalPendulum,
    )
    from symplex.time.manifolds.sphere_methods import (
        SphereEnergyMomentum as SphereEnergyMomentum,
        SphereMidpoint as SphereMidpoint,
        SphereSymplectic as SphereSymplectic,
    )
    from symplex.time.motion import Motion as Motion
    from symplex.time.reductions.jacobi_reduction import JacobiReduction as JacobiReduction
    from symplex.time.reductions.polar_reduction import PolarReduction as PolarReduction
    from symplex.time.solvers.newton import Newton as Newton
    from symplex.time.trajectory import (
        Recorder as Recorder,
        Trajectory as Trajectory,
        march as march,
        record as record,
    )
    from symplex.time.variational.adaptive_variational import AdaptiveVariational as AdaptiveVariational
    from symplex.time.variational.variational import VariationalMidpoint as VariationalMidpoint
    from symplex.time.variational.zhang_skeel import ZhangSkeel as ZhangSkeel
    from symplex.time.variational.zhang_skeel_force import ModifiedForce as ModifiedForce

__version__ = VERSION

# Where the public names live; each module is imported when one of its names is first used.
_HOMES = {
    "symplex.contact.massless": ("redistributed_mass",),
    "symplex.contact.obstacles": ("Box", "Capsule", "Cylinder", "HalfSpace", "Sphere"),
    "symplex.contact.rigid": ("RigidContact",),
    "symplex.errors": ("SymplexError",),
    "symplex.fem.measures.bars": ("Bars", "all_pairs"),
    "symplex.fem.measures.constraints": ("Constraint", "OnCylinder", "OnPlane", "OnSphere", "RigidBars"),
    "symplex.fem.actions.damping": ("Dashpots", "DifferentiableLoad", "Drag", "StiffnessDamping"),
    "symplex.fem.energy": ("Energy",),
    "symplex.fem.grid.lattice_values": ("compile_lattice",),
    "symplex.fem.jacobi": ("JacobiCoordinates",),
    "symplex.fem.actions.loads": ("Gravity", "NodalForce", "NodalLoad", "Pressure", "SurfaceTraction"),
    "symplex.fem.actions.mass": ("bar_mass", "consistent_bar_mass", "consistent_mass", "lumped_mass"),
    "symplex.fem.solids.formula": ("FormulaMaterial", "material"),
    "symplex.fem.solids.materials": ("LinearElastic", "Material", "MooneyRivlin", "NeoHookean", "SaintVenantKirchhoff"),
    "symplex.fem.measures.pair_laws": (
        "CompressionOnly",
        "EngineeringStrain",
        "GreenStrain",
        "InverseDistance",
        "InverseSquare",
        "LennardJones",
        "PairLaw",
        "TensionOnly",
    ),
    "symplex.fem.measures.penalty": ("Penalty",),
    "symplex.fem.measures.short_range": ("ShortRangeLennardJones",),
    "symplex.fem.solids.solid": ("Solid",),
    "symplex.fem.actions.support_motion": ("SupportMotion", "SupportRotation", "SupportTranslation"),
    "symplex.fem.actions.supports": ("fixed_mask",),
    "symplex.fem.system": ("State", "System"),
    "symplex.fem.actions.time_function": ("TimeFunction",),
    "symplex.runs.history": ("read_history",),
    "symplex.meshes.bundled_meshes": ("bundled",),
    "symplex.meshes.generate": ("box", "cube_mesh"),
    "symplex.meshes.mesh": ("Mesh", "merge"),
    "symplex.meshes.midside_nodes": ("quadratic",),
    "symplex.meshes.formats.read": ("read_mesh",),
    "symplex.meshes.pictures.render": ("render_film", "render_snapshots"),
    "symplex.meshes.formats.save": ("save_mesh",),
    "symplex.meshes.series.series": ("Block", "open_series", "read_series", "repair_series"),
    "symplex.meshes.pictures.view": ("View",),
    "symplex.runs.plots": ("compare_histories", "plot_history"),
    "symplex.runs.run": ("simulate",),
    "symplex.scenario.scenario": ("Scenario",),
    "symplex.time.variational.adaptive_variational": ("AdaptiveVariational",),
    "symplex.time.composition": ("Composition",),
    "symplex.time.dense_output": ("Interpolant", "locate"),
    "symplex.time.conserving.energy_momentum": ("EnergyMomentum",),
    "symplex.time.events.energy_stepping": ("EnergyStepping",),
    "symplex.time.events.force_stepping": ("ForceStepping",),
    "symplex.time.implicit.generalized_alpha": ("GeneralizedAlpha", "HilberHughesTaylor"),
    "symplex.time.conserving.graham_jelenic": ("GrahamJelenic",),
    "symplex.time.integrator": ("Integrator",),
    "symplex.time.motion": ("Motion",),
    "symplex.time.reductions.jacobi_reduction": ("JacobiReduction",),
    "symplex.time.langevin": ("Langevin", "kinetic_temperature"),
    "symplex.time.implicit.linearly_implicit": ("LinearlyImplicitNewmark",),
    "symplex.time.manifolds.manifold": ("ComposedMethod", "ManifoldMethod"),
    "symplex.time.implicit.midpoint": ("Midpoint",),
    "symplex.time.constraints.multipliers": ("project",),
    "symplex.time.explicit.newmark": ("Newmark",),
    "symplex.time.solvers.newton": ("Newton",),
    "symplex.time.manifolds.planar_pendulum": ("PlanarMethod", "PlanarState", "SwingPlane"),
    "symplex.time.reductions.polar_reduction": ("PolarReduction",),
    "symplex.time.equilibria.steady_rotation": ("relative_equilibrium", "relative_equilibrium_of_momentum"),
    "symplex.time.equilibria.relative_path": ("RelativeEquilibrium", "RelativePath"),
    "symplex.time.manifolds.rigid_body": (
        "BodyPotential",
        "BodyState",
        "RelaxedBody",
        "RelaxedState",
        "RigidBody",
        "UniformField",
    ),
    "symplex.time.manifolds.rigid_body_methods": ("BodyCayley", "BodyZhangSkeel"),
    "symplex.time.constraints.rattle": ("Rattle", "Shake"),
    "symplex.time.manifolds.sphere": ("AxialPotential", "SpherePotential", "SphereState", "SphericalPendulum"),
    "symplex.time.manifolds.sphere_methods": ("SphereEnergyMomentum", "SphereMidpoint", "SphereSymplectic"),
    "symplex.time.trajectory": ("Recorder", "Trajectory", "march", "record"),
    "symplex.time.variational.variational": ("VariationalMidpoint",),
    "symplex.time.explicit.variational_euler": ("VariationalEuler",),
    "symplex.time.variational.zhang_skeel": ("ZhangSkeel",),
    "symplex.time.variational.zhang_skeel_force": ("ModifiedForce",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'symplex' has no attribute '{name}'")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})

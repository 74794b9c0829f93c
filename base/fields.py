"""Fields that results have: words for them, their units, and how their numbers are distinguished."""

from __future__ import annotations

from typing import NamedTuple

from symplex.base.columns import Kind

COMPONENTS = ("xx", "yy", "zz", "xy", "yz", "xz")  # of symmetric tensors, as VTK has them


class Field(NamedTuple):
    """Words for a field, its unit, the names of its numbers, if there are several that are no vector, and its kind."""

    words: str
    unit: str
    parts: tuple[str, ...] = ()
    kind: Kind = "other"


# Of solids, in each element and averaged at nodes; what is computed for each, `symplex.fem.outputs.solid_fields` says.
OF_SOLIDS = {
    "stress": Field("stress", "Pa", COMPONENTS),
    "strain": Field("strain", "", COMPONENTS),
    "logarithmic_strain": Field("logarithmic strain", "", COMPONENTS),
    "pressure": Field("pressure", "Pa"),
    "principal_stresses": Field("principal stresses", "Pa", ("1", "2", "3")),
    "von_mises": Field("von Mises stress", "Pa"),
    "plastic_strain": Field("equivalent plastic strain", ""),
    "temperature": Field("temperature", "K"),
    "back_stress": Field("back stress", "Pa", COMPONENTS),
    "energy_density": Field("energy density", "J/m³"),
    "thermal_strain": Field("thermal strain", ""),
}
# Of beams, in the middle of each element, along and about the axes of its section.
OF_BEAMS = {
    "axial_force": Field("axial force", "N", kind="force"),
    "shear_force_1": Field("shear force along axis 1", "N", kind="force"),
    "shear_force_2": Field("shear force along axis 2", "N", kind="force"),
    "bending_moment_1": Field("bending moment about axis 1", "N m"),
    "bending_moment_2": Field("bending moment about axis 2", "N m"),
    "torque": Field("torque", "N m"),
}
# Of beams that yield, in each element: the size of its plastic bending, how near it is to flow, what it dissipated.
OF_HINGES = {
    "plastic_rotation": Field("plastic rotation", "rad"),
    "utilization": Field("utilization", ""),
    "plastic_work": Field("plastic work", "J"),
}
# Of shells, in the middle of each element, along its axes, for each unit of length.
OF_SHELLS = {
    "membrane_forces": Field("membrane force", "N/m", ("11", "22", "12")),
    "bending_moments": Field("bending moment", "N", ("11", "22", "12")),
    "transverse_force_1": Field("transverse shear force along axis 1", "N/m"),
    "transverse_force_2": Field("transverse shear force along axis 2", "N/m"),
}
# Where these are among eight numbers of each element.
PLACES_OF_SHELLS = dict(zip(OF_SHELLS, (slice(0, 3), slice(3, 6), 6, 7), strict=True))
DAMAGE = "damage"  # of bonds, and of elements that fail by it
GONE = "gone"  # 1 of elements that have eroded, which pictures leave out
# Of bonds, in each of them: the part of the fracture energy that is dissipated, and how far it is open.
OF_BONDS = {
    DAMAGE: Field("damage", ""),
    "opening": Field("opening", "m", kind="length"),
}
# Of joints: how the first body is seen from the second one, and what acts on it.
OF_JOINTS = {
    "angle": Field("angle", "rad"),
    "displacement": Field("displacement", "m", kind="length"),
    "angular_velocity": Field("angular velocity", "rad/s"),
    "velocity": Field("speed", "m/s"),
    "force": Field("force", "N", ("x", "y", "z"), "force"),
    "moment": Field("moment", "N m", ("x", "y", "z")),
}
FIELDS = (
    OF_SOLIDS
    | OF_JOINTS
    | OF_BONDS
    | {GONE: Field("eroded elements", "")}
    | OF_BEAMS
    | OF_HINGES
    | OF_SHELLS
    | {
        "position": Field("position", "m", kind="length"),
        "speed": Field("speed", "m/s"),
        "acceleration": Field("acceleration", "m/s²"),
        "rotation": Field("rotation", "rad"),
        "axial_stress": Field("axial stress", "Pa"),
        "elongation": Field("elongation", "m", kind="length"),
        "contact_force": Field("contact force", "N", kind="force"),
        "contact_pressure": Field("contact pressure", "Pa"),
        "friction_traction": Field("friction traction", "Pa"),
        "gap": Field("gap", "m", kind="length"),
    }
)

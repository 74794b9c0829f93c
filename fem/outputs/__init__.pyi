"""What there is to report of a state: stress and strain, reactions and forces, and probes that look at them."""

# Made by tests/write_stubs.py.
from symplex.fem.outputs.field_probes import NodalProbe as NodalProbe
from symplex.fem.outputs.field_probes import RotationProbe as RotationProbe
from symplex.fem.outputs.field_probes import SolidProbe as SolidProbe
from symplex.fem.outputs.force_probes import BarProbe as BarProbe
from symplex.fem.outputs.force_probes import BeamProbe as BeamProbe
from symplex.fem.outputs.force_probes import ForceProbe as ForceProbe
from symplex.fem.outputs.force_probes import ReactionProbe as ReactionProbe
from symplex.fem.outputs.force_probes import ShellProbe as ShellProbe
from symplex.fem.outputs.forces import force_on as force_on
from symplex.fem.outputs.forces import reactions as reactions
from symplex.fem.outputs.inelastic_probe import InelasticProbe as InelasticProbe
from symplex.fem.outputs.joint_probe import JointProbe as JointProbe
from symplex.fem.outputs.probe import Probe as Probe
from symplex.fem.outputs.snapshots import Observation as Observation
from symplex.fem.outputs.solid_fields import SolidFields as SolidFields
from symplex.fem.outputs.solid_fields import nodal_stress as nodal_stress
from symplex.fem.outputs.solid_fields import stress as stress

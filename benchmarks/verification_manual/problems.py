"""All problems, in the order of the manual: the modules enter them in the list when they are imported."""

# isort: off
from verification_manual import statics as statics
from verification_manual import stresses as stresses
from verification_manual import laws as laws
from verification_manual import large as large
from verification_manual import plasticity as plasticity
from verification_manual import vibrations as vibrations
from verification_manual import plates as plates
from verification_manual import beams as beams
from verification_manual import shells as shells
from verification_manual import joints as joints
from verification_manual import transient as transient
from verification_manual import impact as impact
from verification_manual import rotation as rotation
from verification_manual import conservation as conservation
from verification_manual import temperature as temperature

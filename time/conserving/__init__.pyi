"""Methods that keep energy and momenta by construction: energy-momentum, and those of Graham and Jelenić."""

# Made by tests/write_stubs.py.
from symplex.time.conserving.energy_momentum import EnergyMomentum as EnergyMomentum
from symplex.time.conserving.graham_jelenic import GrahamJelenic as GrahamJelenic

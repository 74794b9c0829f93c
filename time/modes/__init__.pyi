"""Small motions about a state: natural and complex modes, and the response to harmonic excitation."""

# Made by tests/write_stubs.py.
from symplex.time.modes.buckling import Buckling as Buckling
from symplex.time.modes.buckling import linear_buckling as linear_buckling
from symplex.time.modes.cyclic import CyclicModes as CyclicModes
from symplex.time.modes.cyclic import cyclic_modes as cyclic_modes
from symplex.time.modes.natural import Modes as Modes
from symplex.time.modes.natural import natural_modes as natural_modes
from symplex.time.modes.quadratic import ComplexModes as ComplexModes
from symplex.time.modes.quadratic import complex_modes as complex_modes
from symplex.time.modes.response import FrequencyResponse as FrequencyResponse
from symplex.time.modes.response import frequency_response as frequency_response
from symplex.time.modes.rotating import rotating_frame as rotating_frame

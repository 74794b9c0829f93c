"""Small motions about a state: natural and complex modes, and the response to harmonic excitation."""

# Made by tests/write_stubs.py.
from symplex.time.modes.buckling import Buckling as Buckling
from symplex.time.modes.buckling import linear_buckling as linear_buckling
from symplex.time.modes.cyclic import CyclicModes as CyclicModes
from symplex.time.modes.cyclic import cyclic_modes as cyclic_modes
from symplex.time.modes.floating import FlexibleBody as FlexibleBody
from symplex.time.modes.floating import flexible_body as flexible_body
from symplex.time.modes.natural import Modes as Modes
from symplex.time.modes.natural import natural_modes as natural_modes
from symplex.time.modes.quadratic import ComplexModes as ComplexModes
from symplex.time.modes.quadratic import complex_modes as complex_modes
from symplex.time.modes.reduced_body import ReducedBody as ReducedBody
from symplex.time.modes.reduced_body import craig_bampton as craig_bampton
from symplex.time.modes.response import FrequencyResponse as FrequencyResponse
from symplex.time.modes.response import frequency_response as frequency_response
from symplex.time.modes.rotating import rotating_frame as rotating_frame
from symplex.time.modes.spectra import ShockSpectrum as ShockSpectrum
from symplex.time.modes.spectra import Spectrum as Spectrum
from symplex.time.modes.spectra import combined as combined
from symplex.time.modes.spectra import shock_spectrum as shock_spectrum
from symplex.time.modes.spectral_response import RandomResponse as RandomResponse
from symplex.time.modes.spectral_response import SpectrumResponse as SpectrumResponse
from symplex.time.modes.spectral_response import modal_ratios as modal_ratios
from symplex.time.modes.spectral_response import random_response as random_response
from symplex.time.modes.spectral_response import resolving_frequencies as resolving_frequencies
from symplex.time.modes.spectral_response import spectrum_response as spectrum_response

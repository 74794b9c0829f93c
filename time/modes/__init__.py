"""Small motions about a state: natural and complex modes, and the response to harmonic excitation."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".buckling": ("Buckling", "linear_buckling"),
        ".reduced_body": ("ReducedBody", "craig_bampton"),
        ".floating": ("FlexibleBody", "flexible_body"),
        ".cyclic": ("CyclicModes", "cyclic_modes"),
        ".quadratic": ("ComplexModes", "complex_modes"),
        ".natural": ("Modes", "natural_modes"),
        ".response": ("FrequencyResponse", "frequency_response"),
        ".spectra": ("ShockSpectrum", "Spectrum", "combined", "shock_spectrum"),
        ".spectral_response": (
            "RandomResponse",
            "SpectrumResponse",
            "modal_ratios",
            "random_response",
            "resolving_frequencies",
            "spectrum_response",
        ),
        ".rotating": ("rotating_frame",),
    },
)

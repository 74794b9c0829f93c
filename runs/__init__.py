"""A run in a results folder: what it was computed from, what it keeps, and what it shows."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".buckling": ("BucklingFound", "find_buckling"),
        ".conservation_report": ("Conservation", "conservation"),
        ".export": ("export_result",),
        ".history": ("read_history",),
        ".modes": ("ModesFound", "find_modes"),
        ".page.write": ("write_page",),
        ".plots": ("compare_histories", "plot_history", "plot_probes"),
        ".probe_files": ("read_probe", "read_probes"),
        ".reporters": ("Reporter", "Sample", "TableReporter"),
        ".result": ("Result", "ResultFrame", "read_result"),
        ".reduction": ("reduce_body",),
        ".response": ("ResponseFound", "find_response"),
        ".shock": ("ShockFound", "find_shock"),
        ".spectral": ("RandomFound", "SpectrumFound", "find_random", "find_spectrum"),
        ".run": ("simulate",),
        ".study": ("SavedStudy", "Study"),
    },
    {"save_modes": "ModesFound.save", "save_response": "ResponseFound.save"},
)

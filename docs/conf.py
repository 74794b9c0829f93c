"""The site of symplex, built by Sphinx: see docs/contributing.md, or ``python docs/build.py``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

import symplex

project = "symplex"
author = "The symplex developers"
copyright = f"2026, {author}"
version = release = symplex.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinxcontrib.bibtex",
    # Of this folder:
    "gallery",
    "mathml",
    "moved",
    "outside",
    "reference",
    "terms",
]
exclude_patterns = ["_site", "**/.ipynb_checkpoints"]
nitpicky = False  # types such as "float64 [n, 3]" are words, not names
show_warning_types = True

# Pages: Markdown that GitHub shows as well.
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # a scenario with "…" is not TOML to the letter
numfig = True
math_number_all = False
math_eqref_format = "({number})"
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "unsrt"
bibtex_reference_style = "author_year"

# Reference of Python: families are found by attributes of the package; Sphinx looks for modules.
for _name in symplex._FAMILIES:
    sys.modules.setdefault(f"symplex.{_name}", import_module(symplex._FAMILIES[_name]))
default_role = "py:obj"
add_module_names = False
toc_object_entries = False  # the sections of a page name the same
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say types, with shapes and units
autodoc_preserve_defaults = True
autodoc_class_signature = "mixed"
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
maximum_signature_line_length = 100
viewcode_line_numbers = True

html_theme = "pydata_sphinx_theme"
html_title = f"symplex {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}  # light or dark as the reader's system
html_math_renderer = "mathml"  # drawn by the browser itself: no script, no network
html_search_scorer = str(Path(__file__).parent / "scorer.js")
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navigation_depth": 2,
    "show_nav_level": 1,
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

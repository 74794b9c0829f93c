"""Formulas of Sphinx pages as MathML, which browsers draw without a script and without a network.

Docutils translates the LaTeX. A formula it cannot translate is a warning with its place, so an error of the build.
"""

from __future__ import annotations

import re
from html import escape
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

_LOG = logging.getLogger(__name__)
_ACCENTS = set("ˉ¯ˆ^˙¨~˜→")
_MATHML = "http://www.w3.org/1998/Math/MathML"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _display(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = get_node_equation_number(writer, node)
        writer.body.append(f'<span class="eqno">({number})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append(_mathml(node, as_block=True) + "</div>\n")
    raise nodes.SkipNode


def _mathml(node: nodes.Element, as_block: bool) -> str:
    source = node.astext()
    try:
        return _with_indices_beside(tex2mathml(_translatable(source), as_block=as_block))
    except MathError as error:
        _LOG.warning("the formula %r cannot be translated: %s", source, error, location=node, type="mathml")
        return f"<code>{escape(source)}</code>"


def _translatable(source: str) -> str:
    r"""Return LaTeX in what docutils knows: ``aligned`` for rows and for ``align``, nothing for ``equation``."""
    source = re.sub(r"\\(begin|end)\{equation\*?\}", "", source)
    source = re.sub(r"\\(begin|end)\{(?:align|gather)\*?\}", r"\\\1{aligned}", source).strip()
    return rf"\begin{{aligned}}{source}\end{{aligned}}" if "\\\\" in source and r"\begin" not in source else source


def _with_indices_beside(formula: str) -> str:
    """Return MathML in which the index of a letter with a bar or a hat stands next to it; docutils puts it below."""
    if "<munderover>" not in formula:
        return formula
    ElementTree.register_namespace("", _MATHML)
    root = ElementTree.fromstring(formula)
    for both in root.iter(f"{{{_MATHML}}}munderover"):
        base, index, over = both
        if over.text in _ACCENTS:
            both.tag = f"{{{_MATHML}}}msub"
            letter = ElementTree.Element(f"{{{_MATHML}}}mover", accent="true")
            letter.extend([base, over])
            both[:] = [letter, index]
    return ElementTree.tostring(root, encoding="unicode")

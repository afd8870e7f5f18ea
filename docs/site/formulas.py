"""Formulas as MathML, which browsers draw by themselves: no script, and nothing from the network."""

import re

from latex2mathml.converter import convert


def mathml(source, display):
    """Return a formula; some words that the converter does not know are written in others."""
    source = re.sub(r"\\[dt]frac", r"\\frac", source)
    source = re.sub(r"\\lVert|\\rVert", r"\\Vert ", source)
    source = re.sub(r"\\lvert|\\rvert", r"\\vert ", source)
    return convert(source, display="block" if display else "inline")


def inline(self, node):
    """Write a formula in a line."""
    from docutils.nodes import SkipNode

    self.body.append(mathml(node.astext(), False))
    raise SkipNode


def block(self, node):
    """Write a formula by itself."""
    from docutils.nodes import SkipNode

    self.body.append(f'<div class="math">{mathml(node.astext(), True)}</div>\n')
    raise SkipNode


def setup(app):
    """Make it known to Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

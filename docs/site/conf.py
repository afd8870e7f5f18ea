"""How Sphinx makes the site; `build.py` beside it gathers what it is made of."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "foretask"
author = "The foretask developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "formulas"]
myst_enable_extensions = ["dollarmath"]
# Links to headings, as GitHub names them.
myst_heading_anchors = 4
html_math_renderer = "mathml"
# JSON in documents has an ellipsis where there is more, and consoles show what programs print.
suppress_warnings = ["misc.highlighting_failure"]
root_doc = "index"
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "sidebar_width": "260px", "fixed_sidebar": True}
html_title = "foretask"
html_show_sphinx = False
html_copy_source = False
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_ivar = True

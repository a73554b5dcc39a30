"""How `make docs` builds the documentation. Nothing is fetched, neither to build nor to read it."""

from __future__ import annotations

# Imported here and not by autodoc, which imports with TYPE_CHECKING set: LlamaIndex fails then.
import ctxmw_langchain  # noqa: F401
import ctxmw_llamaindex  # noqa: F401
import ctxmw_mcp  # noqa: F401
from ctxmw import __version__

project = "ctxmw"
author = "The ctxmw authors"
project_copyright = "The ctxmw authors, MIT licence"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"ctxmw {__version__}"
html_static_path = ["static"]
html_css_files = ["docs.css"]
html_favicon = "../ctxmw/ui/icon.svg"
html_copy_source = False
html_show_sphinx = False

# Docstrings are prose with `names` in it, not reStructuredText roles.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
autodoc_inherit_docstrings = False

"""How the pages are built: `make docs` reads this.

No page loads anything from elsewhere: formulas are MathML (`_ext/mathml.py`), fonts are those of the reader's machine.
"""

import logging
import os
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "_ext"), str(ROOT)]
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])  # for the code of the pages
os.environ["OPTMODELS_QUIET"] = "1"  # no lines about compilation between the answers

# Code is run without the reader's own settings of IPython, and without its warnings about local sockets.
os.environ["IPYTHONDIR"] = str(HERE / "_build" / "ipython")
profile = HERE / "_build" / "ipython" / "profile_default"
profile.mkdir(parents=True, exist_ok=True)
logging.getLogger("traitlets").setLevel(logging.WARNING)
(profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 40\n", encoding="utf-8")

project = "optmodels"
author = "optmodels contributors"
project_copyright = author
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "doors", "mathml", "outside", "studies"]
exclude_patterns = ["_build", "_ext", "studies"]
templates_path: list[str] = []
highlight_language = "none"  # blocks without a language are commands and what they print

# -- Markdown, and code that is run ----------------------------------------------------------------------------------

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
nb_render_markdown_format = "myst"
suppress_warnings = [
    "mystnb.unknown_mime_type",
    "ref.python",  # an annotation may name a class that two packages have, such as Result
]

# -- docstrings ------------------------------------------------------------------------------------------------------

default_role = "literal"
add_module_names = False
toc_object_entries_show_parents = "hide"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

# -- what it looks like ----------------------------------------------------------------------------------------------

html_theme = "furo"
html_title = f"optmodels {version}"
html_static_path = ["_static"]
html_extra_path = ["_build/extra"]  # reports of stored studies, see `_ext/studies.py`
html_css_files = ["pages.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {"navigation_with_keys": False}

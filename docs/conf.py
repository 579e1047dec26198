"""How the documentation is built: `make docs`. Nothing is fetched; a warning is an error."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from make import copies, pictures, records, reference
from sphinx.util import logging

import aglet

HERE = Path(__file__).parent
logger = logging.getLogger(__name__)

project = "Aglet"
author = "The Aglet developers"
copyright = "the Aglet developers"
version = release = aglet.__version__

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
exclude_patterns = ["_build", "make"]
smartquotes_action = "qe"  # "--" of a command stays
html_theme = "pydata_sphinx_theme"
html_title = f"Aglet {release}"
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],
}
html_sidebars = {"bootstrap": []}  # a section of one page
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False

# Tutorials run when the site is built; one that fails fails the build. Their output is kept between builds.
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / "executed")
nb_execution_raise_on_error = True
nb_execution_timeout = 120
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False


LINK = re.compile(r"(!?)\[([^\]]+)\]\(((?:\.\./)+)([^)#]+)(#[^)]*)?\)")


def outside(app, docname, source):
    """A link that leaves docs leads to the copy of that page in the site, or becomes text where there is none.

    Links inside docs stay links.
    """

    def text(match):
        picture, label, up, path, anchor = match.groups()
        if up.count("../") <= docname.count("/"):
            return match[0]
        if picture or not (HERE.parent / path).exists():
            logger.warning("the link to %s leads nowhere", up + path, location=docname)
        if path in copies.PAGES:
            return f"[{label}]({'../' * docname.count('/')}generated/{path}{anchor or ''})"
        return f"{label} (`{path}` in the repository)"

    source[0] = LINK.sub(text, source[0])


def setup(app):
    """Makes what follows from code and records, then reads the pages."""
    folder = HERE / "generated"
    folder.mkdir(exist_ok=True)
    pictures.write(folder)
    records.write(folder, HERE.parent / "repro" / "record")
    reference.write(folder)
    copies.write(folder, HERE.parent)
    app.connect("source-read", outside)
    return {"parallel_read_safe": True}

"""Configuration of the documentation, which `make docs` builds without a network connection."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import costcurves

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "costcurves"
author = "The costcurves developers"
version = release = costcurves.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "offline_math",
    "api_pages",
    "cli_pages",
    "pictures",
    "rooms",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 60,
    "write_computation_times": False,
    "capture_repr": (),
    "within_subsection_order": "gallery_looks.place",
    "reset_modules": ("matplotlib", "gallery_looks.enlarge"),
    "abort_on_example_error": True,
}

exclude_patterns = [
    "_build",
    "walks.md",
    "figures",
    "notebooks",
    "gallery/*.ipynb",
    "gallery/*.py",
]
nitpicky = False
html_theme = "pydata_sphinx_theme"
html_title = "costcurves"
html_static_path = ["_static"]
html_css_files = ["costcurves.css"]
html_show_sourcelink = False
html_copy_source = False
html_domain_indices = False
# Pages without neighbours in their section need no list of them.
html_sidebars = {
    page: []
    for page in ("index", "tutorial", "questions", "from-other-tools", "architecture")
}
html_theme_options: dict[str, Any] = {
    "navigation_with_keys": True,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
}
# The published site has a folder for each version (docs/versions.py); this is the folder's name.
if folder := os.environ.get("COSTCURVES_DOCS_VERSION"):
    html_theme_options |= {
        "switcher": {
            "json_url": "https://costcurves.github.io/costcurves/switcher.json",
            "version_match": folder,
        },
        "check_switcher": False,  # pages are built without a network connection
        "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    }
copyright = "the costcurves developers, BSD-3-Clause"

RESULTS = ("replications/",)


def list_results(app: Any, page: str, source: list[str]) -> None:
    """List the pages that studies have written under the evidence, with overviews first."""
    if page == "evidence":
        found = [name for name in app.env.found_docs if name.startswith(RESULTS)]
        found.sort(
            key=lambda name: (name.split("/")[0], not name.endswith("/index"), name)
        )
        source[0] = source[0].replace("{{ results }}", "\n".join(found))


def setup(app: Any) -> None:
    """Connect what this site needs beside the extensions."""
    app.connect("source-read", list_results)

"""How the documentation is built: ``make docs``.

Pages are Markdown that reads well on its own. Whatever a page needs is here or installed: nothing
is fetched, neither when the site is built nor when it is read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

import secant

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

project = "secant"
author = copyright = "The secant authors"  # noqa: A001  (the name that Sphinx reads)
version = release = secant.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/**/*.md", "examples/GALLERY_HEADER.rst"]
templates_path = ["_templates"]

# What does not resolve is an error. Names of other libraries are text: their indexes would have to
# be fetched.
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r"(?!secant\.(?!_)).*")]

# --- Markdown -----------------------------------------------------------------------------------

myst_enable_extensions = ["attrs_inline", "deflist"]
myst_heading_anchors = 3

# Files of the repository that have a page here, as other pages link to them.
PAGES_OF = {
    "ARCHITECTURE.md": "/architecture.md",
    "CHANGELOG.md": "/changelog.md",
    "CONTRIBUTING.md": "/contributing.md",
    "README.md": "/index.md",
}


def link_inside(text: str) -> str:
    """Let links to files of the repository lead to their pages: examples to the gallery."""
    text = re.sub(r"\]\((?:\.\./)*examples/(\w+)\.py\)", r"](/examples/\1.rst)", text)
    for file, page in PAGES_OF.items():
        text = re.sub(rf"\]\((?:\.\./)*{re.escape(file)}(#[\w-]+)?\)", rf"]({page}\1)", text)
    return text.replace("](docs/decisions/)", "](/decisions/index.md)")


# --- the reference ------------------------------------------------------------------------------

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_mock_imports = ["torch", "torchmetrics"]
autodoc_typehints = "signature"
autodoc_member_order = "groupwise"
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"  # "between()" has room beside a page
numpydoc_show_class_members = False

# --- the gallery --------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples",
    # Shown, and not run here: those that need torch, a cluster or arguments. The tests run them.
    "filename_pattern": r"/(?!dask_|daily_|lightning_|spark_|temperature_|token_|torch_)\w+\.py",
    "within_subsection_order": "FileNameSortKey",
    "default_thumb_file": str(Path(__file__).parent / "gallery" / "landing.png"),
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,  # that page loads scripts from elsewhere
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "plot_gallery": "True",
    "copyfile_regex": r"^$",
}

# --- how it looks -------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "secant"
html_static_path = ["_static"]
html_css_files = ["secant.css"]
html_js_files = ["tables.js"]
html_search_scorer = str(Path(__file__).parent / "scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "secant"},
    "show_prev_next": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": []}
html_math_renderer = "mathml"


def show_formula(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula as MathML, which browsers read without a script."""
    translator.body.append(f'<div class="math">{mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def show_inline_formula(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula inside a sentence."""
    translator.body.append(mathml(node))
    raise nodes.SkipNode


def mathml(node: nodes.Element, *, as_block: bool = False) -> str:
    r"""Turn TeX into MathML; brackets grow by themselves there, so that ``\Big`` says nothing."""
    return tex2mathml(re.sub(r"\\[Bb]ig[lr]?(?![a-z])", "", node.astext()), as_block=as_block)


def hide_own_parts(*event: object) -> tuple[str, str] | None:
    """Leave out the signature of a result, which nobody makes but secant itself."""
    signature = event[-2]
    made_by_us = isinstance(signature, str) and re.search(r"[(,] ?_\w+:", signature)
    return ("", "") if made_by_us else None


def setup(app: Sphinx) -> None:
    """Say what happens to links and formulas."""

    def rewrite(_app: Sphinx, _name: str, content: list[str]) -> None:
        content[0] = link_inside(content[0])

    def rewrite_included(_app: Sphinx, _path: object, _name: str, content: list[str]) -> None:
        content[0] = link_inside(content[0])

    app.connect("autodoc-process-signature", hide_own_parts)
    app.connect("source-read", rewrite)
    app.connect("include-read", rewrite_included)
    app.add_html_math_renderer("mathml", (show_inline_formula, None), (show_formula, None))

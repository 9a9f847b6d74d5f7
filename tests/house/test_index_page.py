"""The README on the page of a package index: nothing there leads nowhere."""

import importlib.util
import re

import pytest

import secant
from helpers import ROOT, optional

README = (ROOT / "README.md").read_text(encoding="utf-8")
HOME = "https://example.org/somebody/secant"
TARGETS = re.compile(r"\]\(([^)]+)\)")


@pytest.fixture
def hook():
    optional("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_has_one_picture_and_many_links():
    assert len(re.findall(r"^!\[", README, re.MULTILINE)) == 1
    assert sum("docs/" in target for target in TARGETS.findall(README)) > 20


def test_without_an_address_links_are_words_and_pictures_are_left_out(hook):
    page = hook.for_an_index(README, "1.2.3")
    assert all(target.startswith("https://") for target in TARGETS.findall(page))
    assert "![" not in page
    assert "*is it\ncalibrated, how far off is it, where, and what now?*" in page


def test_with_an_address_all_lead_there(hook):
    page = hook.for_an_index(README, "1.2.3", HOME + "/")
    assert all(target.startswith("https://") for target in TARGETS.findall(page))
    assert f"]({HOME}/blob/v1.2.3/docs/trust.md#what-must-hold)" in page
    assert f"]({HOME}/raw/v1.2.3/docs/gallery/report/report.png)" in page
    assert len(TARGETS.findall(page)) == len(TARGETS.findall(README))


@pytest.mark.parametrize("home", ["", HOME])
def test_the_metadata_has_the_page(hook, monkeypatch, home):
    monkeypatch.setenv("SECANT_REPOSITORY", home)
    metadata = {}
    hook.CustomMetadataHook(str(ROOT), {}).update(metadata)
    assert metadata["readme"]["text"] == hook.for_an_index(README, secant.__version__, home)
    assert metadata["urls"].get("Source", "") == home

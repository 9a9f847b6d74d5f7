"""The pictures in the repository are those that its script makes."""

import importlib.util

from helpers import ROOT, optional

GALLERY = ROOT / "docs" / "gallery"


def gallery():
    optional("matplotlib")
    spec = importlib.util.spec_from_file_location("gallery", GALLERY / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of_examples(script):
    """Name the pictures of examples, which `make docs` runs: too slow to be drawn here as well."""
    for example in script.EXAMPLES:
        code = (ROOT / "examples" / f"plot_{example}.py").read_text(encoding="utf-8")
        for number in range(1, code.count("plt.subplots(") + 1):
            yield f"{example.replace('_', '-')}-{number}.png"


def test_the_gallery_can_be_made_again(tmp_path):
    script = gallery()
    made = script.make(tmp_path, examples=())
    names = [path.name for path in made] + list(of_examples(script))
    assert sorted(names) == sorted(path.name for path in GALLERY.glob("*.png"))
    for path in [*made, *GALLERY.glob("*.png")]:
        assert path.stat().st_size < 150_000


def test_pictures_of_an_example_are_taken_from_its_figures(tmp_path):
    script = gallery()
    names = [name for name, _ in script.pictures(("planning",))]
    assert names[-1] == "planning-1"

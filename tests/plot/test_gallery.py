"""The pictures in the repository are those that its script makes."""

import importlib.util

from helpers import ROOT, optional

GALLERY = ROOT / "docs" / "gallery"


def test_the_gallery_can_be_made_again(tmp_path):
    optional("matplotlib")
    spec = importlib.util.spec_from_file_location("gallery", GALLERY / "make.py")
    gallery = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gallery)
    made = gallery.make(tmp_path)
    assert sorted(path.name for path in made) == sorted(path.name for path in GALLERY.glob("*.png"))
    for path in made:
        assert path.stat().st_size < 150_000
        assert (GALLERY / path.name).stat().st_size < 150_000

"""A tree of images: what is read, and what is refused."""

import os
import shutil
import sys

import pytest

from digits import touch
from secant import InputError
from secant.paper import imagenet


def test_a_tree_is_read_as_image_folder_does(tmp_path):
    touch(tmp_path, "b/2.JPG", "b/10.jpeg", "b/sub/1.png", "a/x.webp", "a/notes.txt", "readme.png")
    (tmp_path / "aa").mkdir()
    tree = imagenet.list_images(tmp_path)
    assert tree.classes == ("a", "aa", "b")
    assert tree.paths == ("a/x.webp", "b/10.jpeg", "b/2.JPG", "b/sub/1.png")
    assert tree.true_class.tolist() == [0, 2, 2, 2]


def test_the_digest_changes_with_anything_but_the_place(tmp_path):
    touch(tmp_path / "t", "a/1.png", "b/2.png")
    digest = imagenet.list_images(tmp_path / "t").digest
    changes = {
        "same": lambda t: None,
        "a class more": lambda t: (t / "c").mkdir(),
        "an image more": lambda t: touch(t, "a/0.png"),
        "an image less": lambda t: (t / "a/1.png").unlink(),
        "another name": lambda t: (t / "a/1.png").rename(t / "a/3.png"),
        "another class": lambda t: (t / "a/1.png").rename(t / "b/1.png"),
        "another size": lambda t: (t / "a/1.png").write_bytes(b"longer than before"),
        "another time": lambda t: os.utime(t / "a/1.png", (1, 1)),
    }
    found = {}
    for name, change in changes.items():
        copy = shutil.copytree(tmp_path / "t", tmp_path / name)  # keeps times
        change(copy)
        found[name] = imagenet.list_images(copy).digest
    assert found.pop("same") == digest
    assert len({digest, *found.values()}) == len(changes)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "is not a folder"),
        (["loose.png"], "holds no folder"),
        (["a/notes.txt"], "hold no images"),
    ],
)
def test_what_is_no_tree_is_refused(tmp_path, names, message):
    touch(tmp_path / "t", *names)
    with pytest.raises(InputError, match=message):
        imagenet.list_images(tmp_path / "t")


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text elsewhere")
def test_a_name_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "a").mkdir()
    with open(os.fsencode(tmp_path) + b"/a/\xff.png", "wb"):  # noqa: PTH123  (bytes in the name)
        pass
    with pytest.raises(InputError, match=r"not text.*udcff\.png"):
        imagenet.list_images(tmp_path)

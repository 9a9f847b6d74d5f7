"""``secant imagenet``, with a classifier of digits in place of ResNet-18."""

import numpy as np
import pytest

import digits
from commands import command
from helpers import optional
from secant.errors import MissingExtraError
from secant.paper import imagenet

optional("click")
optional("rich")
optional("pyarrow")


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return digits.write_tree(tmp_path_factory.mktemp("cli") / "images", count=40)


@pytest.fixture
def asked(monkeypatch):
    """Replace the network; return what was asked of it."""
    calls = []

    def resnet18(weights, *, device):
        calls.append((weights, device))
        return digits.classifier(weights=str(weights))

    monkeypatch.setattr(imagenet, "resnet18", resnet18)
    return calls


def run(*arguments):
    return command("imagenet", *arguments)


def test_images_become_a_table(images, asked, tmp_path):
    out = tmp_path / "preds.parquet"
    done = run(images, "--out", out, "--batch-size", 16, "--workers", 2)
    assert done.exit_code == 0, done.output
    assert asked == [("torchvision-default", "auto")]
    found = imagenet.read_predictions(out)
    score = [score for *_, score in digits.expected(images)]
    np.testing.assert_allclose(found.score, score, rtol=1e-12)
    assert found.made["batch size"] == 16
    assert f"40 images in 10 classes, {found.response.mean():.2%} right" in done.stdout
    assert f"Wrote {out}" in done.stdout
    assert not done.stderr  # no progress bar where there is no terminal


def test_options_reach_the_network(images, asked, tmp_path):
    done = run(images, "--out", tmp_path / "p", "--weights", "w.pth", "--device", "cuda:1")
    assert done.exit_code == 0, done.output
    assert asked == [("w.pth", "cuda:1")]
    assert imagenet.read_predictions(tmp_path / "p").made["weights"] == "w.pth"


def test_an_interruption_says_how_to_go_on(images, asked, tmp_path, monkeypatch):
    out = tmp_path / "preds.parquet"
    batches = []

    def logits(images):
        if len(batches) == 2:
            raise KeyboardInterrupt
        batches.append(len(images))
        return digits.classifier().logits(images)

    with monkeypatch.context() as patch:
        patch.setattr(
            imagenet, "resnet18", lambda weights, *, device: digits.classifier(
                weights=weights, logits=logits
            )
        )  # fmt: skip
        done = run(images, "--out", out, "--batch-size", 8)
    assert done.exit_code == 130
    assert f"{out}.parts; the same command goes on" in done.output
    assert not out.exists()

    changed = run(images, "--out", out, "--batch-size", 9)
    assert changed.exit_code == 2
    assert "batch size was 8 and is 9" in changed.output
    assert "throw its results away (--restart)" in changed.output

    done = run(images, "--out", out, "--batch-size", 8)
    assert done.exit_code == 0, done.output
    assert len(imagenet.read_predictions(out)) == 40

    again = run(images, "--out", out, "--batch-size", 8)
    assert again.exit_code == 2
    assert "is there already; remove it, or allow it to be replaced (--overwrite)" in again.output
    again = run(images, "--out", out, "--batch-size", 9, "--overwrite", "--restart")
    assert again.exit_code == 0, again.output


def test_an_unreadable_image_is_named_or_left_out(images, asked, tmp_path):
    bad = digits.write_tree(tmp_path / "images", count=10)
    (bad / "class000" / "bad.png").write_bytes(b"no image")
    done = run(bad, "--out", tmp_path / "p")
    assert done.exit_code == 2
    assert "bad.png" in done.output
    assert "(--skip-unreadable)" in done.output
    done = run(bad, "--out", tmp_path / "p", "--skip-unreadable")
    assert done.exit_code == 0, done.output
    assert "Left out class000/bad.png: UnidentifiedImageError" in done.stderr
    assert len(imagenet.read_predictions(tmp_path / "p")) == 10


def test_a_missing_library_is_named(images, tmp_path, monkeypatch):
    def resnet18(weights, *, device):
        raise MissingExtraError("pip install 'secant[imagenet]'")

    monkeypatch.setattr(imagenet, "resnet18", resnet18)
    done = run(images, "--out", tmp_path / "p")
    assert done.exit_code == 2
    assert done.output == "Error: pip install 'secant[imagenet]'\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument"),
        (["nowhere"], "Missing option '--out'"),
        (["nowhere", "--out", "p"], "not a folder"),
        (["nowhere", "--out", "p", "--batch-size", "0"], "--batch-size"),
        (["nowhere", "--out", "p", "--workers", "none"], "--workers"),
    ],
)
def test_unusable_arguments_are_refused(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert not list(tmp_path.iterdir())


def test_a_terminal_gets_a_progress_bar(images, asked, tmp_path, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    done = run(images, "--out", tmp_path / "p", "--batch-size", 8)
    assert done.exit_code == 0, done.output
    assert "40/40" in done.stderr

"""Check `secant imagenet` end to end, with torch and torchvision, on a generated tree of images.

    PYTHONPATH=src python benchmarks/imagenet_gpu_check.py --device cuda

No network and no ImageNet are needed: the images are noise and shapes (JPEG and PNG; colour, grey,
CMYK, with a palette; odd sizes), the ResNet-18 has random weights. What is checked:

1. the command's scores agree to 1e-6 with a plain loop over torchvision's own ImageFolder,
   transforms and DataLoader on the same device;
2. interrupted (SIGINT), killed (SIGKILL) and started again, it writes the same bytes;
3. with other weights it refuses to go on;
4. plain float32 is used (TF32 is not), so that the CPU gives the same scores to about 1e-5;
5. the figures can be drawn from the result.

It prints versions first, then one line for each check, then how many images a second are scored.
Without pyarrow, click and rich the command cannot run; this is then said, and what can be checked
is checked through Python.
"""

import argparse
import importlib
import io
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

import numpy as np

# The classes that have images, the paper's five among them; the other folders are empty.
CLASSES = 1000
SHOWN = sorted({60, 68, 248, 342, 837, *range(0, CLASSES, 29)})
BATCH = 16
LEAST_PARTS = 4


def version(name):
    try:
        importlib.import_module(name)
        return metadata.version({"PIL": "pillow"}.get(name, name))
    except Exception as error:  # noqa: BLE001  (whatever is wrong with it is worth printing)
        return f"not usable ({type(error).__name__}: {str(error)[:80]})"


def report_versions(device):
    print("python", platform.python_version(), "on", platform.platform())
    libraries = ("numpy", "PIL", "torch", "torchvision", "pyarrow", "click", "rich", "matplotlib")
    for name in libraries:
        print(f"{name:12}{version(name)}")
    import torch

    if torch.cuda.is_available():
        print(f"{'cuda':12}{torch.version.cuda}, {torch.cuda.get_device_name()}")
    print(f"{'device':12}{device}, {os.cpu_count()} cores\n", flush=True)


class Checks:
    """Counts what was checked and what failed."""

    def __init__(self):
        self.failed = 0

    def __call__(self, what, *, good, found=""):
        self.failed += not good
        print(f"{'ok  ' if good else 'FAIL'}  {what}{f': {found}' if found else ''}", flush=True)


# --- images and weights ---------------------------------------------------------------------------


def picture(rng, number, width, height):
    """Make an image of smooth noise and shapes, in a mode that depends on its number."""
    from PIL import Image, ImageDraw

    small = rng.integers(0, 256, (6, 6, 3), np.uint8)
    image = Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)
    draw = ImageDraw.Draw(image)
    for _ in range(5):
        x, y = np.sort(rng.integers(0, width, 2)), np.sort(rng.integers(0, height, 2))
        colour = tuple(int(part) for part in rng.integers(0, 256, 3))
        shape = (draw.ellipse, draw.rectangle)[int(rng.integers(2))]
        shape((int(x[0]), int(y[0]), int(x[1]), int(y[1])), fill=colour)
    return image.convert(("RGB", "RGB", "L", "CMYK", "RGB")[number % 5])


def make_tree(root, per_class, seed=0):
    """Write images into a few of a thousand class folders, some in subfolders."""
    rng = np.random.default_rng(seed)
    for number in range(CLASSES):
        (root / f"n{number:08d}").mkdir(parents=True)
    count = 0
    for number in SHOWN:
        folder = root / f"n{number:08d}"
        (folder / "more").mkdir()
        for index in range(per_class):
            width, height = (int(side) for side in rng.integers(40, 700, 2))
            image = picture(rng, index, width, height)
            place = folder / "more" if index % 7 == 3 else folder
            if index % 10 == 4:  # a PNG with a palette
                image.convert("P").save(place / f"{index:03d}.png")
            else:
                image.save(place / f"{index:03d}{'.JPEG' if index % 2 else '.jpg'}", quality=90)
            count += 1
    return count


def make_weights(path, tree, device, seed):
    """Save random weights, the last layer such that the network is right now and then.

    The statistics of the normalisations and the last layer (the mean features of each class) come
    from the images themselves.
    """
    import torch

    torch.manual_seed(seed)
    network = torchvision_model().to(device)
    last, network.fc = network.fc, torch.nn.Identity()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = None  # a plain average
    batches = [(inputs.to(device), classes) for inputs, classes in reference_loader(tree, 64)]
    with torch.no_grad():
        for inputs, _ in batches:
            network(inputs)
        network.eval()
        features = torch.cat([network(inputs) for inputs, _ in batches])
        classes = torch.cat([numbers for _, numbers in batches]).to(device)
        middle = features.mean(0)
        spread = (features - middle).square().sum(1).mean()
        last.weight.zero_()
        last.bias.fill_(-30)
        for number in SHOWN:
            apart = features[classes == number].mean(0) - middle
            last.weight[number] = 60 * apart / spread
            last.bias[number] = -60 * (apart @ (middle + apart / 2)) / spread
    network.fc = last
    torch.save({name: value.cpu() for name, value in network.state_dict().items()}, path)


def torchvision_model():
    import torchvision

    return torchvision.models.resnet18(weights=None, num_classes=CLASSES)


# --- the independent computation ------------------------------------------------------------------


def reference_loader(tree, batch_size, workers=0):
    """Read the images with nothing but torchvision and torch."""
    import torch
    from torchvision import datasets, transforms

    transform = transforms.Compose(
        [
            transforms.Resize(256),
            transforms.CenterCrop(224),
            transforms.ToTensor(),
            transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ]
    )
    images = datasets.ImageFolder(str(tree), transform, allow_empty=True)
    return torch.utils.data.DataLoader(images, batch_size=batch_size, num_workers=workers)


def reference(tree, weights, device, *, tf32=False, limit=None):
    """Return paths, true classes, predicted classes and scores, computed as plainly as possible."""
    import torch

    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cuda.matmul.allow_tf32 = tf32
    network = torchvision_model()
    network.load_state_dict(torch.load(weights, weights_only=True))
    network = network.eval().to(device)
    loader = reference_loader(tree, BATCH, workers=4)
    scores, predicted = [], []
    with torch.inference_mode():
        for number, (inputs, _) in enumerate(loader):
            if limit is not None and number * BATCH >= limit:
                break
            probabilities = network(inputs.to(device)).double().softmax(dim=1)
            score, best = probabilities.max(dim=1)
            scores.append(score.cpu().numpy())
            predicted.append(best.cpu().numpy())
    samples = loader.dataset.samples
    paths = [Path(path).relative_to(tree).as_posix() for path, _ in samples]
    true_class = np.array([number for _, number in samples])
    return paths, true_class, np.concatenate(predicted), np.concatenate(scores)


# --- the command ----------------------------------------------------------------------------------


def start(tree, weights, out, device):
    command = [sys.executable, "-m", "secant", "imagenet", str(tree), "--weights", str(weights)]
    command += ["--out", str(out), "--device", device, "--batch-size", str(BATCH), "--workers", "4"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(child):
    output, _ = child.communicate(timeout=240)
    return child.returncode, output.strip()


def stop_in_the_middle(child, parts, how, at_least):
    """Send a signal as soon as some batches are finished; return how many there are then."""
    while child.poll() is None:
        if len(list(parts.glob("batch-*.npz"))) >= at_least:
            child.send_signal(how)
            break
        time.sleep(0.002)
    output = finish(child)[1]
    return child.returncode, len(list(parts.glob("batch-*.npz"))), output


def check_command(check, work, tree, weights, device):
    """Run the command at once, then interrupted, killed and resumed; return the file."""
    whole, out = work / "whole.parquet", work / "resumed.parquet"
    begin = time.perf_counter()
    code, output = finish(start(tree, weights, whole, device))
    check(
        "the command runs", good=code == 0, found=f"{time.perf_counter() - begin:.1f} s, {output}"
    )
    parts = out.with_name(out.name + ".parts")
    batches = -(-len(list(tree.rglob("*.*"))) // BATCH)
    code, kept, output = stop_in_the_middle(
        start(tree, weights, out, device), parts, signal.SIGINT, LEAST_PARTS
    )
    check(
        "an interruption leaves finished batches and no file",
        good=code == 130 and LEAST_PARTS <= kept < batches and not out.exists(),
        found=f"exit code {code}, {kept} of {batches} batches kept; it says: {output}",
    )
    other = work / "other.pth"
    make_weights(other, tree, device, seed=1)
    code, output = finish(start(tree, other, out, device))
    check(
        "other weights are refused",
        good=code == 2 and "weights was" in output and not out.exists(),
        found=output[-160:].replace("\n", " "),
    )
    code, more, _ = stop_in_the_middle(
        start(tree, weights, out, device), parts, signal.SIGKILL, kept + LEAST_PARTS
    )
    check(
        "so does a kill",
        good=code == -signal.SIGKILL and kept < more < batches and not out.exists(),
        found=f"exit code {code}, {more} of {batches} batches kept",
    )
    code, output = finish(start(tree, weights, out, device))
    same = code == 0 and out.read_bytes() == whole.read_bytes()
    check("resumed, it writes the same bytes", good=same, found=f"exit code {code}")
    check("and cleans up", good=not parts.exists())
    return whole


def check_without_command(check, work, tree, weights, device):
    """Do what can be done without pyarrow or click: score through Python, stop and go on."""
    from secant._base.progress import showing
    from secant.paper import imagenet

    classifier = imagenet.resnet18(weights, device=device)
    images, parts = imagenet.list_images(tree), work / "parts"
    options = {"parts": parts, "batch_size": BATCH}
    seen = []

    def stop(done, _total):
        seen.append(done)
        if len(seen) > LEAST_PARTS:
            raise KeyboardInterrupt

    try:
        with showing(stop):
            imagenet.score_images(images, classifier, **options)
    except KeyboardInterrupt:
        check("interrupted through Python", good=len(list(parts.glob("batch-*"))) == LEAST_PARTS)
    resumed = imagenet.score_images(images, classifier, **options)
    whole = imagenet.score_images(images, classifier, parts=work / "whole", batch_size=BATCH)
    same = np.array_equal(resumed.score, whole.score)
    check("resumed, it gives the same numbers", good=same)
    return whole


# --- everything -----------------------------------------------------------------------------------


def compare(check, found, listed, expected, device):
    paths, true_class, predicted, score = expected
    check("the images stand in the order of ImageFolder", good=list(listed) == paths)
    check(
        "true classes are those of ImageFolder", good=np.array_equal(found.true_class, true_class)
    )
    apart = float(np.abs(found.score - score).max())
    check(f"scores agree with the plain loop on {device}", good=apart <= 1e-6, found=f"{apart:.1e}")
    differ = int((found.predicted_class != predicted).sum())
    check("so do predicted classes", good=differ == 0, found=f"{differ} differ")
    spread = np.quantile(found.score, [0, 0.5, 1]).round(4).tolist()
    check(
        "the scores vary, so that this says something",
        good=len(np.unique(found.score)) > len(score) / 2 and 0 < found.response.mean() < 1,
        found=f"least, median, largest {spread}; {found.response.mean():.0%} right",
    )


def check_pixels(check, tree, weights, device):
    """Compare what the network is given with torchvision's own preset, bit by bit."""
    import torch
    from PIL import Image
    from torchvision.models import ResNet18_Weights

    from secant.paper import imagenet

    classifier = imagenet.resnet18(weights, device=device)
    preset = ResNet18_Weights.IMAGENET1K_V1.transforms()
    files = sorted(tree.rglob("*.*"))[:40]
    with torch.inference_mode():
        equal = []
        for file in files:
            image = Image.open(file).convert("RGB")
            ours = torch.from_numpy(classifier.prepare(image)).permute(2, 0, 1) / 255
            mean, deviation = (torch.tensor(v).view(3, 1, 1) for v in (preset.mean, preset.std))
            equal.append(torch.equal((ours - mean) / deviation, preset(image)))
    good = all(equal)
    check("pixels are those of torchvision's preset", good=good, found=f"{sum(equal)}/{len(equal)}")


def check_precision(check, tree, weights, device, score):
    if not device.startswith("cuda"):
        print("--    no GPU: precision is not compared between devices")
        return
    *_, on_cpu = reference(tree, weights, "cpu", limit=200)
    apart = float(np.abs(score[: len(on_cpu)] - on_cpu).max())
    *_, shortened = reference(tree, weights, device, tf32=True)
    tf32 = float(np.abs(score - shortened).max())
    check(
        "the CPU gives the same scores",
        good=apart <= 1e-5,
        found=f"{apart:.1e} apart; TF32 would have moved them by up to {tf32:.1e}",
    )


def check_figures(check, work, found):
    try:
        import matplotlib as mpl
    except ImportError:
        print("--    matplotlib is not here: no figures")
        return
    from secant.paper.imagenet.figures import imagenet_figures

    mpl.use("agg")
    begin = time.perf_counter()
    report = imagenet_figures(found, work / "figures", formats=["png"])
    drawn = [figure.number for each in report.subsets for figure in each.figures]
    check(
        "figures are drawn from the result",
        good=report.page.exists() and {14, 31, 34} <= set(drawn),
        found=f"{len(drawn)} in {time.perf_counter() - begin:.1f} s; {len(report.table)} classes",
    )


def measure(work, weights, device, count):
    """Score images of ImageNet's usual size and say how many a second."""
    from PIL import Image

    from secant.paper import imagenet

    tree, rng = work / "speed", np.random.default_rng(3)
    contents = []
    for _ in range(64):
        buffer = io.BytesIO()
        noise = rng.integers(0, 256, (375, 500, 3), np.uint8)
        image = picture(rng, 0, 500, 375)
        Image.blend(image, Image.fromarray(noise), 0.1).save(buffer, "JPEG", quality=90)
        contents.append(buffer.getvalue())
    for number in range(CLASSES):
        (tree / f"n{number:08d}").mkdir(parents=True)
    for number in range(count):
        file = tree / f"n{number % CLASSES:08d}" / f"{number}.jpg"
        file.write_bytes(contents[number % len(contents)])
    size = sum(map(len, contents)) / len(contents) / 1024
    images = imagenet.list_images(tree)
    classifier = imagenet.resnet18(weights, device=device)
    classifier.logits([np.zeros((224, 224, 3), np.uint8)] * 256)  # once, for what is set up then
    cores = os.cpu_count() or 1
    for workers in sorted({1, 4, min(16, cores)}):
        done = tempfile.mkdtemp(dir=work)
        some = images if workers > 1 else imagenet.list_images(_part_of(tree, work, count // 8))
        begin = time.perf_counter()
        imagenet.score_images(some, classifier, parts=done, batch_size=256, workers=workers)
        speed = len(some.paths) / (time.perf_counter() - begin)
        print(
            f"{workers:3} threads: {speed:7,.0f} images/s (500 x 375 JPEG of {size:.0f} kB), "
            f"{1_281_167 / speed / 60:,.0f} minutes for ImageNet",
            flush=True,
        )


def _part_of(tree, work, count):
    """Copy some of the images, for the slow case."""
    part = work / "speed-part"
    for number in range(CLASSES):
        (part / f"n{number:08d}").mkdir(parents=True)
    for number in range(count):
        name = f"n{number % CLASSES:08d}/{number}.jpg"
        shutil.copy(tree / name, part / name)
    return part


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--per-class", type=int, default=25, help="images in each of 40 classes")
    parser.add_argument("--speed-images", type=int, default=4096, help="0 for no measurement")
    options = parser.parse_args()
    begin = time.perf_counter()
    report_versions(options.device)
    check, device = Checks(), options.device
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        tree, weights = work / "images", work / "weights.pth"
        count = make_tree(tree, options.per_class)
        make_weights(weights, tree, device, seed=0)
        print(f"{count} images in {len(SHOWN)} of {CLASSES} classes, random weights", flush=True)

        needed = ("pyarrow", "click", "rich")
        missing = [library for library in needed if version(library).startswith("not")]
        if not missing:
            import pyarrow.parquet as pq

            from secant.paper import imagenet

            file = check_command(check, work, tree, weights, device)
            found = imagenet.read_predictions(file)
            listed = pq.read_table(file, columns=["path"])["path"].to_pylist()
        else:
            print(
                f"--    without {', '.join(missing)} the command cannot run: checked through Python"
            )
            found = check_without_command(check, work, tree, weights, device)
            listed = found.paths
        expected = reference(tree, weights, device)
        compare(check, found, listed, expected, device)
        check_pixels(check, tree, weights, device)
        check_precision(check, tree, weights, device, found.score)
        check_figures(check, work, found)
        if options.speed_images:
            measure(work, weights, device, options.speed_images)
    seconds = time.perf_counter() - begin
    print(f"\n{'all passed' if not check.failed else f'{check.failed} FAILED'} in {seconds:.0f} s")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())

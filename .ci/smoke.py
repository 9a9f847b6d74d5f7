"""Install a wheel into an empty environment for every extra, and do there what the extra promises.

    python .ci/smoke.py dist/secant-*.whl [EXTRA ...]

Needs mypy beside the Python that runs it. With npm on the PATH pyright reads the types too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYRIGHT = "pyright@1.1.414"
# Extras that need a GPU, or a torch of another build than the others: they must install together.
RESOLVED_ONLY = {"cuda", "imagenet"}
# Libraries of the user's own that an extra works with and does not bring.
BESIDE = {"frames": ["duckdb", "pandas"]}

START = """
import numpy as np, secant
rng = np.random.default_rng(0)
p = rng.random(500)
y = rng.random(500) < p
"""
FILE = (
    START + "np.savetxt('p.csv', np.column_stack([y, p]), '%g', ',', header='y,p', comments='')\n"
)
# What is run with `python -c`, and then as commands.
PROMISES: dict[str, tuple[str, ...]] = {
    "": (START + "secant.assess(y, p).report('page.html'); assert not secant.assess(y, p).found",),
    "plot": (START + "secant.assess(y, p).plot().figure_.savefig('graph.png')",),
    "files": (FILE + "assert secant.assess('y', 'p', data='p.csv').n == 500",),
    "frames": (
        START + "import duckdb, pandas as pd\n"
        "frame = pd.DataFrame({'y': y, 'p': p})\n"
        "assert secant.assess('y', 'p', data=frame).n == 500\n"
        "assert secant.assess('y', 'p', data=duckdb.sql('FROM frame')).n == 500",
    ),
    "fast": (
        START + "from secant._inference.lattice import absorbed_in_numpy\n"
        "from secant._inference.lattice_compiled import absorbed\n"
        "from secant._inference.walk import exact_runs, observe\n"
        "one, y, p = np.ones(500, int), y[np.argsort(p)].astype(int), np.sort(p)\n"
        "for run in exact_runs(observe([(p, one, y)])):\n"
        "    fast, slow = absorbed(run), absorbed_in_numpy(run)\n"
        "    assert (slow > 0).all() and (abs(fast - slow) <= 1e-12 * slow).all()",
    ),
    "cli": (FILE, "secant assess p.csv", "secant assess p.csv --html page.html --json -"),
    "paper": ("", "secant paper --out paper --only 1"),
    "torch": (
        START + "import torch\nfrom secant.torch import CalibrationError\n"
        "metric = CalibrationError()\n"
        "metric.update(torch.tensor(p), torch.tensor(y))\n"
        "assert abs(metric.compute()['ecce_r'] - secant.ecce_r(y, p)) < 1e-3",
    ),
    "all": (FILE, "secant assess p.csv --html page.html --plot graph.png", "secant demo"),
}


def main(wheel: str, *chosen: str) -> None:
    """Try the extras named, or all."""
    extras = ["", *extras_of(Path(wheel))]
    untried = set(extras) - set(PROMISES) - RESOLVED_ONLY
    if untried:
        sys.exit(f"nothing is known of what these extras promise: {', '.join(untried)}")
    for extra in chosen or extras:
        with tempfile.TemporaryDirectory() as folder:
            attempt(Path(wheel).resolve(), extra, Path(folder))


def extras_of(wheel: Path) -> list[str]:
    """Read the names of the extras from the wheel itself."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return re.findall(r"^Provides-Extra: (\S+)$", archive.read(name).decode(), re.MULTILINE)


def attempt(wheel: Path, extra: str, folder: Path) -> None:
    """Install the wheel with one extra into a new environment, and use it."""
    venv.create(folder / "env", with_pip=True)
    bin_ = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    what = f"{wheel}[{extra}]" if extra else str(wheel)
    pip = [bin_ / "python", "-m", "pip", "-qq", "--disable-pip-version-check", "install"]
    pinned = ["-c", ROOT / "constraints.txt", what, *BESIDE.get(extra, [])]
    if extra in RESOLVED_ONLY:
        run(folder, *pip, "--dry-run", *pinned)
        print(f"{extra}: its libraries can be installed together")
        return
    run(folder, *pip, *pinned)
    program, *commands = PROMISES[extra]
    run(folder, bin_ / "python", "-W", "error", "-c", program)
    for command in commands:
        name, *arguments = command.split()
        run(folder, bin_ / name, *arguments)
    if not extra:
        types(bin_ / "python", folder)
    print(f"{extra or 'numpy alone'}: does what it promises")


def types(python: Path, folder: Path) -> None:
    """Read a consumer's program beside the installed wheel with the two type checkers."""
    program = shutil.copy(ROOT / ".ci" / "consumer.py", folder)
    run(
        folder,
        *(sys.executable, "-m", "mypy", "--strict", "--warn-unused-ignores"),
        *("--python-executable", python, program),
    )
    print("types: mypy --strict reads them")
    if npx := shutil.which("npx"):
        (folder / "pyrightconfig.json").write_text(
            '{"typeCheckingMode": "strict", "reportUnnecessaryTypeIgnoreComment": true,'
            ' "enableTypeIgnoreComments": false}'
        )
        run(folder, npx, "--yes", PYRIGHT, "--pythonpath", python, program)
        print("types: pyright reads them")


def run(folder: Path, *command: object) -> None:
    """Run a command in a folder; where it fails, show what it said and stop."""
    outside = {"PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT"}
    clean = {
        name: value
        for name, value in os.environ.items()
        if name in outside or name.startswith(("PIP_", "npm_config_"))
    }
    words = [str(word) for word in command]
    found = subprocess.run(
        words, cwd=folder, env=clean, capture_output=True, text=True, check=False
    )
    if found.returncode:
        sys.exit(f"failed: {' '.join(words)}\n{found.stdout}{found.stderr}")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The command among people: hostile names, odd surroundings, interruptions, full disks.

The real command runs, in processes of its own. One process imports it and forks for each call, so
that hundreds of calls take seconds; what depends on how Python starts is started anew.
"""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import commands
import secant
from faults import ERRORS, content_of, counting
from helpers import optional
from secant._api import together

optional("click")
optional("rich")
optional("matplotlib")
pyarrow = optional("pyarrow")
parquet = optional("pyarrow.parquet")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are made by forking")

# What a terminal would obey, or a reader be deceived by. All of it at once: what each character
# becomes is tested where names are made visible.
HOSTILE = {
    "codes": "a\x1b[31mred\x1b]0;gone\x07" + "".join(map(chr, (*range(1, 32), *range(127, 160)))),
    "directions": "a\u2028b\u2029c\u202ed\u2066e\u200ff\u061cg\ufeffh",
    "not UTF-8": "a\udcffb",
    "markup": "[red]a[b] %s%n{0}",
}
# What is no harm, and stays as it is.
HARMLESS = "漢字 e\u0301 😀 -x ~nobody"
NAMES = [*HOSTILE.values(), HARMLESS]
_ACTING = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_COLOUR = re.compile("\x1b\\[[0-9;]*m")

DRIVER = """
    import gc, importlib, json, os, pkgutil, sys
    import numpy.ma, numpy.random, pyarrow.csv, pyarrow.parquet, rich._emoji_codes, rich.table
    import secant
    for module in pkgutil.walk_packages(secant.__path__, "secant."):
        # What needs torch is slow to load, and to fork with.
        if "imagenet" not in module.name and module.name != "secant.torch":
            importlib.import_module(module.name)
    from secant.__main__ import main
    gc.freeze()  # so that children need not copy what they do not change
    for number, (arguments, environment) in enumerate(json.load(sys.stdin)):
        child = os.fork()
        if not child:
            for handle, end in ((1, "out"), (2, "err")):
                os.dup2(os.open(f"{number}.{end}", os.O_WRONLY | os.O_CREAT), handle)
            os.environ.update(environment)
            sys.argv = ["secant", *arguments]
            main()
            sys.exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def environment(**more):
    """Return that of a shell; libraries are found where this process finds them."""
    plain = {"PYTHONPATH": str(Path(secant.__file__).parents[1]), "PATH": os.environ["PATH"]}
    return {**plain, "HOME": os.environ.get("HOME", "/"), "LC_ALL": "C.UTF-8", **more}


def run_all(folder, calls):
    """Run ``secant`` with each of some arguments; return exit codes and what was printed."""
    there = folder / "streams"
    there.mkdir()
    jobs = [([*map(str, arguments)], given) for arguments, given in calls]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(DRIVER)],
        input=json.dumps(jobs).encode(),
        cwd=there,
        env=environment(),
        stdout=subprocess.PIPE,
        check=True,
    )
    codes = [int(line) for line in done.stdout.split()]
    assert len(codes) == len(calls)
    return [
        (code, *((there / f"{number}.{end}").read_bytes() for end in ("out", "err")))
        for number, code in enumerate(codes)
    ]


def assert_mannered(what, code, out, err, *, colours=False):
    """Assert that nothing reached the terminal but characters, and that no call was a defect."""
    for stream in (out, err):
        text = stream.decode("utf-8", "surrogateescape")
        if colours:
            text = _COLOUR.sub("", text)
        assert not _ACTING.search(text), (what, text)
        assert "Traceback" not in text, (what, text)
    assert code in {0, 1, 2}, (what, code)


def write_csv(path, y="y", p="p", row=""):
    lines = [f'"{y}","{p}"', *(f"{i % 2},{(i % 9 + 0.5) / 10}" for i in range(60))]
    path.write_bytes("\n".join([*lines, row]).encode("utf-8", "surrogateescape"))
    return path


def calls_with(name, folder):
    """Yield calls in which a name stands wherever one can, and the exit code each should have."""
    folder.mkdir()
    good = write_csv(folder / "good.csv")
    data, inner = folder / f"{name}.csv", folder / f"d{name}"
    write_csv(data)
    inner.mkdir()
    utf8 = not re.search("[\ud800-\udfff]", name)
    fine = 0 if utf8 else 2
    yield fine, ["assess", data]
    yield fine, ["assess", data, "-q"]
    yield 2, ["assess", folder / f"no{name}.csv"]
    yield 2, ["assess", inner]
    yield 2, ["assess", f"~nosuchuser/{name}"]
    yield 2, ["assess", good, f"--{name}x"]
    yield 2, ["assess", good, "--method", name]
    yield 2, ["assess", good, "--alpha", name]
    yield 2, [f"{name}x"]
    for option in ("--y-true", "--y-prob", "--weight", "--by", "--pos-label"):
        yield 2, ["assess", good, f"{option}={name}"]
    yield 0, ["assess", good, "--json", inner / f"{name}.json"]
    if name in {HOSTILE["codes"], HOSTILE["not UTF-8"]}:  # for a page and a picture take long
        yield 0, ["assess", good, "--html", inner / f"{name}.html", f"--title={name}"]
        yield 0, ["assess", good, "--plot", inner / f"{name}.svg", "-q"]
    for option, ending in (("html", "html"), ("json", "json"), ("plot", "svg")):
        yield 2, ["assess", good, f"--{option}", folder / f"no{name}" / f"a.{ending}"]
        yield 2, ["assess", good, f"--{option}", inner]
    yield 2, ["assess", good, "--plot", folder / name]
    # In the data: values, labels, columns, groups. A field of a CSV is one line.
    line = name.replace("\n", "").replace("\r", "")
    yield 2, ["assess", write_csv(folder / "value.csv", row=f'1,"{line}"'), "--y-prob", "p"]
    yield 2, ["assess", write_csv(folder / "label.csv", row=f'"{line}",0.5'), "--y-true", "y"]
    columns = write_csv(folder / "columns.csv", f"y{line}", f"p{line}")
    yield 2 if line else 0, ["assess", columns]  # of which the names say nothing
    yield 2, ["assess", columns, "--y-true", "other"]
    yield 2, ["assess", columns, "--by", f"y{line}"]
    yield fine, ["assess", columns, f"--y-true=y{line}", f"--y-prob=p{line}", "--json", "-"]
    if utf8:
        half = [i / 60 + 0.001 for i in range(60)]
        table = {"y": [0, 1] * 30, "p": half, name: half[::-1], f"g{name}": ["a", name] * 30}
        groups = folder / "groups.parquet"
        parquet.write_table(pyarrow.table(table), groups)
        both = ["--y-prob=p", f"--y-prob={name}", "--y-true=y", f"--by=g{name}"]
        yield 1, ["assess", groups, *both, "--alpha=0.5"]
        yield 1, ["assess", groups, *both, "--alpha=0.5", "-q"]


@pytest.mark.long
def test_names_never_act(tmp_path):
    calls, expected = [], []
    for number, name in enumerate(NAMES):
        for code, arguments in calls_with(name, tmp_path / str(number)):
            calls.append((arguments, {}))
            expected.append(code)
    assert len(calls) > 140
    for (arguments, _), code, found in zip(calls, expected, run_all(tmp_path, calls), strict=True):
        assert_mannered(arguments, *found)
        assert found[0] == code, (arguments, found)
        assert found[1] or found[2], arguments


def test_names_never_act_among_colours_and_harmless_ones_are_kept(tmp_path):
    calls = [
        (arguments, {"FORCE_COLOR": "1"})
        for number, name in enumerate((HOSTILE["codes"], HARMLESS))
        for code, arguments in calls_with(name, tmp_path / str(number))
        if code < 2 and "--html" not in arguments and "--plot" not in arguments
    ]
    results = run_all(tmp_path, calls)
    for (arguments, _), found in zip(calls, results, strict=True):
        assert_mannered(arguments, *found, colours=True)
    assert any(_COLOUR.search(out.decode()) for _, out, _ in results)
    assert sum(HARMLESS in out.decode() for _, out, _ in results) > 0


def test_on_a_terminal(tmp_path):
    """Colours there are, and nothing else; progress bars and names among them."""
    import pty

    groups = [HOSTILE["codes"], HOSTILE["directions"], HARMLESS] * 20
    table = {"y": [0, 1] * 30, "p": [i / 60 for i in range(60)], "g": groups}
    parquet.write_table(pyarrow.table(table), tmp_path / "a.parquet")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "secant", "assess", str(tmp_path / "a.parquet"), "--by", "g"]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment(TERM="xterm-256color")
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 1 << 16):
                shown += piece
        except OSError:  # how the end looks on Linux
            pass
    os.close(ours)
    assert process.returncode == 0
    assert _COLOUR.search(shown.decode())
    # Where reading takes a while there is a bar, which is drawn and taken away.
    shown = re.sub(rb"\rReading \[[#.]+\] +\d+%|\r +\r", b"", shown.replace(b"\r\n", b"\n"))
    assert_mannered(command, 0, shown, b"", colours=True)


# --- surroundings ---------------------------------------------------------------------------------


def test_absurd_sizes_and_terminals(tmp_path):
    good = write_csv(tmp_path / "good.csv")
    given = [
        *({"COLUMNS": text} for text in ("0", "-5", "abc", "1", "²", "٣", "9" * 30, "1e3", "")),
        *({"LINES": text} for text in ("0", "²")),
        *({"TERM": text} for text in ("dumb", "", "nothing of the kind")),
        *({"HOME": text} for text in ("", "/nowhere")),
        {"TZ": "nowhere"},
        {"NO_COLOR": "1"},
    ]
    calls = [(["assess", good], each) for each in given]
    calls += [(["assess", "--help"], each) for each in given[:5]]
    calls += [(["assess", "nowhere.csv"], each) for each in given[:5]]
    codes = [0] * (len(given) + 5) + [2] * 5
    for call, code, found in zip(calls, codes, run_all(tmp_path, calls), strict=True):
        assert_mannered(call, *found)
        assert found[0] == code, (call, found)


@pytest.mark.parametrize(
    "given",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONWARNINGS": "error"},
    ],
    ids=str,
)
def test_poor_encodings(tmp_path, given):
    write_csv(tmp_path / "é漢\udcff.csv", "y漢", "pé")
    write_csv(tmp_path / "good.csv")
    write_csv(tmp_path / "names.csv", "y漢", "pé")
    names = "good.csv", "names.csv", "é漢\udcff.csv", "nowhere é.csv"
    for name, code in zip(names, (0, 2, 2, 2), strict=True):
        command = [sys.executable, "-m", "secant", "assess", os.fsencode(tmp_path / name)]
        done = subprocess.run(command, check=False, capture_output=True, env=environment(**given))
        assert_mannered((name, given), done.returncode, done.stdout, done.stderr)
        assert done.returncode == code, done
        assert done.stdout or done.stderr


@pytest.mark.parametrize("digits", [19, 20, 400, 5000])
def test_huge_integers_name_groups(tmp_path, digits):
    names = "9" * digits, "8" * digits
    rows = "".join(f"{i % 2},{(i % 9 + 0.5) / 10},{names[i % 2]}\n" for i in range(60))
    (tmp_path / "a.csv").write_text("y,p,g\n" + rows)
    done = commands.command(
        "assess", tmp_path / "a.csv", "--by", "g", "--json", tmp_path / "a.json"
    )
    assert done.exit_code == 0, done.output
    assert "9" * min(digits, 20) in done.output
    assert names[0] in (tmp_path / "a.json").read_text()


# --- streams that are closed, full or left --------------------------------------------------------


def shell(folder, line):
    """Run a line of shell in which ``secant`` is the command."""
    command = line.replace("secant", f"'{sys.executable}' -m secant", 1)
    return subprocess.run(
        ["/bin/bash", "-c", command],
        check=False,
        capture_output=True,
        cwd=folder,
        env=environment(),
    )


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("secant assess good.csv --json - >&-", 2, b"--json -: standard output is closed"),
        ("secant assess good.csv >/dev/full", 2, b"No space left on device"),
        ("secant assess good.csv --json - >/dev/full", 2, b"No space left on device"),
        ("secant assess good.csv --json /dev/full", 2, b"/dev/full: No space left on device"),
        ("secant --help >/dev/full", 2, b"standard output: No space left on device"),
        ("secant completion bash >/dev/full", 2, b"standard output: No space left on device"),
        ("secant assess nowhere.csv 2>/dev/full", 2, b""),
        ("secant assess nowhere.csv 2>&-", 2, b""),
        ("secant assess good.csv >&- 2>&- <&-", 0, b""),
        ("secant assess good.csv -q | head -c 1; exit ${PIPESTATUS[0]}", 0, b""),
        ("secant --help | head -c 1; exit ${PIPESTATUS[0]}", 0, b""),
    ],
)
def test_streams_that_cannot_be_written(tmp_path, line, code, words):
    if "/dev/full" in line and not Path("/dev/full").exists():
        pytest.skip("a device that is always full exists on Linux")
    write_csv(tmp_path / "good.csv")
    done = shell(tmp_path, line)
    assert_mannered(line, done.returncode, done.stdout, done.stderr)
    assert done.returncode == code, done
    assert words in done.stderr
    assert b"Exception ignored" not in done.stderr
    if not words:
        assert not done.stderr
        assert len(done.stdout) <= 1


# --- files ----------------------------------------------------------------------------------------


def outputs(folder):
    return {"html": folder / "a.html", "json": folder / "a.json", "plot": folder / "a.svg"}


def test_a_fault_at_any_step_of_any_output(tmp_path, monkeypatch):
    """Whatever fails, an output is the old file or the whole new one, and nothing lies beside."""
    drawn = "matplotlib.figure.Figure.savefig"  # which takes long, and is not what may fail here
    monkeypatch.setattr(drawn, lambda _, picture, **__: picture.write(b"<svg></svg>"))
    folder = tmp_path / "out"
    folder.mkdir()
    files = outputs(folder)
    call = ["assess", write_csv(tmp_path / "good.csv")]
    call += [word for name, path in files.items() for word in (f"--{name}", path)]
    old = {path.name: b"old" for path in files.values()}

    def restore():
        for name, content in old.items():
            (folder / name).write_bytes(content)

    restore()
    with counting() as dry:
        assert commands.command(*call).exit_code == 0
    steps = [step for step in dry.steps if step != "write"]
    assert {path.name for path in files.values()} == set(content_of(folder))
    tried = 0
    for number, step in enumerate(dry.steps):
        # Hundreds of writes are alike: the first and the last of each file stand for them.
        around = dry.steps[max(number - 1, 0) : number + 2]
        if step == "write" and set(around) == {"write"}:
            continue
        error = ERRORS[tried % len(ERRORS)]
        restore()
        with counting(number, error):
            done = commands.command(*call)
        tried += 1
        assert done.exit_code == {OSError: 2, KeyboardInterrupt: 130, SystemExit: 143}[type(error)]
        assert "Traceback" not in done.output
        for name, content in content_of(folder).items():
            whole = name.endswith(".json") and content.endswith(b"}\n")
            whole |= content.rstrip().endswith((b"</html>", b"</svg>"))
            assert name in old, "something was left beside"
            assert content == b"old" or whole, (step, number, name)
    assert tried >= len(steps) > 15


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_leaves_nothing_behind(tmp_path, name):
    """It comes while a file is being written, between one step and the next."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "a.json").write_bytes(b"old")
    script = f"""
        import os, signal, sys
        from secant.__main__ import main
        signal.signal(signal.{name}, signal.SIG_DFL)  # whatever this process was started with
        fsync = os.fsync
        def signalled(handle):
            fsync(handle)
            print(len(os.listdir({str(folder)!r})))
            os.kill(os.getpid(), signal.{name})
            os.kill(os.getpid(), signal.{name})
        os.fsync = signalled
        main()
    """
    good = write_csv(tmp_path / "good.csv")
    command = [sys.executable, "-c", textwrap.dedent(script)]
    command += ["assess", str(good), "--json", str(folder / "a.json")]
    done = subprocess.run(command, check=False, capture_output=True, env=environment())
    assert done.returncode == 128 + getattr(signal, name), done
    assert done.stdout.split() == [b"2"], "it was beside its place when the signal came"
    assert done.stderr == b"Terminated.\n"
    assert content_of(folder) == {"a.json": b"old"}


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no nohup here")
def test_what_was_started_under_nohup_goes_on(tmp_path):
    script = """
        import os, signal, sys
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        from secant.__main__ import main
        fsync = os.fsync
        def signalled(handle):
            os.kill(os.getpid(), signal.SIGHUP)
            fsync(handle)
        os.fsync = signalled
        main()
    """
    good, made = write_csv(tmp_path / "good.csv"), tmp_path / "a.json"
    command = [sys.executable, "-c", textwrap.dedent(script)]
    command += ["assess", str(good), "--json", str(made)]
    done = subprocess.run(command, check=False, capture_output=True, env=environment())
    assert (done.returncode, done.stderr) == (0, b"")
    assert made.exists()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
@pytest.mark.parametrize("when", ["column_kinds", "two_valued", "write_whole"])
def test_a_signal_whose_exception_is_swallowed_is_not(tmp_path, name, when):
    """Compiled code that calls Python back prints an exception and goes on."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "a.json").write_bytes(b"old")
    module = "secant._base.writing" if when == "write_whole" else "secant.sources.files.source"
    script = f"""
        import ctypes, os, signal, sys
        import {module} as module
        from secant.__main__ import main
        usual = signal.default_int_handler if "{name}" == "SIGINT" else signal.SIG_DFL
        signal.signal(signal.{name}, usual)  # whatever this process was started with
        def called_back():
            os.kill(os.getpid(), signal.{name})
            for _ in range(1000):
                pass
        before = module.{when}
        def swallowing(*arguments, **options):
            ctypes.CFUNCTYPE(None)(called_back)()
            return before(*arguments, **options)
        module.{when} = swallowing
        main()
    """
    good = write_csv(tmp_path / "good.csv")
    command = [sys.executable, "-c", textwrap.dedent(script)]
    command += ["assess", str(good), "--json", str(folder / "a.json")]
    done = subprocess.run(command, check=False, capture_output=True, env=environment())
    assert b"Exception ignored" in done.stderr
    assert done.returncode == 128 + getattr(signal, name), done
    assert done.stdout == b""
    assert content_of(folder) == {"a.json": b"old"}


def test_the_library_leaves_signals_alone():
    script = """
        import signal
        def all_of_them():
            return {each: signal.getsignal(each) for each in signal.valid_signals()}
        before = all_of_them()
        import secant
        print(all_of_them() == before)
    """
    script = textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, env=environment()
    )
    assert done.stdout == b"True\n"


def unwritable(folder):
    """Yield places where no output can go, and a word of why."""
    read_only = folder / "read-only.json"
    read_only.write_bytes(b"old")
    read_only.chmod(0o444)
    yield read_only, "read-only"
    yield folder / ("n" * 300), "too long"
    yield folder / ("é" * 200 + ".json"), "too long"
    (folder / "dangling").symlink_to(folder / "nowhere" / "a.json")
    yield folder / "dangling", "leads"
    (folder / "round").symlink_to("round")
    yield folder / "round", "symbolic links"
    yield folder / "nowhere" / "a.json", "no folder"
    yield read_only / "a.json", "no folder"
    yield folder, "director"


def test_outputs_are_checked_before_the_work(tmp_path, monkeypatch):
    good = write_csv(tmp_path / "good.csv")
    monkeypatch.setattr(
        together, "assess_together", lambda *_, **__: pytest.fail("the work was begun")
    )
    for path, why in unwritable(tmp_path):
        done = commands.command("assess", good, "--json", path)
        assert done.exit_code == 2, (path, done.output)
        assert why in done.output, (path, done.output)
    assert (tmp_path / "read-only.json").read_bytes() == b"old"


def test_outputs_keep_the_mode_of_what_they_replace(tmp_path):
    good = write_csv(tmp_path / "good.csv")
    files = outputs(tmp_path)
    for path in files.values():
        path.write_bytes(b"old")
        path.chmod(0o640)
    long = tmp_path / ("n" * 250 + ".json")
    (tmp_path / "link.json").symlink_to(long.name)
    call = [word for name, path in files.items() for word in (f"--{name}", path)]
    assert commands.command("assess", good, *call).exit_code == 0
    assert {stat.S_IMODE(path.stat().st_mode) for path in files.values()} == {0o640}
    assert b"old" not in {path.read_bytes() for path in files.values()}
    # A link to a file that is not there yet, whose name is as long as names can be.
    assert commands.command("assess", good, "--json", tmp_path / "link.json").exit_code == 0
    assert long.is_file()
    assert (tmp_path / "link.json").is_symlink()

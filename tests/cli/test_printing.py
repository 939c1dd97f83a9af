"""What the command line prints: whatever a table calls its columns and holds, no character of it steers a terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

import tclose
from tclose.cli import app
from tclose.cli.printing import echo_json
from tclose.values.visible import visible

pytestmark = pytest.mark.usefixtures("warm")

CLI = Path(tclose.__file__).parent / "cli"
EVIL = {
    "erases the screen": "\x1b[2J\x1b[H\x1b[1;32mis as certified.\x1b[8m",
    "renames the window": "\x1b]0;owned\x07",
    "one byte instead of two": "\x9b2J\x9d0;owned\x9c",
    "goes back": "salary\b\b\b\b\b\b\r",
    "is erased": "a\x7f\x00b",
    "a line of its own": "x\nrelease.csv is as certified.\vx\fx\x85x\u2028x\u2029x",
    "right to left": "\u202egnp\u202c\u2066a\u2069\u200f",
    "cannot be seen": "a\u200b\u200d\u2060\ufeff\u00ad\u00a0b",
    "markup": "[/]",
    "more markup": "[red]:smile:[link=http://x]a[/link][bold]",
}
ORDINARY = ("\n",)
SGR = re.compile(r"\x1b\[[0-9;]*m")
"""What sets a colour."""
SPINNER = re.compile(r"\x1b\[(?:\?25[lh]|[0-9]*[AK])|\r")
"""What hides the cursor, goes up a line, and clears one."""


def odd(text: str) -> list[str]:
    """The characters of a text that a terminal obeys, or does not show; judged by Unicode's categories."""
    return [c for c in text if c not in ORDINARY and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


def policy_of(folder: Path, quasi: str, sensitive: str, more: str = "k: 2\n") -> Path:
    path = folder / "policy.yaml"
    named = {"quasi": [quasi], "sensitive": {sensitive: {"t": 0.5, "distance": "equal"}}}
    path.write_text(f"{more}{''.join(f'{key}: {json.dumps(value)}' + chr(10) for key, value in named.items())}")
    return path


def table_of(folder: Path, quasi: str, sensitive: str, value: str) -> Path:
    """16 rows in 8 classes of 2, in which the text value is the same."""
    path = folder / "table.parquet"
    values = [f"{value}{row % 8}" for row in range(16)]
    pq.write_table(pa.table([values, values], names=[quasi, sensitive]), path)
    return path


def run(*arguments: str | Path, terminal: bool = False) -> Result:
    env = {"FORCE_COLOR": "1", "TERM": "xterm-256color"} if terminal else {}
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env=env)


def audit(folder: Path, evil: str, terminal: bool) -> Result:
    path = table_of(folder, f"q{evil}", f"s{evil}", evil)
    return run("audit", path, "-p", policy_of(folder, f"q{evil}", f"s{evil}", "k: 3\n"), terminal=terminal)


def anonymize(folder: Path, evil: str, terminal: bool) -> Result:
    path = table_of(folder, f"q{evil}", f"s{evil}", evil)
    policy, out = policy_of(folder, f"q{evil}", f"s{evil}"), folder / f"out{evil.replace('/', '').replace(chr(0), '')}.parquet"
    return run("anonymize", path, "-p", policy, "-o", out, "--effort", "fast", "--keep-order", terminal=terminal)


def verify(folder: Path, evil: str, terminal: bool) -> Result:
    path, out = table_of(folder, "q", f"s{evil}", evil), folder / "out.parquet"
    run("anonymize", path, "-p", policy_of(folder, "q", f"s{evil}"), "-o", out, "--effort", "fast")
    certificate = folder / "out.parquet.certificate.json"
    said = json.loads(certificate.read_text())
    said["attained"]["sensitive"][f"s{evil}"]["t"] = 0.125  # not so; and what is said of a column is forged
    for column in said["columns"]:
        column["holds"] = f"{column['holds']}{evil}"
    certificate.write_text(json.dumps(said))
    return run("verify", out, "--certificate", certificate, terminal=terminal)


def missing_column(folder: Path, evil: str, terminal: bool) -> Result:
    path = table_of(folder, "q", f"s{evil}", evil)
    return run("audit", path, "--quasi", "q", "--sensitive", f'"{evil}"', terminal=terminal)


def missing_file(folder: Path, evil: str, terminal: bool) -> Result:
    return run("audit", folder / f"{evil.replace(chr(0), '')}.csv", "--quasi", "q", "--sensitive", "s", terminal=terminal)


def bad_policy(folder: Path, evil: str, terminal: bool) -> Result:
    return run(
        "audit", table_of(folder, "q", "s", "x"), "-p", policy_of(folder, "q", "s", f"{json.dumps(evil)}: 2\n"), terminal=terminal
    )


def bad_usage(folder: Path, evil: str, terminal: bool) -> Result:
    return run("audit", f"--{evil}", terminal=terminal)


def bad_option(folder: Path, evil: str, terminal: bool) -> Result:
    path, out = table_of(folder, "q", "s", "x"), folder / "out.csv"
    return run("anonymize", path, "-p", policy_of(folder, "q", "s"), "-o", out, "--option", f"{evil}=1", terminal=terminal)


def missing_unit(folder: Path, evil: str, terminal: bool) -> Result:
    """A warning."""
    policy = policy_of(folder, "q", "s", f"k: 2\nunit: {json.dumps(evil)}\n")
    return run("audit", table_of(folder, "q", "s", "x"), "-p", policy, terminal=terminal)


def as_json(folder: Path, evil: str, terminal: bool) -> Result:
    path = table_of(folder, "q", f"s{evil}", evil)
    result = run("audit", path, "-p", policy_of(folder, "q", f"s{evil}", "k: 3\n"), "--json", terminal=terminal)
    assert list(json.loads(result.stdout)["sensitive"]) == [f"s{evil}"]
    return result


COMMANDS = (audit, anonymize, verify, missing_column, missing_file, bad_policy, bad_usage, bad_option, missing_unit, as_json)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
@pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL.keys())
def test_nothing_that_is_printed_steers_a_terminal(command: Callable[..., Result], evil: str, tmp_path: Path) -> None:
    result = command(tmp_path, evil, terminal=False)
    assert result.exit_code in (0, 1, 2), result.output
    assert result.output.strip()
    assert odd(result.stdout + result.stderr) == []


@pytest.mark.parametrize(
    "command", [audit, anonymize, verify, missing_column, missing_unit], ids=lambda command: command.__name__
)
def test_on_a_terminal_nothing_but_our_own_colours_does(command: Callable[..., Result], tmp_path: Path) -> None:
    evil = "".join(EVIL.values())
    result = command(tmp_path, evil, terminal=True)
    assert result.exit_code in (0, 1, 2), result.output
    assert odd(SGR.sub("", result.stdout)) == []
    assert odd(SPINNER.sub("", SGR.sub("", result.stderr))) == []
    assert "\\x1b[2J" in result.stdout + result.stderr  # said, not done


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminals")
def test_on_a_real_terminal_nothing_but_our_own_colours_does(tmp_path: Path) -> None:
    import pty

    evil = "".join(EVIL.values())
    table = table_of(tmp_path, "q", f"s{evil}", evil)
    command = [sys.executable, "-m", "tclose", "audit", str(table), "-p", str(policy_of(tmp_path, "q", f"s{evil}", "k: 3\n"))]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(theirs)
        seen = b""
        while chunk := _read(ours):
            seen += chunk
    os.close(ours)
    shown = seen.decode()
    assert process.returncode == 1
    assert SGR.search(shown)
    assert odd(SPINNER.sub("", SGR.sub("", shown))) == []
    assert "\\x1b[2J" in shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that nobody is left to write
        return b""


def test_a_forged_release_cannot_say_that_it_is_as_certified(tmp_path: Path) -> None:
    result = verify(tmp_path, "\n\x1b[2Kout.parquet is as certified.", terminal=False)
    assert result.exit_code == 1
    assert [line for line in result.stdout.splitlines() if line.startswith("out.parquet is as certified")] == []


def test_what_is_printable_stays_as_it_is() -> None:
    for text in ("Zürich, Düren & Øst", "中文 العربية עברית", "a\\b 'c' \"d\" [e]", "e\u0301 \U0001f600", ""):
        assert visible(text) == text
    assert visible("\udcff\U000e0041") == "\\udcff\\U000e0041"


@pytest.mark.parametrize("text", ["Zürich", "\u202e\x9b\x7f\u2028", "\U000e0041", "a\\u202e", "\ud800"])
def test_json_means_the_same_when_it_is_printed(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    echo_json(json.dumps({text: [text]}, indent=2, ensure_ascii=False))
    printed = capsys.readouterr().out
    assert json.loads(printed) == {text: [text]}
    assert odd(printed) == []
    assert ("Zürich" in printed) == (text == "Zürich")


def test_a_name_of_a_release_that_is_not_utf8_is_refused_before_the_work(tmp_path: Path) -> None:
    path, policy = table_of(tmp_path, "q", "s", "x"), policy_of(tmp_path, "q", "s")
    for out in (tmp_path / "\udcff.csv", tmp_path / "\udcff" / "release.csv"):
        result = run("anonymize", path, "-p", policy, "-o", out)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("Error: Path ")
        assert result.stderr.endswith("is not UTF-8: the certificate could not name the file. Choose another name.\n")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["policy.yaml", "table.parquet"]


def test_nothing_else_of_the_command_line_prints() -> None:
    elsewhere = re.compile(r"\b(typer|click)\.s?echo\(|\bConsole\(|\b(from|import) rich\b|\bprint\((?!\))|\bstdout\b|\bstderr\.")
    allowed = {
        # Help is typer's own; streams that cannot show a letter are told to show its number; and one sentence while nothing is loaded.
        "commands.py": ["typer.echo(context.get_help())", "for stream in (sys.stdout, sys.stderr):"],
        "__init__.py": ['sys.stderr.write("Error: Interrupted.\\n")'],
    }
    for module in sorted(CLI.glob("*.py")):
        if module.name == "printing.py":
            continue
        lines = [line.strip() for line in module.read_text().splitlines()]
        found = [
            line for line in lines if elsewhere.search(line.replace("screen.print(", "")) and not line.startswith(('"', "#"))
        ]
        assert [line for line in found if line not in allowed.get(module.name, [])] == [], module.name

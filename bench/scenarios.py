"""The scenario table: what releases of Adult lose, k = 5, beside what the first trials of each algorithm lost.

    python bench/scenarios.py [ALGORITHM]        default: mondrian

Every release is written to a CSV file, and audited again from that file by the command line, with the same policy. Prints
Markdown for bench/RESULTS.md. Adult and its hierarchies are looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import tclose as tc

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("TCLOSE_DATA", HERE.parents[1] / "shared" / "data"))
TREES = ("marital-status", "race", "sex", "native-country", "workclass")
LIMITS = (0.2, 0.1, 0.05)
CASES = (("hours-per-week",), ("occupation",), ("hours-per-week", "capital-gain"), ("hours-per-week", "occupation"))
BARS: dict[str, dict[tuple[str, ...], tuple[float, ...]]] = {  # what each algorithm lost when it was first tried
    "mondrian": {
        ("hours-per-week",): (0.0348, 0.0604, 0.2904),
        ("occupation",): (0.6006, 0.8702, 1.0000),
        ("hours-per-week", "capital-gain"): (0.0372, 0.0844, 0.4324),
        ("hours-per-week", "occupation"): (0.6006, 0.8702, 1.0000),
    },
    "fragmentation": {("hours-per-week", "capital-gain"): (0.2215, 0.3247, 0.4654)},
    "growth": {
        ("hours-per-week",): (0.0232, 0.0417, 0.1326),
        ("occupation",): (0.2629, 0.3691, 0.5088),
        ("hours-per-week", "capital-gain"): (0.0308, 0.0555, 0.1725),
        ("hours-per-week", "occupation"): (0.2785, 0.3853, 0.4759),
    },
}
NO_BARS = (1.0, 1.0, 1.0)


def policy_of(sensitive: tuple[str, ...], t: float, **more: Any) -> tc.Policy:
    """The policy of a row of the table; ``more`` is asked of every sensitive column: l=2."""
    quasi = ["age", "education-num", *(tc.Quasi(name, hierarchy=DATA / "hierarchies" / f"{name}.csv") for name in TREES)]
    return tc.Policy(quasi=quasi, sensitive={name: {"t": t, **more} for name in sensitive}, k=5, other="drop")


def machine() -> str:
    """What figures were measured on, when, and of which commit."""
    facts = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next((line.split(":")[1].strip() for line in facts if line.startswith("model name")), platform.machine())
    return f"Machine: {cpu}, {os.cpu_count()} cores. Date: {date.today()}. Commit: {commit()}."


@cache
def commit() -> str:
    """The commit at the start of a run; it may take long enough for the next one to come."""
    found = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=HERE, capture_output=True, text=True, check=False)
    return found.stdout.strip()


def reads_alike(release: tc.Release, policy: tc.Policy, folder: Path) -> bool:
    """Write a release to CSV; whether the command line, with that file and the policy, finds that it holds, with the same k and t."""
    out, asked = folder / "release.csv", folder / "policy.yaml"
    release.write(out, force=True)
    policy.save(asked, force=True)
    command = [sys.executable, "-m", "tclose", "audit", str(out), "-p", str(asked), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return False
    again = json.loads(done.stdout)
    same = again["satisfied"] and again["k"] == release.audit.k
    return same and all(again["sensitive"][name]["t_exact"] == str(own.t_exact) for name, own in release.audit.sensitive.items())


def main() -> None:
    print(f"{machine()}\n")
    print("| sensitive | t | GCP | at most | classes | k | t attained | CPU s | audit of the file |")
    print("|---|---|---|---|---|---|---|---|---|")
    algorithm = sys.argv[1] if len(sys.argv) > 1 else "mondrian"
    tc.anonymize(DATA / "adult.csv", policy_of(("occupation",), 0.2), algorithm=algorithm)  # compiles
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for sensitive in CASES:
            for t, bound in zip(LIMITS, BARS[algorithm].get(sensitive, NO_BARS), strict=True):
                policy = policy_of(sensitive, t)
                before = time.process_time()
                release = tc.anonymize(DATA / "adult.csv", policy, algorithm=algorithm)
                spent = time.process_time() - before
                same = reads_alike(release, policy, Path(folder))
                lost = release.loss["gcp"]
                missed += lost > bound + 0.00005 or not same
                attained = ", ".join(f"{release.audit.sensitive[name].t:.4f}" for name in sensitive)
                print(
                    f"| {' + '.join(sensitive)} | {t} | {lost:.4f} | {bound:.4f} | {release.audit.classes} | {release.audit.k} | "
                    f"{attained} | {spent:.2f} | {'the same, holds' if same else 'DIFFERS'} |",
                    flush=True,
                )
    print(f"\n{missed} of {len(LIMITS) * len(CASES)} rows miss their bar." if missed else "\nAll rows hold.")


if __name__ == "__main__":
    main()

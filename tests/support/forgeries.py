"""Forged releases: true pairs of a file and its certificate, changed by someone who knows what verify checks.

The rule that they test: **for every pair that verify accepts, a reader with pandas and fractions finds each limit that verify
prints satisfied by the published values.** `reads_true` is that reader. `pairs` makes true pairs, `forgeries` changes them,
`mend` makes the figures of a certificate honest again for whatever its policy and its file have become.

    for number in range(1000):
        check_one(Path(folder), number)
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
import re
import shutil
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

import tclose as tc
from tclose.judge.audit import Context, examine
from tclose.release.certificate import describe_sensitive, figures, statement, to_json
from tests import naive

ILLS = ("flu", "cold", "gout", "rash", "colic")
TREE = {"lung": ["flu", "cold"], "other": {"joint": ["gout"], "skin": ["rash"], "gut": ["colic"]}}
MATRIX = {a: {b: "1/2" if (i < 2) == (j < 2) else 1 for j, b in enumerate(ILLS) if i < j} for i, a in enumerate(ILLS)}
KINDS: dict[str, dict[str, Any]] = {
    "equal": {"distance": "equal"},
    "tree": {"hierarchy": TREE},
    "matrix": {"matrix": MATRIX},
    "order": {"order": list(ILLS)},
}
SALARIES: dict[str, dict[str, Any]] = {
    "ordered": {},
    "numeric": {"distance": "numeric"},
    "width": {"bins": {"width": 5}},
    "edges": {"bins": [5, 10, 15]},
    "count": {"bins": 4},
}


@dataclass(frozen=True)
class Pair:
    """A release and its certificate."""

    data: Path
    certificate: Path

    def said(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.certificate.read_text())
        return told

    def say(self, told: dict[str, Any]) -> None:
        self.certificate.write_text(to_json(told))


def true_pair(folder: Path, seed: int, suffix: str = ".csv") -> Pair:
    """A release of a random table under a random policy."""
    chosen = random.Random(seed)
    rows = chosen.choice([12, 24, 40])
    ill, salary = chosen.choice(list(KINDS)), chosen.choice(list(SALARIES))
    table = pa.table(
        {
            "age": [chosen.randrange(20, 60) for _ in range(rows)],
            "town": [chosen.choice("ABC") for _ in range(rows)],
            "salary": [chosen.randrange(20) for _ in range(rows)],
            "ill": [chosen.choice(ILLS) for _ in range(rows)],
            "ward": [chosen.choice("xy") for _ in range(rows)],
        }
    )
    policy = tc.Policy(
        quasi=["age", tc.Quasi("town", recode="set")],
        sensitive={"salary": {"t": "1/3", **SALARIES[salary]}, "ill": {"t": 0.4, "l": 2, **KINDS[ill]}},
        k=3,
        alpha=chosen.choice([None, 0.9]),
        keep=["ward"],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.PrivacyRiskWarning)
        data, certificate, *others = tc.anonymize(table, policy, algorithm="mondrian").write(
            folder / f"release{suffix}", force=True
        )
    for path in others:
        path.unlink()
    return Pair(data, certificate)


def certified(data: Path, policy: dict[str, Any], **more: Any) -> Pair:
    """A certificate for any file, honest in every figure; ``more`` is said besides."""
    pair = Pair(data, data.with_name(data.name + ".certificate.json"))
    told = {"tool": "tclose", "version": "0.1.0", "row_order": "sorted", "counted": "rows", "release": {"file": data.name}}
    pair.say({**mend(pair, {**told, "policy": policy}), **more})
    return pair


# What someone does who knows what is checked ----------------------------------------------------------------------------------


def mend(pair: Pair, told: dict[str, Any]) -> dict[str, Any]:
    """The certificate with every figure, role, sentence and hash that its file and its policy yield."""
    policy = tc.Policy(**told["policy"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.PrivacyRiskWarning)
        audit = examine(pair.data, policy, Context())
    names = list(cells_of(pair.data).columns)
    sensitive = {column.name: column for column in policy.sensitive}
    columns = []
    for name in names:
        role = "sensitive" if name in sensitive else "quasi" if name in audit.quasi else "kept"
        said = (
            describe_sensitive(sensitive[name], audit.sensitive[name].distance, policy)
            if name in sensitive
            else "As in the input."
        )
        columns.append({"name": name, "role": role, "holds": said})
    sizes = audit.sizes.tolist()
    loss = {"dm": sum(size * size for size in sizes), **({"c_avg": audit.rows / (len(sizes) * policy.k)} if policy.k else {})}
    return {
        **told,
        "statement": statement(policy),
        "rows": audit.rows,
        "classes": audit.classes,
        "columns": columns,
        "attained": {"k": audit.k, "homogeneous": audit.homogeneous, "sensitive": figures(audit)},
        "unique_rows": int((cells_of(pair.data).value_counts() == 1).sum()),
        "loss": loss,
        "release": {**told["release"], "sha256": hashlib.sha256(pair.data.read_bytes()).hexdigest()},
    }


def places(paper: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a certificate, inner ones too."""
    if path:
        yield path
    items = paper.items() if isinstance(paper, dict) else enumerate(paper) if isinstance(paper, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def inside(paper: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        paper = paper[key]
    return paper


def changed(told: dict[str, Any], path: tuple[Any, ...], change: Callable[[Any, Any], Any]) -> dict[str, Any]:
    """A copy, with ``change(owner, key)`` applied at a place."""
    other = copy.deepcopy(told)
    change(inside(other, path[:-1]), path[-1])
    return other


def removed(owner: Any, key: Any) -> None:
    del owner[key]


def put(value: Any) -> Callable[[Any, Any], None]:
    def change(owner: Any, key: Any) -> None:
        owner[key] = value

    return change


ODD: tuple[Any, ...] = (None, True, -1, 0, 10**6, 1.5, "", "x", "/etc/hostname", [], {}, [[]], {"x": 1})
"""What is put at any place."""

POLICIES: dict[str, Callable[[Any, random.Random], Any]] = {
    "k": lambda policy, chosen: policy.update(k=chosen.choice([1, 2, 10, None])),
    "no k": lambda policy, _: policy.pop("k"),
    "t": lambda policy, chosen: policy["sensitive"]["salary"].update(t=chosen.choice([0, 0.01, 0.2, 1, "1/7", None])),
    "no t": lambda policy, _: policy["sensitive"]["ill"].pop("t"),
    "nothing": lambda policy, _: (
        policy.pop("k"),
        policy.pop("alpha", None),
        policy.update(sensitive={"salary": None, "ill": None}),
    ),
    "alpha": lambda policy, chosen: policy.update(alpha=chosen.choice([0.3, 0.6, 1])),
    "quasi dropped": lambda policy, _: policy["quasi"].pop("age"),
    "quasi swapped": lambda policy, _: policy["quasi"].update(ward=policy["quasi"].pop("age")),
    "sensitive dropped": lambda policy, chosen: policy["sensitive"].pop(chosen.choice(["salary", "ill"])),
    "bins": lambda policy, chosen: policy["sensitive"].update(
        salary={"t": 0.01, "distance": "ordered", "bins": chosen.choice([2, {"width": 100}, [1000], 10**10])}
    ),
    "bins, equal": lambda policy, _: policy["sensitive"].update(salary={"t": 0.01, "distance": "equal", "bins": {"width": 100}}),
    "values beside bins": lambda policy, _: policy["sensitive"]["salary"].update(publish="value", bins=[10]),
    "tall tree": lambda policy, chosen: policy["sensitive"].update(
        ill={"t": 0.05, "hierarchy": {"*": {"real": list(ILLS), "pad": tall(chosen.choice([3, 50, 400]))}}}
    ),
    "tiny matrix": lambda policy, _: policy["sensitive"].update(
        ill={"t": 0.01, "matrix": {a: {b: "1/1000" for b in ILLS if b != a} for a in ILLS}}
    ),
    "other order": lambda policy, chosen: policy["sensitive"].update(ill={"t": 0.4, "order": chosen.sample(ILLS, len(ILLS))}),
    "a path": lambda policy, chosen: policy["sensitive"].update(ill={chosen.choice(["hierarchy", "matrix"]): "/etc/hostname"}),
    "a path of a quasi-identifier": lambda policy, _: policy["quasi"]["age"].update(hierarchy="/etc/hostname"),
    "another type": lambda policy, _: policy["quasi"]["age"].update(type="auto"),
    "n": lambda policy, chosen: policy.update(n=chosen.choice([1, 5, 10**6])),
    "unit": lambda policy, _: policy.update(unit="ward"),
    "missing": lambda policy, _: policy["sensitive"]["ill"].update(missing="value"),
}
"""Ways to ask for less, or for something else, each to be mended afterwards."""


def tall(height: int) -> Any:
    tree: Any = ["unused"]
    for level in range(height):
        tree = {f"n{level}": tree}
    return tree


def change_cells(data: Path, chosen: random.Random) -> str:
    """Change some cells of a CSV, or rows, or columns; say how."""
    frame = cells_of(data)
    how = chosen.choice(
        ["cell", "raw numbers", "mixture", "rows sorted by class", "row twice", "row gone", "two ways", "labels", "column"]
    )
    row = chosen.randrange(len(frame))
    if how == "cell":
        name = chosen.choice(list(frame.columns))
        frame.loc[row, name] = frame.loc[chosen.randrange(len(frame)), name]
    elif how in ("raw numbers", "two ways", "labels", "mixture"):
        frame["salary"] = [
            {
                "raw numbers": str(chosen.randrange(20)),
                "two ways": chosen.choice(["7", "7.0", "7.00"]),
                "labels": chosen.choice(["[0, 10)", "[5, 15)", "[9, 3)", "[1, 1)", "below 0", "20 or more"]),
                "mixture": chosen.choice(["[0, 10)", "12"]),
            }[how]
            for _ in range(len(frame))
        ]
    elif how == "rows sorted by class":
        frame = frame.sort_values(["salary", "ill"], kind="stable")
        for name in ("age", "town"):  # classes of equal values
            frame[name] = sorted(frame[name])
    elif how == "row twice":
        frame = pd.concat([frame, frame.iloc[[row]]])
    elif how == "row gone":
        frame = frame.drop(index=row)
    else:
        frame["name"] = [f"Person {number}" for number in range(len(frame))]
    frame.to_csv(data, index=False, lineterminator="\n")
    return how


def forge(pair: Pair, seed: int) -> str:
    """Change a true pair in place; say how."""
    chosen = random.Random(seed)
    told = pair.said()
    done = []
    if chosen.random() < 0.5 and pair.data.suffix == ".csv":
        done.append(change_cells(pair.data, chosen))
    if chosen.random() < 0.6:
        name = chosen.choice(list(POLICIES))
        other = copy.deepcopy(told)
        try:
            POLICIES[name](other["policy"], chosen)
            told = other
            done.append(name)
        except (KeyError, AttributeError):
            pass
    if chosen.random() < 0.85:
        try:
            told = mend(pair, told)
            done.append("mended")
        except (tc.TcloseError, KeyError, OSError, TypeError):
            pass
    if not done or chosen.random() < 0.3:
        path = chosen.choice(list(places(told)))
        change = removed if chosen.random() < 0.3 else put(chosen.choice(ODD))
        told = changed(told, path, change)
        done.append(f"{path}: {change.__name__}")
    pair.say(told)
    return ", ".join(done)


# A reader who believes nothing but what verify prints -------------------------------------------------------------------------


def cells_of(data: Path) -> pd.DataFrame:
    """The file as text, by pandas."""
    if data.suffix == ".csv":
        return pd.read_csv(data, dtype=str, keep_default_na=False)
    frame = pd.read_parquet(data) if data.suffix == ".parquet" else pd.read_feather(data)
    return frame.map(lambda value: "" if value is None else str(value))


def reads_true(data: Path, printed: str, told: dict[str, Any]) -> list[str]:
    """The limits among the printed lines that the published values do not satisfy; distances as the certificate writes them."""
    frame = cells_of(data)
    quasi = re.search(r"^Quasi-identifiers, which others may know: (.*)\.$", printed, re.MULTILINE)
    assert quasi is not None
    classes: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, row in enumerate(frame[quasi[1].split(", ")].itertuples(index=False)):
        classes[tuple(row)].append(number)
    broken = []
    for line in printed.splitlines():
        worst = _worst(line, frame, list(classes.values()), told)
        if worst is not None and not worst:
            broken.append(line)
    return broken


def _worst(line: str, frame: pd.DataFrame, classes: list[list[int]], told: dict[str, Any]) -> bool | None:
    """Whether a line that prints a limit is true; None for other lines."""
    asked = re.match(r"k: at least ([0-9,]+) rows? in each class; the smallest has ([0-9,]+)\.", line)
    if asked:
        least = min(map(len, classes))
        return least >= int(asked[1].replace(",", "")) and least == int(asked[2].replace(",", ""))
    asked = re.match(r"t of (\S+): each class within (\S+) of the table; attained \S+, exactly (\S+)\.", line)
    if asked:
        found = max(_emd(frame[asked[1]], members, told["policy"]["sensitive"][asked[1]] or {}) for members in classes)
        return found <= Fraction(asked[2]) and found == Fraction(asked[3])
    asked = re.match(r"l, different values in each class, of (\S+): at least (\S+); attained (\d+)", line)
    if asked:
        fewest = min(len(set(frame[asked[1]].iloc[members])) for members in classes)
        return fewest >= int(asked[2]) and fewest == int(asked[3])
    asked = re.match(r"alpha, the share of one value in a class, of (\S+): at most (\S+);", line)
    if asked:
        shares = [Fraction(max(Counter(frame[asked[1]].iloc[members]).values()), len(members)) for members in classes]
        return max(shares) <= Fraction(asked[2])
    return None


def _emd(column: pd.Series, members: list[int], settings: dict[str, Any]) -> Fraction:
    """EMD of a class from the table, by the slow twins."""
    texts = list(column)
    if settings.get("hierarchy"):
        tree = _as_tree(settings["hierarchy"])
        domain = naive.leaves(tree)
        counts = [naive.counts_of(values, domain) for values in ([texts[i] for i in members], texts)]
        return naive.emd_tree(counts[0], counts[1], tree) if len(set(texts)) > 1 else Fraction(0)
    if settings.get("matrix"):
        return _emd_matrix([texts[i] for i in members], texts, settings["matrix"])
    distance = settings.get("distance", "ordered" if settings.get("order") else "auto")
    if distance == "equal":
        domain = sorted(set(texts))
        return naive.emd_equal(*(naive.counts_of(values, domain) for values in ([texts[i] for i in members], texts)))
    rank: Any = settings["order"].index if settings.get("order") else _number
    domain = sorted(set(texts), key=rank)
    counts = [naive.counts_of(values, domain) for values in ([texts[i] for i in members], texts)]
    if len(domain) == 1:
        return Fraction(0)
    return (
        naive.emd_numeric(counts[0], counts[1], [rank(text) for text in domain])
        if distance == "numeric"
        else naive.emd_ordered(*counts)
    )


def _number(text: str) -> Fraction:
    """A number, or where the interval of a label begins."""
    if text.startswith("below "):
        return Fraction(-(10**30))
    found = re.fullmatch(r"'?\[(\S+), \S+\)|'?(\S+) or more|(-?[0-9.]+)", text)
    assert found is not None, text
    return Fraction(next(part for part in found.groups() if part is not None))


def _as_tree(mapping: Any) -> Any:
    def below(part: Any) -> list[Any]:
        if isinstance(part, dict):
            return [(label, below(rest)) if rest else label for label, rest in part.items()]
        return list(part)

    return (next(iter(mapping)), below(next(iter(mapping.values())))) if len(mapping) == 1 else ("*", below(mapping))


def _emd_matrix(members: list[str], texts: list[str], matrix: dict[str, dict[str, Any]]) -> Fraction:
    """By the linear program, and as the nearest fraction that such counts can give."""
    domain = sorted(set(texts))
    ground = [
        [Fraction(0) if a == b else Fraction(str(matrix[a].get(b, matrix.get(b, {}).get(a)))) for b in domain] for a in domain
    ]
    found = naive.emd_lp(naive.counts_of(members, domain), naive.counts_of(texts, domain), ground)
    return Fraction(found).limit_denominator(2000 * len(texts) * len(members))


# All of it, for a fuzzer ------------------------------------------------------------------------------------------------------


def check_one(folder: Path, seed: int, suffix: str = ".csv") -> str:
    """Forge one pair and verify it: "refused", "not as certified" or "accepted", and what was done.

    Raises AssertionError where an accepted pair prints a limit that its values do not satisfy, or asks for nothing; any other
    exception than a TcloseError is a crash.
    """
    true, home = folder / f"true-{seed // 8}", folder / str(seed)  # some forgeries of each pair
    if not true.exists():
        true.mkdir(parents=True)
        true_pair(true, seed // 8, suffix)
    shutil.copytree(true, home)
    pair = Pair(home / f"release{suffix}", home / f"release{suffix}.certificate.json")
    how = forge(pair, seed)
    try:
        found = tc.verify(pair.data, pair.certificate)
    except tc.TcloseError:
        return f"refused: {how}"
    if found.holds:
        assert found.audit.judgements, how
        assert not reads_true(pair.data, str(found), pair.said()), how
    shutil.rmtree(home)
    return f"{'accepted' if found.holds else 'not as certified'}: {how}"

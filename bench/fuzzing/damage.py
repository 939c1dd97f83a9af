"""Ways to damage a file: bytes flipped, cut and doubled, and things that only look like a table, a policy or a tree."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

HUGE = (
    "9" * 400,
    "1e400",
    "-1e-400",
    "9" * 6000,
    "1e999999999",
    "NaN",
    "inf",
    "-inf",
    "0x10",
    "1_000",
    "٣",
    "-0",
    "1e-320",
    str(2**63),
    str(-(2**63) - 1),
)
NAMES = (
    "\x1b[2Jname",
    "na\nme",
    "a,b",
    '"',
    "'",
    "",
    " ",
    "=cmd()",
    "[red]x[/red]",
    "[/]",
    "\u202ename",
    "🙂",
    "x" * 70_000,
    "\x00",
    "q.min",
    "*",
    "rowid",
    "__index_level_0__",
    "name\x07",
    "\u0085",
    "%s{0}",
)

ZSTD = b"\x28\xb5\x2f\xfd"
"""How a file begins that is packed by zstd."""

Damage = Callable[[random.Random, bytes], bytes]


# Any bytes ------------------------------------------------------------------------------------------------------------------


def flip(lot: random.Random, data: bytes) -> bytes:
    """Some bits are others."""
    found = bytearray(data)
    for _ in range(lot.choice((1, 1, 2, 5, 20)) if found else 0):
        found[lot.randrange(len(found))] ^= 1 << lot.randrange(8)
    return bytes(found)


def set_bytes(lot: random.Random, data: bytes) -> bytes:
    """Some bytes are extreme: zero, all bits, a quote, a line break."""
    found = bytearray(data)
    for _ in range(lot.choice((1, 3, 8)) if found else 0):
        found[lot.randrange(len(found))] = lot.choice((0, 255, 127, 128, 34, 39, 10, 13, 44, 27, 58, 123, 91))
    return bytes(found)


def cut(lot: random.Random, data: bytes) -> bytes:
    """The end is missing."""
    return data[: lot.randrange(len(data) + 1)]


def behead(lot: random.Random, data: bytes) -> bytes:
    """The beginning is missing."""
    return data[lot.randrange(len(data) + 1) :]


def cut_out(lot: random.Random, data: bytes) -> bytes:
    """A part in the middle is missing."""
    start = lot.randrange(len(data) + 1)
    return data[:start] + data[start + lot.choice((1, 2, 8, 50, 500)) :]


def double(lot: random.Random, data: bytes) -> bytes:
    """A part stands twice, or a hundred times."""
    start = lot.randrange(len(data) + 1)
    end = start + lot.choice((1, 4, 30, 300, len(data)))
    return data[:end] + data[start:end] * lot.choice((1, 1, 2, 100)) + data[end:]


def insert(lot: random.Random, data: bytes) -> bytes:
    """Something else stands in between."""
    start = lot.randrange(len(data) + 1)
    return (
        data[:start]
        + lot.choice(
            (
                lot.randbytes(5),
                lot.randbytes(300),
                b"\x00" * 50,
                b"\n\n\n",
                b'"',
                b"\xef\xbb\xbf",
                b"\xff\xfe",
                b"\x1b[31m",
                b"\r",
            )
        )
        + data[start:]
    )


def swap(lot: random.Random, data: bytes) -> bytes:
    """Two parts stand in each other's place."""
    a, b, c = sorted(lot.randrange(len(data) + 1) for _ in range(3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def huge_number(lot: random.Random, data: bytes) -> bytes:
    """A digit is a huge number."""
    places = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
    if not places:
        return data
    place = lot.choice(places)
    return data[:place] + lot.choice(HUGE).encode() + data[place + 1 :]


def nothing(lot: random.Random, data: bytes) -> bytes:  # noqa: ARG001
    """An empty file, or one of blanks."""
    return lot.choice((b"", b"", b" ", b"\n", b"\x00", b"\r\n\r\n", b"\xef\xbb\xbf"))


def noise(lot: random.Random, data: bytes) -> bytes:  # noqa: ARG001
    """No file of any kind."""
    return lot.randbytes(lot.choice((1, 10, 1000, 20_000)))


def other_encoding(lot: random.Random, data: bytes) -> bytes:
    """Text in another encoding, where it is text."""
    text = data.decode("utf-8", "replace")
    return text.encode(lot.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp037", "utf-7")), "replace")


def squeezed(lot: random.Random, data: bytes) -> bytes:
    """Compressed, whole or cut, under the old name."""
    packed = gzip.compress(data)
    return packed if lot.random() < 0.5 else packed[: lot.randrange(len(packed))]


ANY: list[Damage] = [
    flip,
    flip,
    flip,
    set_bytes,
    set_bytes,
    cut,
    cut,
    behead,
    cut_out,
    double,
    insert,
    swap,
    huge_number,
    nothing,
    noise,
    other_encoding,
    squeezed,
]
"""For files of every kind."""


# CSV ------------------------------------------------------------------------------------------------------------------------


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").split("\n")


def ragged(lot: random.Random, data: bytes) -> bytes:
    """A row has more cells, or fewer."""
    lines = _lines(data)
    place = lot.randrange(len(lines))
    lines[place] = lot.choice(
        (
            lines[place] + ",x",
            lines[place] + "," * 500,
            lines[place].replace(",", "", 1),
            '"' + lines[place],
            lines[place] + '"',
            "\t".join(lines[place].split(",")),
        )
    )
    return "\n".join(lines).encode()


def odd_cell(lot: random.Random, data: bytes) -> bytes:
    """A cell is long, huge or odd."""
    lines = _lines(data)
    place = lot.randrange(1, max(len(lines), 2)) % len(lines)
    cells = lines[place].split(",")
    cell = lot.choice(
        (
            *HUGE,
            "x" * 1_000_000,
            "x" * 3_000_000,
            '"a\nb"',
            "0001",
            "2024-02-30",
            "9999-12-31",
            "\x1b]0;x\x07",
            "a\x00b",
            "1.0",
            "1.00",
            " 7 ",
            "'=1",
            "é",
            "\ud800".encode("utf-8", "replace").decode(),
            "=1+1",
            '""',
            "NULL",
            "true",
        )
    )
    cells[lot.randrange(len(cells))] = cell
    lines[place] = ",".join(cells)
    return "\n".join(lines).encode("utf-8", "replace")


def odd_header(lot: random.Random, data: bytes) -> bytes:
    """A column has an odd name, or one that another has."""
    lines = _lines(data)
    names = lines[0].split(",")
    names[lot.randrange(len(names))] = lot.choice((*NAMES, names[0]))
    lines[0] = ",".join(names)
    return "\n".join(lines).encode()


def many_columns(lot: random.Random, data: bytes) -> bytes:
    """Some thousand columns more."""
    count = lot.choice((100, 1500, 5000))
    return "\n".join(
        line + "".join(f",{'c' if not place else ''}{number}" for number in range(count))
        for place, line in enumerate(_lines(data))
        if line
    ).encode()


def many_rows(lot: random.Random, data: bytes) -> bytes:
    """The same rows again and again."""
    head, *rows = _lines(data)
    return (head + "\n" + ("\n".join(row for row in rows if row) + "\n") * lot.choice((10, 300))).encode()


def other_ends(lot: random.Random, data: bytes) -> bytes:
    """Other line ends and delimiters."""
    return data.replace(b"\n", lot.choice((b"\r", b"\r\n", b"\n\n", b"\n\r", b"\x0b"))).replace(
        b",", lot.choice((b",", b";", b"\t", b"|", b" ", b"\x01"))
    )


def without_rows(lot: random.Random, data: bytes) -> bytes:
    """A header and no row, or one row."""
    return "\n".join(_lines(data)[: lot.choice((1, 2))]).encode()


CSV: list[Damage] = [
    ragged,
    ragged,
    odd_cell,
    odd_cell,
    odd_cell,
    odd_header,
    odd_header,
    many_columns,
    many_rows,
    other_ends,
    without_rows,
]


# Packed files: the bytes are damaged, or the CSV inside ---------------------------------------------------------------------


def inside(lot: random.Random, data: bytes) -> bytes:
    """The CSV in a packed file is damaged, and packed again; or it is one huge cell."""
    codec = "zstd" if data[:4] == ZSTD else "gzip"
    try:
        text = pa.CompressedInputStream(pa.BufferReader(data), codec).read()
    except (OSError, pa.ArrowException):
        return data
    return packed(b"x" * 150_000_000 if lot.random() < 0.1 else lot.choice(CSV)(lot, text), codec)


def packed(data: bytes, codec: str) -> bytes:
    """Return bytes packed by gzip or zstd."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(data)
    whole: bytes = sink.getvalue().to_pybytes()
    return whole


PACKED: list[Damage] = [inside, inside, cut, flip]


# Parquet and Arrow ------------------------------------------------------------------------------------------------------------


def at_the_end(lot: random.Random, data: bytes) -> bytes:
    """The footer lies: lengths, offsets, counts, statistics."""
    found = bytearray(data)
    start = max(0, len(found) - lot.choice((8, 60, 1500)))
    for _ in range(lot.choice((1, 1, 2, 4))):
        place = lot.randrange(start, len(found)) if found else 0
        found[place] = lot.choice((found[place] ^ (1 << lot.randrange(8)), 0, 255, 127, 128))
    return bytes(found)


def odd_types(lot: random.Random, data: bytes) -> bytes:
    """A column holds what no table of people does."""
    rows = 12
    odd: list[Any] = [
        pa.array([[1, 2]] * rows),
        pa.array([{"a": 1}] * rows),
        pa.nulls(rows),
        pa.array([b"\xff\xfe"] * rows),
        pa.array([Decimal("1.5")] * rows, pa.decimal256(60, 20)),
        pa.array([timedelta(seconds=5)] * rows),
        pa.array([datetime(2024, 1, 1)] * rows, pa.timestamp("ns", "Asia/Tokyo")),
        pa.array([2**62] * rows, pa.timestamp("s")),
        pa.array([2**31 - 1, -(2**31)] * (rows // 2), pa.int32()).cast(pa.date32()),
        pa.array([date(1, 1, 1), date(9999, 12, 31)] * (rows // 2)),
        pa.array([float("nan"), float("inf"), -0.0] * (rows // 3)),
        pa.array([2**64 - 1, 0] * (rows // 2), pa.uint64()),
        pa.array([True, None] * (rows // 2)),
        pa.array(["x" * 2_000_000] + ["y"] * (rows - 1)),
        pa.array(["a", "b"] * (rows // 2)).dictionary_encode(),
        pa.array([1.5] * rows, pa.float32()),
        pa.array([("k", 1)] * rows, pa.struct([("x", pa.string()), ("y", pa.int8())])),
    ]
    columns = {"name": pa.array([f"secret-{place}" for place in range(rows)]), "note": pa.array(["secret-note"] * rows)}
    for name in ("age", "zip", "sex", "diagnosis", "cost"):
        columns[name] = lot.choice(odd) if lot.random() < 0.4 else pa.array([str(place % 3) for place in range(rows)])
    return _as_file(pa.table(columns), data)


def odd_names(lot: random.Random, data: bytes) -> bytes:
    """A column has an odd name, the name of another, or bytes that are none."""
    table = _table(data)
    if table is None:
        return data
    names = list(table.column_names)
    names[lot.randrange(len(names))] = lot.choice((*NAMES, names[0], names[-1]))
    return _as_file(table.rename_columns(names), data)


def bad_letters(lot: random.Random, data: bytes) -> bytes:
    """A name or a text that is not UTF-8."""
    word = lot.choice((b"zip", b"diagnosis", b"asthma", b"secret", b"cost"))
    return data.replace(word, word[:-1] + b"\xff")


def empty_table(lot: random.Random, data: bytes) -> bytes:
    """No rows, or no columns."""
    table = _table(data)
    return data if table is None else _as_file(table.slice(0, 0) if lot.random() < 0.5 else table.select([]), data)


def _table(data: bytes) -> Any:
    """The table of a file; None where it is damaged already, its names too."""
    try:
        table = pq.read_table(io.BytesIO(data)) if data[:4] == b"PAR1" else pa.ipc.open_file(data).read_all()
        named = bool(table.column_names)
    except (pa.ArrowException, OSError, ValueError):
        return None
    return table if named else None


def _as_file(table: pa.Table, data: bytes) -> bytes:
    """In the kind of file that these bytes are."""
    sink = io.BytesIO()
    if data[:4] == b"PAR1":
        try:
            pq.write_table(table, sink)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            return data
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


TYPED: list[Damage] = [at_the_end, at_the_end, at_the_end, at_the_end, odd_types, odd_types, odd_names, bad_letters, empty_table]


# Policies and certificates: JSON, which YAML reads too ----------------------------------------------------------------------

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 10**30, -0.5, 1e308, "", " ", "nan", "1/0", "0/1", "1/3", "-1/3", [], {}, [[]], [None], [1, [2]], {"a": {"b": None}}, "x" * 5000,
    "\x1b[31mred", "[bold]x", "missing.csv", "/dev/null", "../..", "tree.csv", "matrix.csv", "table.csv", "prefixes", "dates", "numeric", "bounds", "set", "level", "row", "name", "keep", "value",
    {"width": 1e-300}, {"count": 10**9}, {"edges": [1, 0]}, {"edges": list(range(3000))}, {"width": "1/3"}, [0, 0.1, 1e300], "9" * 6000, float("inf"), {"name": "x"}, ["age", "age"],
    {str(place): None for place in range(2000)}, "2024-02-30", "2024-01-01", "25:00", {"*": ["a", "a"]}, {"*": {"a": {"b": {"c": None}}}}, {"a": {"a": 0}}, {"a": {"b": -1}, "b": {}},
)  # fmt: skip
"""What may stand in the place of any setting."""

KEYS = (
    "k", "t", "l", "l_kind", "c", "beta", "beta_kind", "delta", "delta_kind", "alpha", "n", "unit", "suppression", "identifiers", "drop", "keep", "other", "formula_guard", "small_cells", "quasi",
    "sensitive", "hierarchy", "matrix", "order", "bins", "publish", "missing", "distance", "type", "recode", "snap", "top", "bottom", "weight", "regions", "promised", "rows", "columns", "name", "strange",
)  # fmt: skip


def odd_setting(lot: random.Random, data: bytes) -> bytes:
    """Somewhere a setting is another, missing, or new."""
    found = _parsed(data)
    for _ in range(lot.choice((1, 1, 2, 3))):
        places = list(_places(found))
        if not places:
            break
        holder, key = lot.choice(places)
        act = lot.random()
        if act < 0.6:
            holder[key] = lot.choice(ODD)
        elif act < 0.75 and isinstance(holder, dict):
            del holder[key]
        elif isinstance(holder, dict):
            holder[lot.choice(KEYS)] = lot.choice(ODD)
    return json.dumps(found, ensure_ascii=lot.random() < 0.5).encode("utf-8", "surrogatepass")


def deep(lot: random.Random, data: bytes) -> bytes:
    """Somewhere something is nested deeply."""
    levels = lot.choice((50, 900, 5000, 100_000))
    opened, closed = lot.choice((("[", "]"), ('{"a":', "}"), ('{"hierarchy":', "}")))
    nest = opened * levels + lot.choice(("1", "", "null")).strip() + closed * levels
    text = json.dumps(_parsed(data))
    place = lot.choice([place for place, letter in enumerate(text) if letter == ":"] or [0])
    end = min((found for found in (text.find(letter, place) for letter in ",}") if found > 0), default=len(text))
    return (text[: place + 1] + nest + text[end:]).encode()


def odd_yaml(lot: random.Random, data: bytes) -> bytes:
    """What YAML can do, and a policy must not."""
    bomb = (
        "a0: &a0 [x, x]\n"
        + "".join(f"a{place}: &a{place} [*a{place - 1}, *a{place - 1}]\n" for place in range(1, lot.choice((5, 25, 60))))
        + "k: *a4\n"
    )
    return lot.choice(
        (
            bomb.encode(),
            b"quasi: &q {age: *q}\nsensitive: [cost]\n",
            b"quasi: &q [*q]\nsensitive: [cost]\n",
            b'!!python/object/apply:os.system ["true"]\n',
            b"quasi: [age]\nquasi: [zip]\nsensitive: [cost]\n",
            b"--- \nquasi: [age]\n---\nquasi: [zip]\n",
            b"quasi:\n\t- age\nsensitive: [cost]\n",
            b"? {a: b}\n: {c: d}\n",
            b"<<: {k: 2}\nquasi: [age]\nsensitive: [cost]\n",
            b"quasi: [age]\nsensitive: {cost: {t: 0.5}}\nk: 0o17\n",
            b"quasi: [age]\nsensitive: {cost: {t: .5}}\nk: 1:30\n",
            b"quasi: [2024-01-01]\nsensitive: [yes]\nk: 2\n",
            b"quasi: [age]\nsensitive: {cost: {t: !!binary aGk=}}\nk: 2\n",
            b"quasi: !!set {age}\nsensitive: [cost]\nk: 2\n",
            b"quasi: !!omap [age: {}]\nsensitive: [cost]\nk: 2\n",
            b"%YAML 9.9\n---\nk: 2\n",
            b"[1, 2, 3]",
            b"just text",
            b"k: 2\nquasi: [age]\nsensitive: [cost]\n" + b"# " + b"x" * 2_000_000,
            data + b"\n...\n" + data,
        )
    )


def twice(lot: random.Random, data: bytes) -> bytes:
    """A key stands twice, with another value."""
    text = json.dumps(_parsed(data))
    start = lot.choice([place for place, letter in enumerate(text) if letter == "{"] or [0])
    return (text[: start + 1] + f'"{lot.choice(KEYS)}": 1, ' + text[start + 1 :]).encode()


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return {}


def _places(found: Any) -> list[tuple[Any, Any]]:
    places: list[tuple[Any, Any]] = []
    waiting = [found]
    while waiting:
        holder = waiting.pop()
        keys: list[Any] = (
            list(holder) if isinstance(holder, dict) else list(range(len(holder))) if isinstance(holder, list) else []
        )
        places += [(holder, key) for key in keys]
        waiting += [holder[key] for key in keys]
    return places


SETTINGS: list[Damage] = [odd_setting, odd_setting, odd_setting, odd_setting, odd_setting, odd_setting, deep, odd_yaml, twice]


# Hierarchies and matrices -----------------------------------------------------------------------------------------------------


def odd_tree(lot: random.Random, data: bytes) -> bytes:
    """A tree that is deep, wide, looped, rootless or empty inside."""
    levels = lot.choice((500, 5000, 50_000))
    return lot.choice(
        (
            data + b"influenza;" + b";".join(b"l%d" % place for place in range(levels)) + b";*\n",
            b"x;" + b";".join(b"l%d" % place for place in range(levels)) + b";*\n",
            data.replace(b"*", b"other"),
            data + data,
            data.replace(b";*", b";*;asthma"),
            data.replace(b";", b";;"),
            data.replace(b"\n", b";" * 1000 + b"\n"),
            b"".join(b"v%d;g%d;*\n" % (place, place % 7) for place in range(20_000)),
            data.replace(b"asthma", b"a" * 1_000_000),
            data.replace(b"asthma", b"\x1b[31masthma"),
            data.replace(b"asthma", b""),
            b"*\n*\n",
            b"a;b\nb;a\n",
        )
    )


def odd_matrix(lot: random.Random, data: bytes) -> bytes:
    """A matrix that is no metric, no square, huge, or full of odd numbers."""
    size = lot.choice((101, 400))
    wide = "," + ",".join(f"v{place}" for place in range(size)) + "\n"
    wide += "\n".join(f"v{row}," + ",".join("0" if row == column else "1" for column in range(size)) for row in range(size))
    return lot.choice(
        (
            wide.encode(),
            data.replace(b"1/2", b"7"),
            data.replace(b"1/2", b"nan"),
            data.replace(b"1/2", b"1/0"),
            data.replace(b",", b";"),
            data.replace(b"1/2", b"-1"),
            data.replace(b"0", b"0.1"),
            b"\n".join(data.split(b"\n")[:-2]),
        )
    )


TREE: list[Damage] = [odd_tree, odd_tree, odd_tree, ragged]
MATRIX: list[Damage] = [odd_matrix, odd_matrix, ragged]

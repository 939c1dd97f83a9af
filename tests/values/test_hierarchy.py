"""Hierarchies: read from files and mappings, in the order of their leaves, and what makes one malformed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tclose import Hierarchy, HierarchyError
from tclose.values.hierarchy import printed
from tests import naive

Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(text: str | bytes) -> Path:
        path = tmp_path / "tree.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return to_file


@pytest.mark.parametrize("separator", [";", ","])
def test_a_file_has_one_row_a_value_from_the_leaf_up(write: Write, separator: str) -> None:
    tree = Hierarchy.from_csv(write("flu;lung;*\ncold;lung;*\ncolitis;gut;*\n".replace(";", separator)))
    assert tree.leaves == ["flu", "cold", "colitis"]
    assert tree.height == 2
    assert [tree.labels[node] for node in tree.path(tree.leaf("cold"))] == ["*", "lung", "cold"]
    assert tree.to_mapping() == {"*": {"lung": ["flu", "cold"], "gut": ["colitis"]}}


def test_what_other_programs_write_is_read(write: Write) -> None:
    # A byte order mark, Windows line ends, quotes around a separator, an empty line at the end.
    tree = Hierarchy.from_csv(write('\ufeffa;x;*\r\n"b;c";x;*\r\n\r\n'))
    assert tree.leaves == ["a", "b;c"]


def test_rows_may_differ_in_length(write: Write) -> None:
    tree = Hierarchy.from_csv(write("flu;infection;lung;*\ncolitis;*\n"))
    assert tree.height == 3
    assert [len(tree.path(tree.leaf(leaf))) for leaf in tree.leaves] == [4, 2]


def test_heights_count_the_longest_way_down(write: Write) -> None:
    tree = Hierarchy.from_csv(write("a;x;*\nb;y;x;*\n"))
    assert dict(zip(tree.labels, tree.heights, strict=True)) == {"*": 3, "x": 2, "a": 0, "y": 1, "b": 0}


def test_a_repeated_neighbour_is_the_same_node(write: Write) -> None:
    # Files with equal columns fill up a short way by repeating its labels.
    tree = Hierarchy.from_csv(write("flu;infection;lung;*\nother;other;other;*\n"))
    assert tree == Hierarchy.from_csv(write("flu;infection;lung;*\nother;*\n"))


def test_empty_cells_at_the_end_are_filling(write: Write) -> None:
    tree = Hierarchy.from_csv(write("flu;infection;lung;*\nother;*;;\n"))
    assert tree == Hierarchy.from_csv(write("flu;infection;lung;*\nother;*\n"))


def test_an_empty_first_cell_is_the_place_of_missing_values(write: Write) -> None:
    tree = Hierarchy.from_csv(write("flu;lung;*\n;unknown;*\n"))
    assert tree.leaves == ["flu", ""]
    assert None in tree


def test_leaves_stand_depth_first_even_if_rows_do_not(write: Write) -> None:
    # The leaves of one node stand side by side, so that a range of codes can be a node.
    tree = Hierarchy.from_csv(write("a;x;*\nb;y;*\nc;x;*\n"))
    assert tree.leaves == ["a", "c", "b"]


def test_one_label_may_stand_in_two_places(write: Write) -> None:
    tree = Hierarchy.from_csv(write("a;other;x;*\nb;other;y;*\n"))
    assert len(tree.labels) == 7
    assert tree.find("other") is None
    assert tree.find("x") is not None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (39, "39"),
        (39.0, "39"),
        (np.float64(39), "39"),
        (39.5, "39.5"),
        (Decimal("39.5"), "39.5"),
        (Decimal("1E+2"), "100"),
        (date(2024, 2, 29), "2024-02-29"),
        (datetime(2024, 2, 29, 8, 30), "2024-02-29 08:30:00"),
        (time(8, 30), "08:30:00"),
        (True, "true"),
        ("39", "39"),
        (None, ""),
    ],
)
def test_values_are_found_by_their_printed_form(value: Any, text: str) -> None:
    tree = Hierarchy([["*", text], ["*", "another"]])
    assert printed(value) == text
    assert value in tree
    assert tree.labels[tree.leaf(value)] == text


def test_an_unknown_value_is_named() -> None:
    with pytest.raises(HierarchyError, match=r"^Value '40' is not in the hierarchy\.$"):
        Hierarchy([["*", "39"]]).leaf(40)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("flu;lung;*\nflu;gut;*\n", "Hierarchy file 'tree.csv': a value must occur once. Got 'flu' twice."),
        ("flu;lung;*\nflu;lung;*\n", "Hierarchy file 'tree.csv': a value must occur once. Got 'flu' twice."),
        ("flu;lung;*\ncolitis;gut\n", "Hierarchy file 'tree.csv': a hierarchy must have one root. Got '*' and 'gut'."),
        (
            "flu;lung;*\ncolitis;;*\n",
            "Hierarchy file 'tree.csv': line 2 has an empty cell between its labels. Fill it or leave it out.",
        ),
        (
            "flu;lung;*\n\ncolitis;;*\n",
            "Hierarchy file 'tree.csv': line 3 has an empty cell between its labels. Fill it or leave it out.",
        ),
        (
            "flu;lung;*\nlung;*\n",
            "Hierarchy file 'tree.csv': a value must occur once. Got 'lung' as a value and above others.",
        ),
        ("", "Hierarchy file 'tree.csv': a hierarchy must have at least one value. Got none."),
    ],
)
def test_a_malformed_file_gets_one_sentence(write: Write, text: str, sentence: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_csv(write(text))
    assert str(caught.value) == sentence


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none.csv"
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_csv(path)
    assert str(caught.value) == f"Hierarchy file {str(path)!r} cannot be read. Check its path."


def test_a_file_in_another_encoding_is_named(write: Write) -> None:
    path = write("Grippe;Lunge;*\nÜbelkeit;Magen;*\n".encode("latin-1"))
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_csv(path)
    assert str(caught.value) == f"Hierarchy file {str(path)!r} is not UTF-8. Save it as UTF-8."


def test_a_mapping_may_hold_lists_mappings_and_both() -> None:
    tree = Hierarchy.from_mapping({"lung": {"infection": ["flu", 39]}, "gut": ["colitis", {"stomach": ["ulcer"]}], "eye": None})
    assert tree.labels[0] == "*"  # several outermost keys get a root
    assert tree.leaves == ["flu", "39", "colitis", "ulcer", "eye"]
    assert tree.height == 3


@pytest.mark.parametrize("nothing", [None, [], (), {}])
def test_a_label_with_nothing_below_is_a_value(nothing: Any) -> None:
    assert Hierarchy.from_mapping({"*": {"x": nothing, "y": ["z"]}}).leaves == ["x", "z"]


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ({}, "a hierarchy must be a mapping from labels to what is below them. Got something else."),
        (["flu"], "a hierarchy must be a mapping from labels to what is below them. Got something else."),
        ({"lung": "flu"}, "below 'lung' a hierarchy must have a list or a mapping. Got str."),
        ({"lung": ["flu"], "gut": ["flu"]}, "a value must occur once. Got 'flu' twice."),
        ({"*": ["a", {"a": ["b"]}]}, "a value cannot stand above others. Got 'a' as a value and above 'b'."),
    ],
)
def test_a_malformed_mapping_gets_one_sentence(mapping: Any, sentence: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_mapping(mapping)
    assert str(caught.value) == sentence


SHAPES = st.recursive(st.none(), lambda below: st.lists(below, min_size=1, max_size=4), max_leaves=12)


def named(shape: Any, path: str = "") -> naive.Tree:
    """A tree of this shape, each node called by the way to it."""
    return (
        f"leaf{path}" if shape is None else (f"node{path}", [named(part, f"{path}.{place}") for place, part in enumerate(shape)])
    )


@given(SHAPES)
def test_a_mapping_is_read_back(shape: Any) -> None:
    tree = Hierarchy(naive.paths(named(shape)))
    again = Hierarchy.from_mapping(tree.to_mapping())
    assert again == tree
    assert hash(again) == hash(tree)


@given(SHAPES, st.randoms(use_true_random=False))
def test_a_mapping_of_paths_in_any_order_is_read_back(shape: Any, random: Any) -> None:
    paths = naive.paths(named(shape))
    random.shuffle(paths)
    tree = Hierarchy(paths)
    again = Hierarchy.from_mapping(tree.to_mapping())
    assert again.leaves == tree.leaves
    assert again == tree


@given(SHAPES)
def test_leaves_and_heights_are_those_of_the_naive_twin(shape: Any) -> None:
    ref = named(shape)
    comp = Hierarchy(naive.paths(ref))
    assert comp.leaves == naive.leaves(ref)
    assert comp.height == naive.height(ref)
    assert [[comp.labels[node] for node in comp.path(comp.leaf(leaf))] for leaf in comp.leaves] == naive.paths(ref)
    assert all(parent < node for node, parent in enumerate(comp.parents))


def test_different_trees_are_not_equal() -> None:
    assert Hierarchy([["*", "a"], ["*", "b"]]) != Hierarchy([["*", "b"], ["*", "a"]])
    assert Hierarchy([["*", "a"]]) != "*"


def test_a_tree_tells_its_size() -> None:
    assert repr(Hierarchy([["*", "x", "a"], ["*", "b"]])) == "<Hierarchy: 2 values, height 2>"


def test_prefixes_hide_one_character_a_level() -> None:
    tree = Hierarchy.from_prefixes(["47677", 47602, None, "47602", "13053"])
    assert tree.leaves == ["13053", "47602", "47677"]
    assert tree.height == 5
    assert [tree.labels[node] for node in tree.path(tree.leaf("47602"))] == ["*****", "4****", "47***", "476**", "4760*", "47602"]


def test_prefixes_of_different_lengths_meet_where_they_are_alike() -> None:
    tree = Hierarchy.from_prefixes(["AB1", "AB", "AB12"])
    ways = [[tree.labels[node] for node in tree.path(tree.leaf(leaf))] for leaf in tree.leaves]
    assert ways == [
        ["****", "A***", "AB**", "AB *", "AB"],
        ["****", "A***", "AB**", "AB1*", "AB1"],
        ["****", "A***", "AB**", "AB1*", "AB12"],
    ]


def test_an_empty_text_is_a_value_with_prefixes() -> None:
    tree = Hierarchy.from_prefixes(["12", ""])
    assert [tree.labels[node] for node in tree.path(tree.leaf(""))] == ["**", " *", ""]
    assert Hierarchy.from_prefixes([""]).leaves == [""]


@given(st.lists(st.text(alphabet="ab 1", max_size=4), min_size=1, max_size=9), st.randoms(use_true_random=False))
def test_prefixes_give_one_tree_whatever_the_order(values: list[str], random: Any) -> None:
    tree = Hierarchy.from_prefixes(values)
    assert sorted(tree.leaves) == sorted(set(values))
    assert tree.leaves == sorted(tree.leaves)
    assert {len(tree.path(tree.leaf(leaf))) for leaf in tree.leaves} == {tree.height + 1}
    assert len(set(tree.labels)) == len(tree.labels)
    for node, label in enumerate(tree.labels):  # a node stands for the values that begin as it does
        below = [leaf for leaf in tree.leaves if node in tree.path(tree.leaf(leaf))]
        if "*" in label:
            shown = label.rstrip("*")
            assert below == [leaf for leaf in tree.leaves if leaf.ljust(len(label)).startswith(shown)]
    random.shuffle(values)
    assert Hierarchy.from_prefixes(values) == tree


def test_dates_meet_in_months_quarters_and_years() -> None:
    tree = Hierarchy.from_dates([date(2024, 12, 31), date(2024, 1, 1), None, "2023-06-30"])
    assert tree.leaves == ["2023-06-30", "2024-01-01", "2024-12-31"]
    assert [tree.labels[node] for node in tree.path(tree.leaf(date(2024, 12, 31)))] == [
        "*",
        "2024",
        "2024-Q4",
        "2024-12",
        "2024-12-31",
    ]
    assert tree.height == 4


@pytest.mark.parametrize(
    ("build", "values", "sentence"),
    [
        (
            Hierarchy.from_prefixes,
            ["47*", "476"],
            "a value must not hold '*', which stands for what is hidden. Got '47*' in row 1. Correct it, or leave the cell empty.",
        ),
        (Hierarchy.from_prefixes, [None], "a hierarchy must have at least one value. Got none."),
        (
            Hierarchy.from_dates,
            ["2024-13-01"],
            "a value must be a date, as 2024-03-05. Got '2024-13-01' in row 1. Correct it, or leave the cell empty.",
        ),
        (
            Hierarchy.from_dates,
            ["20240305"],
            "a value must be a date, as 2024-03-05. Got '20240305' in row 1. Correct it, or leave the cell empty.",
        ),
        (
            Hierarchy.from_dates,
            [datetime(2024, 3, 5)],
            "a value must be a date, as 2024-03-05. Got '2024-03-05 00:00:00' in row 1. Correct it, or leave the cell empty.",
        ),
        (Hierarchy.from_dates, [], "a hierarchy must have at least one value. Got none."),
    ],
)
def test_values_that_make_no_tree_get_one_sentence(build: Callable[[Any], Hierarchy], values: list[Any], sentence: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        build(values)
    assert str(caught.value) == sentence

"""The line by which a proposed policy says that nobody has confirmed its roles."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tclose as tc
from tclose.policy.proposed import NOBODY, UNCONFIRMED, is_unconfirmed, without_review


@pytest.mark.parametrize(
    ("text", "there"),
    [
        (f"# {UNCONFIRMED}\nk: 5\n", True),
        (f"\ufeffk: 5\r\n# {UNCONFIRMED}\r\n", True),  # as an editor may save it
        (f"k: 5\nquasi:\n  ##{UNCONFIRMED.lower()}\n  age:\n", True),
        ("# not confirmed : by the board\nk: 5\n", True),
        ("k: 5\n", False),
        ('k: 5\ncontext: {reviewer: "NOT CONFIRMED: nobody looked"}\n', False),  # a setting is no comment
        ("k: 5  # NOT CONFIRMED: this limit\n", False),  # of one setting, not of the roles
        ("# The roles are confirmed\nk: 5\n", False),
        ("context:\n  purpose: |\n    # Lists\n    #\n    not confirmed: the second one\nk: 5\n", False),  # in no comment
        ("#\n" * 200_000, False),  # however many comments there are
    ],
)
def test_the_line_is_found_however_it_is_written(tmp_path: Path, text: str, there: bool) -> None:
    path = tmp_path / "policy.yaml"
    path.write_bytes(text.encode())
    assert is_unconfirmed(path) is there


def test_a_pipe_is_not_read_again() -> None:
    """The shell hands over ``-p <(...)`` as a pipe, which was read when the policy was loaded."""
    end, other = os.pipe()
    try:
        assert not is_unconfirmed(Path(f"/dev/fd/{end}"))
    finally:
        os.close(end)
        os.close(other)


@pytest.mark.parametrize(
    ("context", "reviewer"),
    [(None, NOBODY), ({"purpose": "Care"}, NOBODY), ({"reviewer": "Ethics board"}, f"{NOBODY}\nEthics board")],
)
def test_that_nobody_confirmed_the_roles_stands_before_what_the_context_says_of_the_review(
    context: dict[str, str] | None, reviewer: str
) -> None:
    policy = tc.Policy(["age"], {"ill": 0.2}, k=2, context=context)
    assert without_review(policy) == tc.Policy(["age"], {"ill": 0.2}, k=2, context={**(context or {}), "reviewer": reviewer})

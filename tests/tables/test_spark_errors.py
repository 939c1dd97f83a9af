"""Errors of tclose that executors raise come to the driver with their class and sentence; others do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

import tclose as tc
from tclose.tables.spark_errors import Telling, hearing

SENTENCE = "No date comes after 'é'; \\n choose another."


def refuse(argument: object) -> None:
    raise tc.InfeasibleError(SENTENCE)


def refuse_on_spark(argument: object) -> None:
    """Raise as Spark does: the text of the error is in a longer one."""
    try:
        Telling(refuse)(argument)
    except RuntimeError as error:
        raise OSError(f"Job aborted.\n  File 'x', line 3\n{error}\n\tat java.lang") from error


def refuse_the_second(numbers: Iterable[int]) -> Iterator[int]:
    for number in numbers:
        if number > 1:
            raise tc.ColumnError(SENTENCE)
        yield number


def test_an_error_is_heard_as_it_was_told() -> None:
    with pytest.raises(tc.InfeasibleError) as heard, hearing():
        refuse_on_spark(0)
    assert str(heard.value) == SENTENCE


def test_an_error_of_an_iterator_is_heard_too() -> None:
    numbers = Telling(refuse_the_second)([1, 2])
    assert next(numbers) == 1
    with pytest.raises(tc.ColumnError) as heard, hearing():
        next(numbers)
    assert str(heard.value) == SENTENCE


def test_what_functions_return_is_returned() -> None:
    assert Telling(len)("ab") == 2
    assert list(Telling(refuse_the_second)([0, 1])) == [0, 1]


def test_other_errors_stay_as_they_are() -> None:
    with pytest.raises(ZeroDivisionError), hearing():
        Telling(lambda number: 1 / number)(0)
    with pytest.raises(tc.InputError, match=r"^from here$"), hearing():
        raise tc.InputError("from here")

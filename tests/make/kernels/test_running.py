"""How many threads kernels run in."""

from __future__ import annotations

import pytest

from tclose.make.kernels import running


@pytest.mark.parametrize(("asked", "threads"), [(None, 4), ("1", 1), ("2", 2), ("16", 4), ("0", 4), ("two", 4), ("", 4)])
def test_a_process_keeps_to_its_cores_and_to_what_it_is_allowed(
    asked: str | None, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "cores", lambda: 4)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if asked is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert running.threads() == threads

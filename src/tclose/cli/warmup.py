"""tclose warmup: compile now what is compiled once on each machine."""

from __future__ import annotations

import typer


def warmup(
    algorithm: str | None = typer.Option(
        None, "--algorithm", metavar="A", help="Compile what this algorithm needs; default: what all algorithms need."
    ),
) -> None:
    """Compile what makes releases now, so that the first release does not wait for it.

    Compiled kernels are stored on the disk, for this version of tclose and this kind of processor: beside tclose, or in the
    folder that NUMBA_CACHE_DIR names. They are found again only if that folder can be written.

    \b
    Examples:
      tclose warmup
      tclose warmup --algorithm mondrian
      NUMBA_CACHE_DIR=/var/cache/tclose tclose warmup
    """
    from tclose.cli.printing import a_reader_may_leave, echo
    from tclose.cli.screen import stages

    with stages("a small table"):
        from tclose.release.warmup import warm_up

        done = warm_up(algorithm)
    what = f"Compiled in {done.seconds:.1f} seconds." if done.compiled else "Everything was compiled already."
    with a_reader_may_leave():
        echo(f"{what} It is stored in {done.folder}.")

"""tclose warmup: what is compiled once on each machine, compiled now."""

from __future__ import annotations


def warmup() -> None:
    """Compile what makes releases now, so that the first release does not wait for it.

    Compiled kernels are kept on the disk, for this version of tclose and this kind of processor: beside tclose, or where
    NUMBA_CACHE_DIR says. They are found again only where that folder can be written.

    \b
    Examples:
      tclose warmup
      NUMBA_CACHE_DIR=/var/cache/tclose tclose warmup
    """
    from tclose.cli.printing import a_reader_may_leave, echo
    from tclose.cli.screen import stages

    with stages("a small table"):
        from tclose.release.warmup import warm_up

        done = warm_up()
    what = f"Compiled in {done.seconds:.1f} seconds." if done.compiled else "Everything was compiled already."
    with a_reader_may_leave():
        echo(f"{what} It is kept in {done.folder}.")

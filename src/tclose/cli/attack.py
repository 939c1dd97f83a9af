"""tclose attack: measure what a release would still give away about people."""

from __future__ import annotations

from pathlib import Path

import typer

from tclose.cli.tables import TABLE, name_of, table_of


def attack(
    data: Path = typer.Argument(..., metavar="DATA", help=TABLE),
    policy: Path = typer.Option(..., "-p", "--policy", metavar="FILE", help="The policy, in YAML."),
    holdout: str = typer.Option("1/10", "--holdout", metavar="SHARE", help="The share of the persons to hold back as controls."),
    sampling: str | None = typer.Option(
        None, "--sampling", metavar="SHARE", help="The share of the population that is in the table, for linking with a register."
    ),
    register: Path | None = typer.Option(
        None, "--register", metavar="FILE", help="A table of people with their quasi-identifiers, to link the release with."
    ),
    algorithm: str | None = typer.Option(None, "--algorithm", metavar="A", help="See 'tclose algorithms'; default: growth."),
    seed: int = typer.Option(0, "--seed", metavar="N", help="For the choice of controls, and for the algorithm."),
    everything: bool = typer.Option(
        False, "--all", help="Also every attack on every column: who is hit worst, and what lowers it."
    ),
    as_json: bool = typer.Option(False, "--json", help="One JSON object instead of the screen."),
) -> None:
    """Make a release of a table, attack it, and say what it would still give away.

    Some persons are held back at random as controls, and a release is made of the others. Each attack is tried on people in the
    release and on controls. What works as well on controls is what the release teaches about everybody. The excess is what it
    gives away about those who are in it. Nothing is written.

    The output is INTERNAL: it is measured with the raw table. Do not publish it.

    \b
    Examples:
      tclose attack visits.csv -p policy.yaml
      tclose attack visits.csv -p policy.yaml --all
      tclose attack visits.csv -p policy.yaml --algorithm mondrian --holdout 1/5
      tclose attack visits.csv -p policy.yaml --sampling 1/50
      tclose attack visits.csv -p policy.yaml --register voters.csv
      tclose attack visits.csv -p policy.yaml --json > attacks.json
    """
    from tclose.cli.attacked import show_attacks
    from tclose.cli.printing import a_reader_may_leave, echo_json, warnings_told
    from tclose.cli.screen import stages
    from tclose.policy import Policy

    asked = Policy.load(policy)
    with table_of(data) as table, warnings_told(), stages(name_of(data)):
        from tclose.study.attack import attack as try_attacks

        found = try_attacks(table, asked, holdout=holdout, sampling=sampling, register=register, algorithm=algorithm, seed=seed)
    with a_reader_may_leave():
        if as_json:
            echo_json(found.to_json())
        else:
            show_attacks(found, name_of(data), everything=everything)

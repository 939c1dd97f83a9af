"""utility: what a release keeps of its table for those who work with it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from tclose.errors import MissingExtraError, raising_alone
from tclose.jobs import announce, report
from tclose.make.registry import settings_of
from tclose.policy import Policy, check_policy
from tclose.release.release import Release
from tclose.study.scene import Scene
from tclose.study.staging import share_of, stage
from tclose.study.utility.associations import Association, associations
from tclose.study.utility.columns import ColumnKept, compare_column
from tclose.study.utility.groups import groups_of
from tclose.study.utility.models import Model, compare_models
from tclose.study.utility.queries import Queries, ask

FINE, COARSE = 50, 10
"""Groups of a column, at most: for queries and distributions; and for associations and the values that models guess."""


@dataclass(frozen=True, eq=False, repr=False)
class Utility:
    """What a release keeps. INTERNAL: it is measured with the raw table, and must not be published.

    Attributes
    ----------
    queries : Queries
        The errors of random COUNT queries.
    columns : list of ColumnKept
        The distribution of each quasi-identifier and each sensitive attribute, before and after.
    associations : list of Association
        How strongly each pair of columns goes together, before and after.
    models : list of Model
        What a classifier learns of each sensitive attribute; empty where nobody was held back to try it on.
    skipped : list of str
        What was not measured, and why: a sentence for each.
    """

    queries: Queries
    columns: list[ColumnKept]
    associations: list[Association]
    models: list[Model]
    skipped: list[str]

    @property
    def association_kept(self) -> float | None:
        """The sum of all associations that are left, as a share of those before; None where there were none.

        What the release adds to an association does not count: it is made up.
        """
        before = sum(one.before for one in self.associations)
        return sum(min(one.before, one.after) for one in self.associations) / before if before else None

    def to_dict(self) -> dict[str, Any]:
        """Return what was measured as a mapping for JSON."""
        return {
            "internal": True,
            "queries": asdict(self.queries),
            "columns": [asdict(one) for one in self.columns],
            "associations": [asdict(one) for one in self.associations],
            "association_kept": self.association_kept,
            "models": [asdict(one) for one in self.models],
            "skipped": self.skipped,
        }

    def to_json(self) -> str:
        """Return what was measured as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def __repr__(self) -> str:
        """Return the median error of queries and the association that is kept in one line."""
        error = "-" if self.queries.median is None else f"{self.queries.median:.0%}"
        kept = "-" if self.association_kept is None else f"{self.association_kept:.0%}"
        return f"<Utility: median error of queries {error}; association kept {kept}; INTERNAL>"


@raising_alone
def utility(
    table: Any,
    policy: Policy,
    *,
    release: Release | None = None,
    holdout: Any = "1/5",
    algorithm: str | None = None,
    effort: str = "balanced",
    seed: int = 0,
) -> Utility:
    """Measure what a release keeps of its table: answers to queries, distributions, associations, and what a model learns.

    A share of the persons is held back at random, and a release is made of the rest. Models that were trained on the release and
    on the raw rows are tried on the people who were held back.

    Parameters
    ----------
    table : path, pandas, polars or pyarrow table, DuckDB relation or ibis table
        Which files are read is in docs/tables.md.
    policy : Policy
        With a k; see `tclose.anonymize`.
    release : Release, optional
        A release of this table under this policy, which is measured instead. Nobody is held back then, and no model is tried.
    holdout : number or text
        The share of the persons to hold back: above 0, below 1.
    algorithm : str, optional
        The algorithm that makes the release; see `tclose.list_algorithms`.
    effort : str
        How long it may refine the release; see `tclose.anonymize`.
    seed : int
        For the choice of people, for queries, and for the algorithm.

    Returns
    -------
    Utility

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [*range(20, 60)] * 2, "ill": ["flu", "cold", "gout", "flu"] * 20})
    >>> policy = Policy(quasi=["age"], sensitive={"ill": 0.5}, k=4)
    >>> kept = utility(people, policy)
    >>> [column.name for column in kept.columns], kept.models[0].target
    (['age', 'ill'], 'ill')
    """
    check_policy(policy)
    staged = stage(table, policy, settings_of(algorithm, seed, effort, None), release, share_of(holdout, "holdout", "persons"))
    announce("Measuring")
    return measure_utility(staged.scene, seed)


def measure_utility(scene: Scene, seed: int) -> Utility:
    """Return what the release of a scene keeps; models are tried on its controls."""
    report("queries")
    quasi, sensitive = groups_of(scene, FINE)
    asked = ask(scene, quasi, sensitive, seed)
    columns = [compare_column(scene, one) for one in (*quasi, *sensitive)]
    report("associations")
    coarse, targets = groups_of(scene, COARSE)
    together = associations(scene, coarse, targets)
    report("models")
    models, skipped = [], []
    if not len(scene.held_back):
        skipped.append("No model was tried: nobody was held back to try it on.")
    else:
        try:
            models = [compare_models(scene, quasi, target) for target in targets]
        except MissingExtraError as error:
            skipped.append(f"No model was tried. {error}")
    return Utility(asked, columns, together, models, skipped)

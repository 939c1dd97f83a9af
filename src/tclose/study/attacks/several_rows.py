"""Several rows: the classes of all rows of a person together leave one value of an attribute that is the same in all of them.

k, l and t are about the class of one row. No limit is about what several rows of a person tell together.
"""

from __future__ import annotations

import numpy as np

from tclose.make.encode import Attribute
from tclose.study.attacks.believed import Believed, at_truth
from tclose.study.attacks.record import Outcome, rate_of
from tclose.study.scene import Scene
from tclose.values.arrays import Bools, Floats, Ints


def same_in_all_rows(scene: Scene, attribute: Attribute) -> bool:
    """Return whether an attribute is the same in all rows of a person, for at least nine of ten persons with several rows.

    All rows of the table count, also those that are suppressed or held back. Without persons who have several rows it is not.
    """
    cells = np.unique(scene.persons * len(attribute.values) + attribute.codes.astype(np.int64))
    several, values = np.bincount(scene.persons) > 1, np.bincount(cells // len(attribute.values))
    return bool(several.any() and 10 * (values[several] == 1).sum() >= 9 * several.sum())


def several_rows(scene: Scene, seen: Believed) -> Outcome:
    """Return how often one value alone is in the classes that contain each row of a person, and it is the person's.

    The attacker knows the quasi-identifiers of all rows of a person that are in the release, takes for each row all classes that
    contain it, and keeps the values that are there for each of the rows. A row that no class contains rules nothing out, so
    controls are attacked in the same way. Of a person whose value is not the same in all rows, the attacker is not right.

    ``figures`` has how often one row alone is enough.
    """
    name, members = seen.attribute.column.name, scene.persons[scene.members]
    one_row = (at_truth(seen.members, seen.of_members) > 0) & ((seen.members > 0).sum(axis=1) == 1)
    return Outcome(
        name="several rows",
        sensitive=name,
        knows="the quasi-identifiers of all rows of a person and that they are in the release",
        does=f"is certain of their {name}, which is the same in all of them",
        before=float((seen.table > 0).sum() == 1),
        members=_certain(seen.members > 0, seen.of_members, members),
        controls=_certain(seen.controls > 0, seen.of_controls, scene.persons[scene.controls]),
        class_known=_certain(seen.in_class > 0, seen.of_members, members),
        lowers="one row a person, larger classes (k), or coarser values",
        figures={"one_row": rate_of(one_row, members, once=True).share},
        proves=True,
    )


def _certain(possible: Bools, truth: Ints, persons: Ints) -> Floats:
    """Return for each row 1 where one value alone is possible for all rows of the person, and is that of all of them; else 0."""
    if not len(persons):
        return np.zeros(0)
    order = np.argsort(persons, kind="stable")
    starts = np.flatnonzero(np.diff(persons[order], prepend=-1))
    left = np.logical_and.reduceat(possible[order], starts, axis=0)
    number = np.unique(persons, return_inverse=True)[1]
    own = np.logical_and.reduceat(at_truth(left[number], truth)[order], starts)
    certain: Floats = ((left.sum(axis=1) == 1) & own)[number].astype(np.float64)
    return certain

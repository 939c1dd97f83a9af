"""tclose: measure how much a table would give away about the people in it, exactly; and make one that can be published.

>>> import tclose as tc
>>> tc.emd({3: 1, 4: 1, 5: 1}, {salary: 1 for salary in range(3, 12)})
0.375
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tclose.errors import (
        ColumnError,
        GateError,
        HierarchyError,
        InfeasibleError,
        InputError,
        MissingExtraError,
        OutputError,
        PolicyError,
        PrivacyRiskWarning,
        ReadingWarning,
        TcloseError,
    )
    from tclose.judge.attribute import AttributeAudit
    from tclose.judge.audit import audit
    from tclose.judge.parts import AttributeFigures, Figures
    from tclose.judge.result import Audit, Judgement, Violation
    from tclose.judge.transport import Move, emd, transport
    from tclose.make.algorithm import Above, Algorithm, Choice
    from tclose.make.fragmentation.find import find_fragmentation
    from tclose.make.fragmentation.fragment import Fragment
    from tclose.make.fragmentation.result import Fragmentation
    from tclose.make.losses import Losses
    from tclose.make.registry import list_algorithms
    from tclose.policy import Input, Keep, Policy, Quasi, Sensitive
    from tclose.release.anonymize import anonymize
    from tclose.release.joined import Joined
    from tclose.release.release import Release
    from tclose.release.release_set import ReleaseSet
    from tclose.release.scope import Scope
    from tclose.release.spark_release import SparkRelease
    from tclose.release.verify import Finding, Verification, verify
    from tclose.study.apply.apply import Applied, apply
    from tclose.study.attack import Attacks, attack
    from tclose.study.attacks.record import Attack, Rate, Worst
    from tclose.study.compare.compare import compare
    from tclose.study.compare.comparison import Comparison
    from tclose.study.explain.explain import explain
    from tclose.study.explain.explanation import Explanation
    from tclose.study.propose.costs import Cost
    from tclose.study.propose.proposal import Proposal
    from tclose.study.propose.propose import propose
    from tclose.study.propose.singling import SingledOut
    from tclose.study.utility.utility import Utility, utility
    from tclose.tables.readings import Reading
    from tclose.values.hierarchy import Hierarchy
    from tclose.values.preview import Level

    __version__: str

# Loaded on first use: importing tclose, and `tclose --help`, stay fast.
_HOMES = {
    "Above": "make.algorithm",
    "Algorithm": "make.algorithm",
    "AttributeAudit": "judge.attribute",
    "Choice": "make.algorithm",
    "AttributeFigures": "judge.parts",
    "Figures": "judge.parts",
    "SparkRelease": "release.spark_release",
    "Fragment": "make.fragmentation.fragment",
    "Fragmentation": "make.fragmentation.result",
    "Judgement": "judge.result",
    "Losses": "make.losses",
    "Move": "judge.transport",
    "Scope": "release.scope",
    "Audit": "judge.result",
    "Violation": "judge.result",
    "anonymize": "release.anonymize",
    "audit": "judge.audit",
    "list_algorithms": "make.registry",
    "Reading": "tables.readings",
    "Release": "release.release",
    "ReleaseSet": "release.release_set",
    "Attack": "study.attacks.record",
    "Attacks": "study.attack",
    "Rate": "study.attacks.record",
    "Worst": "study.attacks.record",
    "Comparison": "study.compare.comparison",
    "compare": "study.compare.compare",
    "Explanation": "study.explain.explanation",
    "explain": "study.explain.explain",
    "apply": "study.apply.apply",
    "Applied": "study.apply.apply",
    "Cost": "study.propose.costs",
    "Proposal": "study.propose.proposal",
    "propose": "study.propose.propose",
    "SingledOut": "study.propose.singling",
    "Utility": "study.utility.utility",
    "utility": "study.utility.utility",
    "attack": "study.attack",
    "Joined": "release.joined",
    "emd": "judge.transport",
    "transport": "judge.transport",
    "find_fragmentation": "make.fragmentation.find",
    "Finding": "release.verify",
    "Verification": "release.verify",
    "verify": "release.verify",
    "ColumnError": "errors",
    "GateError": "errors",
    "HierarchyError": "errors",
    "InfeasibleError": "errors",
    "InputError": "errors",
    "MissingExtraError": "errors",
    "OutputError": "errors",
    "PolicyError": "errors",
    "PrivacyRiskWarning": "errors",
    "ReadingWarning": "errors",
    "TcloseError": "errors",
    "Hierarchy": "values.hierarchy",
    "Level": "values.preview",
    "Input": "policy",
    "Keep": "policy",
    "Policy": "policy",
    "Quasi": "policy",
    "Sensitive": "policy",
}

__all__ = [
    "Above",
    "Algorithm",
    "Applied",
    "Attack",
    "Attacks",
    "AttributeAudit",
    "AttributeFigures",
    "Audit",
    "Choice",
    "ColumnError",
    "Comparison",
    "Cost",
    "Explanation",
    "Figures",
    "Finding",
    "Fragment",
    "Fragmentation",
    "GateError",
    "Hierarchy",
    "HierarchyError",
    "InfeasibleError",
    "Input",
    "InputError",
    "Joined",
    "Judgement",
    "Keep",
    "Level",
    "Losses",
    "MissingExtraError",
    "Move",
    "OutputError",
    "Policy",
    "PolicyError",
    "PrivacyRiskWarning",
    "Proposal",
    "Quasi",
    "Rate",
    "Reading",
    "ReadingWarning",
    "Release",
    "ReleaseSet",
    "Scope",
    "Sensitive",
    "SingledOut",
    "SparkRelease",
    "TcloseError",
    "Utility",
    "Verification",
    "Violation",
    "Worst",
    "__version__",
    "anonymize",
    "apply",
    "attack",
    "audit",
    "compare",
    "emd",
    "explain",
    "find_fragmentation",
    "list_algorithms",
    "propose",
    "transport",
    "utility",
    "verify",
]


def __getattr__(name: str) -> Any:
    value: Any
    if name == "__version__":
        from importlib.metadata import version

        value = version("tclose")  # as in pyproject.toml
    elif name in _HOMES:
        value = getattr(import_module(f"tclose.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'tclose' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

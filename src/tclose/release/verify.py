"""verify: a published file checked again, from the file and its certificate alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tclose.columns.domains import kind_to_read
from tclose.errors import InputError, TcloseError, raising_alone
from tclose.judge.audit import Context, examine
from tclose.judge.result import Audit
from tclose.policy import Policy
from tclose.release.certificate import (
    CERTIFICATE,
    CODEBOOK,
    RECORD,
    describe_sensitive,
    edges_in_words,
    figures,
    of_several,
    statement,
)
from tclose.release.certificate import codebook as described
from tclose.release.claims import Certificate, policy_of, read_certificate, read_json
from tclose.release.scope import Scope, asks_for_something, differences, scope_of
from tclose.tables.counted import Cells
from tclose.tables.files import sha256_of, sha256_of_folder
from tclose.tables.input_file import InputFile
from tclose.tables.parquet import files_in
from tclose.tables.readers import ArrowReader, CsvReader, ParquetReader, open_reader
from tclose.tables.table import Table, open_table
from tclose.values.exact import float_up, number_of
from tclose.values.visible import visible

ANOTHER = "belongs to another file"
PRECISION = (
    "precision (1 is all, 0 is none; another measure than detail lost: the share of the levels of its hierarchy that a column "
    "keeps, or, without a hierarchy, of its rows that are published as they are)"
)
"""What precision is: a reader must not take it for what detail lost leaves."""


@dataclass(frozen=True)
class Finding:
    """One thing that a certificate says, or that the reader's own policy asks, and whether the release bears it out.

    Attributes
    ----------
    own : bool
        Whether the reader's own policy asks it.
    of_bytes : bool
        Whether it is about the bytes of the file, which another program changes when it saves the same values.
    """

    what: str
    holds: bool
    detail: str = ""
    own: bool = False
    of_bytes: bool = False

    def __str__(self) -> str:
        """Return the finding as a line of text: yes or NO, and what was checked."""
        return f"{'yes' if self.holds else 'NO '}  {self.what}{f' ({self.detail})' if self.detail else ''}"


@dataclass(frozen=True, eq=False)
class Verification:
    """What was checked of a release, and what was found.

    Attributes
    ----------
    title : str
        The name of the release.
    findings : list of Finding
    audit : Audit
        Of the release, under the certificate's policy.
    scope : Scope
        What the findings are about, in plain words: limits asked and attained, columns and their roles, distances.
    warnings : list of str
        What no rule forbids, and a reader should know.
    unchecked : list of str
        What a certificate says and verify does not check, mostly because nobody can from the release: the publisher's word.
    own : Audit or None
        Of the release, under the reader's own policy, where there is one.
    differences : list of str
        What the reader's policy asks and the certificate's does not, or otherwise.
    holds : bool
        Whether all that the certificate says, and all that the reader's policy asks, is so.
    """

    title: str
    findings: list[Finding]
    audit: Audit
    scope: Scope
    warnings: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    own: Audit | None = None
    differences: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether every finding is confirmed: all that the certificate says, and all that the reader's policy asks."""
        return all(finding.holds for finding in self.findings)

    @property
    def verdict(self) -> str:
        """The verdict in one sentence: whether the release is as certified, and whether it is what the reader asks."""
        certified = all(finding.holds for finding in self.findings if not finding.own)
        also = "." if self.holds or not certified else ", but not what your policy asks."
        return f"{self.title} {'is' if certified else 'is not'} as certified{also}"

    @property
    def headline(self) -> str:
        """The first line of a verification: the verdict, and what was checked for it."""
        count, wrong = len(self.findings), sum(not finding.holds for finding in self.findings)
        if wrong:
            return f"{self.verdict[:-1]}: {wrong:,} of {number_of(count, 'check')} failed.{self._of_bytes}"
        yours = " and of your policy" if self.own is not None else ""
        return (
            f"{self.verdict[:-1]}: it satisfies every limit of its certificate{yours}. Its bytes, its columns and all figures "
            f"that can be counted are those of the certificate ({number_of(count, 'check')})."
        )

    @property
    def _of_bytes(self) -> str:
        """A sentence, after a space, where nothing but bytes is not as certified; else empty."""
        if not all(finding.of_bytes for finding in self.findings if not finding.holds):
            return ""
        return (
            " The bytes differ, but all columns, limits and figures that can be counted still match, as when another program "
            "saved the file. A value that no figure counts may have changed all the same."
        )

    def lines(self, *, everything: bool = True) -> list[str]:
        """Return the verification as lines of text: the verdict, what failed, what was asked and attained, and warnings.

        Parameters
        ----------
        everything
            Whether to list each check that was confirmed, and each claim that nobody can check from the release.
        """
        told = [
            *(["", "Your policy and that of the certificate differ:"] if self.differences else []),
            *(f"  {difference}" for difference in self.differences),
            *([""] if self.warnings else []),
            *(f"Warning: {warning}" for warning in self.warnings),
        ]
        wrong_first = sorted(self.findings, key=lambda finding: finding.holds)
        if everything:
            checks = ["", "Checked:", *map(str, wrong_first)]
            claimed = ["", "Not checked, the publisher's word:", *(f"  {word}" for word in self.unchecked)]
            return [*map(visible, [self.headline, *self.scope.lines(), *told, *checks, *claimed])]
        wrong = [str(finding) for finding in wrong_first if not finding.holds]
        claims = number_of(len(self.unchecked), "claim of the certificate is", "claims of the certificate are")
        rest = f"{claims} the publisher's word, not checked here. To list every check and claim: --all"
        return [*map(visible, [self.headline, *wrong, *([""] if wrong else []), *self.scope.lines(), *told, "", rest])]

    def __str__(self) -> str:
        """Return the verification as text: the verdict first, and everything that was checked and that was not."""
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        """Return the verification as a small table for a notebook: the verdict, what was checked, and what to know."""
        from tclose.report.summaries import verification_html

        return verification_html(self)

    def __repr__(self) -> str:
        """Return the verification in one line: the verdict, and the numbers of findings and warnings."""
        confirmed = sum(finding.holds for finding in self.findings)
        told = number_of(len(self.warnings), "warning")
        return f"<Verification: {self.verdict[:-1]}; {confirmed} of {number_of(len(self.findings), 'finding')} confirmed; {told}>"


@raising_alone
def verify(release: str | Path, certificate: str | Path | None = None, policy: Policy | str | Path | None = None) -> Verification:
    """Check a release against its certificate: its bytes, its columns, its limits, and every figure that it can show.

    Nothing is believed that can be counted: classes, limits and figures are measured again from the published values, by the
    code of `audit`. What cannot be counted from the release is listed as the publisher's word: see `Verification.unchecked`.

    Parameters
    ----------
    release : path
    certificate : path, optional
        By default it lies beside the release: ``release.csv.certificate.json``.
    policy : Policy, or the path of one, optional
        What the reader asks. The release must satisfy it too, and what the certificate asks otherwise is listed.

    Returns
    -------
    Verification

    Raises
    ------
    InputError
        The release or the certificate cannot be read.
    PolicyError
        The reader's policy cannot be read, or does not fit the release.

    Examples
    --------
    >>> import pyarrow as pa, tempfile, tclose as tc
    >>> people = pa.table({"age": [23, 27, 31, 39], "salary": [3, 5, 4, 6]})
    >>> release = tc.anonymize(people, tc.Policy(quasi=["age"], sensitive={"salary": 0.5}, k=2))
    >>> path = release.write(Path(tempfile.mkdtemp()) / "release.csv")[0]
    >>> verify(path)
    <Verification: release.csv is as certified; 18 of 18 findings confirmed; 0 warnings>
    """
    if not isinstance(release, str | Path):
        raise InputError(f"release must be the path of a published file. Got {type(release).__name__}. Write it to a file first.")
    path = Path(release)
    file = release_file(path)
    paper = _beside(path) if certificate is None else Path(certificate)
    own = policy if policy is None or isinstance(policy, Policy) else Policy.load(policy)
    if own is not None:  # its input says how an input is written: nothing in a release means "no value"
        own = replace(own, input=None)
    said = read_certificate(paper)
    asked = policy_of(said, paper.name)
    reader = open_reader(path)
    if not isinstance(reader, CsvReader | ParquetReader | ArrowReader):
        raise InputError(
            f"File {path.name!r} is no release: those are CSV, Parquet or Arrow files. Name the file that was published."
        )
    names = reader.names
    columns = [column.name for column in said.columns]
    if not columns or not set(columns) <= set(names):
        raise InputError(f"File {path.name!r} has not the columns of the certificate. It is another file.")
    _check_roles(said, asked, paper.name)
    told: list[str] = []
    texts = open_table(open_reader(path), dict.fromkeys(names, "text")).cells(names, [])
    source = _open_sensitive(path, asked)
    values = source.cells([], [column.name for column in asked.sensitive])
    judged, numbers = _policy_as_published(asked, source)
    audit = _audit_release(path, judged, told)
    theirs = None if own is None else _audit_release(path, _policy_as_published(own, _open_sensitive(path, own))[0], told)
    with file.read_as("a file"):  # what was hashed is what was audited
        digest = sha256_of_folder(path) if path.is_dir() else sha256_of(path)
    findings = [
        *_findings_on_papers(path, digest, paper, said),
        Finding("Its columns are those of the certificate", columns == names),
        Finding(
            "Its columns have the roles and distances of the certificate's policy",
            _roles_in_policy(asked, audit) == _roles_in_certificate(said),
        ),
        *(Finding(f"{name} holds intervals", False, "it holds numbers, and was judged by them") for name in numbers),
        *_findings_on_values(judged, source, values, texts),
        Finding("Something was asked", asks_for_something(asked), "" if asks_for_something(asked) else "nothing was asked"),
        Finding("It satisfies every limit", audit.satisfied, _broken_limits(audit)),
        Finding("The statement is that of its limits", said.statement == statement(asked)),
        *_findings_on_figures(said, asked, audit, int(np.count_nonzero(texts.sizes == 1))),
    ]
    kept = {column.name: len(texts.domain(column.name)[0]) for column in said.columns if column.role == "kept"}
    scope = scope_of(path.name, source, values, audit, kept, of_persons=said.counted == "persons")
    if own is not None and theirs is not None:
        findings += _findings_on_own_policy(own, theirs, names)
    different = [] if own is None else differences(own, asked)
    several = [] if said.tables is None else [of_several(**said.tables.model_dump(), counted=said.counted)]
    risks = [*several, *scope.warnings, *dict.fromkeys(told)]
    unchecked = _claims_not_checked(said)
    return Verification(path.name, findings, audit, scope, risks, unchecked, theirs, different)


def _beside(release: Path) -> Path:
    """Return the path of the certificate beside a release; raise InputError for what seems to be no release."""
    paper = release.with_name(release.name + CERTIFICATE)
    try:
        missing = not paper.exists()
    except OSError:  # a name that is too long for the disk: told by whoever opens it
        missing = False
    if missing and release.name.endswith(CERTIFICATE):
        name = release.name.removesuffix(CERTIFICATE)
        raise InputError(f"File {release.name!r} is a certificate. Name the release that it is of: {name!r}.")
    if missing:
        raise InputError(
            f"Certificate {str(paper)!r} does not exist. Is {release.name!r} a release? Then put its certificate beside "
            "it, or give its path."
        )
    return paper


def release_file(path: Path) -> InputFile:
    """Return the file of a release, or its folder of Parquet files, as it is now; raise InputError if there is more in it."""
    if not path.is_dir():
        return InputFile.open(path)
    parts = files_in(path)
    if len(parts) < len(list(path.iterdir())):
        raise InputError(
            f"Folder {path.name!r} has more in it than the Parquet files of a release. Name the folder as it was written."
        )
    return InputFile.open_folder(path, parts)


def _check_roles(said: Certificate, asked: Policy, name: str) -> None:
    """Raise InputError if a certificate names a column twice, or limits one that it does not name as sensitive."""
    columns = [column.name for column in said.columns]
    sensitive = [column.name for column in said.columns if column.role == "sensitive"]
    if len(set(columns)) < len(columns) or [column.name for column in asked.sensitive if column.name not in sensitive]:
        raise InputError(f"Certificate {name!r} names a column twice, or limits one that it does not name as sensitive.")


def _open_sensitive(release: Path, policy: Policy) -> Table:
    """Return the sensitive columns of a release, open to be read."""
    return open_table(open_reader(release), {column.name: kind_to_read(column) for column in policy.sensitive})


def _policy_as_published(policy: Policy, source: Table) -> tuple[Policy, list[str]]:
    """Return the policy for what is published, and the columns with numbers where the policy has bins.

    The limits of bins apply to their labels. Where numbers are published, numbers are judged: a reader of them is not bound
    to put them in bins.
    """
    binned = [column.name for column in policy.sensitive if column.bins is not None and column.publish is None]
    numbers = [name for name in binned if source.kinds[name] != "text"]
    sensitive = [replace(column, bins=None) if column.name in numbers else column for column in policy.sensitive]
    return replace(policy, sensitive=sensitive), numbers


def _audit_release(release: Path, policy: Policy, told: list[str]) -> Audit:
    """Return the audit of a release under a policy; its warnings are added to ``told``."""
    return examine(release, policy, Context(warn=told.append))


def _findings_on_papers(release: Path, digest: str, certificate: Path, said: Certificate) -> list[Finding]:
    """Return findings on whether release, certificate, codebook and record, as far as they exist, were written together."""
    same = digest == said.release.sha256
    detail = f"sha256 {digest}" if same else f"{certificate.name} {ANOTHER}: the sha256 of this one is {digest}"
    findings = [Finding("The file is the one that was certified", same, detail, of_bytes=True)]
    codebook, record = (release.with_name(release.name + ending) for ending in (CODEBOOK, RECORD))
    if _is_file(codebook):
        own = _has_text(codebook, described(said.release.file, said.model_dump(), said.release.sha256))
        findings.append(
            Finding(
                "The codebook beside it is its own",
                own,
                "" if own else f"{codebook.name} {ANOTHER if same else f'does not go with {certificate.name}'}",
            )
        )
    if _is_file(record):
        about = _sha256_in_record(record)
        own, certified = about == digest, about == said.release.sha256
        detail = "" if own else f"{record.name} {ANOTHER}"
        findings.append(Finding("The private record beside it is its own", own, detail, of_bytes=certified))
    return findings


def _is_file(paper: Path) -> bool:
    """Whether a path names an existing file; a name that is too long for the disk names none."""
    try:
        return paper.is_file()
    except OSError:
        return False


def _has_text(paper: Path, text: str) -> bool:
    """Whether the file of a release's paper contains exactly a text."""
    expected = text.encode()
    try:
        with paper.open("rb") as file:
            return file.read(len(expected) + 1) == expected
    except OSError:
        return False


def _sha256_in_record(record: Path) -> Any:
    """Return the sha256 of the release that a private record is about; None if the record does not say."""
    try:
        found = read_json(record, "Record")
    except TcloseError:
        return None
    about = found.get("release") if isinstance(found, Mapping) else None
    return about.get("sha256") if isinstance(about, Mapping) else None


def _findings_on_values(policy: Policy, source: Table, values: Cells, texts: Cells) -> list[Finding]:
    """Return findings on sensitive values: each is written in one way, and labels of bins are those of the policy.

    And labels of bins must be of the bins that the policy names.
    """
    findings = []
    for column in policy.sensitive:
        own, signs = (cells.domain(column.name)[0] for cells in (values, texts))
        if len(own) != len(signs):
            findings.append(
                Finding(f"Each value of {column.name} is written in one way", False, "one number stands there in two ways")
            )
        if column.bins is not None and column.publish is None:
            labels = source.values(column.name, own).drop_null().to_pylist()
            findings.append(Finding(f"The intervals of {column.name} are those of the certificate", column.bins.fit(labels)))
    return findings


def _findings_on_figures(said: Certificate, asked: Policy, audit: Audit, unique: int) -> list[Finding]:
    """Return a finding for each figure in the certificate that can be counted again from the release."""
    attained, sizes = said.attained, audit.sizes.tolist()
    found = figures(audit)
    findings = [
        _finding_on_figure("rows", said.rows, audit.rows),
        _finding_on_figure("classes", said.classes, audit.classes),
        _finding_on_figure("k", attained.k, audit.k),
        _finding_on_figure("classes with one sensitive value", attained.homogeneous.classes, audit.homogeneous["classes"]),
        _finding_on_figure("rows in such classes", attained.homogeneous.rows, audit.homogeneous["rows"]),
        _finding_on_figure("rows that differ from all others", said.unique_rows, unique),
        _finding_on_figure("discernibility (dm), the sum of squared class sizes,", said.loss.dm, sum(size**2 for size in sizes)),
        _finding_on_figure(
            "mean class size in multiples of k (c_avg)", said.loss.c_avg, audit.rows / (len(sizes) * asked.k) if asked.k else None
        ),
        Finding("The figures are those of the sensitive columns", list(attained.sensitive) == list(found)),
    ]
    for name, own in found.items():
        same = _figure_as_text(attained.sensitive.get(name)) == _figure_as_text(own)
        findings.append(
            Finding(f"The figures of {name} are as certified", same, f"{'' if same else 'found '}t = {own['t_exact']}")
        )
    for name, promise in said.promised.items():
        limit = audit.sensitive[name].limit if name in audit.sensitive else None
        attains = None if limit is None else float_up(audit.sensitive[name].t_judged)
        kept = limit is not None and attains == promise.t_attained <= promise.t <= float_up(limit)
        findings.append(Finding(f"{name} is within what was promised", kept, f"t = {promise.t}"))
    return findings


def _findings_on_own_policy(own: Policy, audit: Audit, names: Sequence[str]) -> list[Finding]:
    """Return findings on what the reader's own policy asks: its limits, and the columns that must not be published."""
    asks = asks_for_something(own)
    published = [name for name in (*own.identifiers, *own.drop) if name in names]
    return [
        Finding("Your policy asks for something", asks, "" if asks else "it sets no limit", own=True),
        Finding("It satisfies your policy", audit.satisfied, _broken_limits(audit), own=True),
        *(
            Finding(f"{name} is not published, as your policy asks", False, "it is a column of the file", own=True)
            for name in published
        ),
    ]


def _roles_in_policy(policy: Policy, audit: Audit) -> tuple[list[str], dict[str, str]]:
    """Return the quasi-identifiers of the policy, and the description of each of its sensitive columns."""
    sensitive = {
        column.name: describe_sensitive(column, audit.sensitive[column.name].distance, policy) for column in policy.sensitive
    }
    return sorted(audit.quasi), sensitive


def _roles_in_certificate(said: Certificate) -> tuple[list[str], dict[str, str]]:
    """Return the quasi-identifiers of the certificate's columns, and its description of each sensitive column."""
    quasi = sorted(column.name for column in said.columns if column.role == "quasi")
    return quasi, {column.name: column.holds for column in said.columns if column.role == "sensitive"}


def _claims_not_checked(said: Certificate) -> list[str]:
    """Return the claims of a certificate that are not checked, most of which nobody can check from the release."""
    words = [f"made with tclose {said.version} as {said.release.file}"]
    words += [f"the rows are {'in the order of the input' if said.row_order == 'input' else 'sorted by what is published'}"]
    words += ["k and l are satisfied over persons, too"] if said.counted == "persons" else []
    words += [edges_in_words(said.policy.edges)] if said.policy.edges > 1 else []
    words += [f"what {column.name} holds: {column.holds}" for column in said.columns if column.role != "sensitive"]
    parts = said.loss.by_attribute
    trees = any("hierarchy" in column.holds for column in said.columns if column.role == "quasi")
    who = "any reader can compute it" + ("; of a column with a hierarchy, whoever has the hierarchy" if trees else "")
    for name, value, by_attribute in (
        (f"detail lost (gcp; 0 is none, 1 is all; {who})", said.loss.gcp, parts.gcp),
        (PRECISION, said.loss.precision, parts.precision),
    ):
        figures_of = [] if value is None else [f"{value:.4g}"]
        figures_of += [f"{attribute} {part:.4g}" for attribute, part in by_attribute.items()]
        words += [f"{name}: {', '.join(figures_of)}"] if figures_of else []
    weights = {name: column.weight for name, column in said.policy.quasi.items() if column.weight != 1}
    words += [f"weight {weight} of {name} in the information loss" for name, weight in weights.items()]
    return words + [f"t of {name} was promised to be at most {promise.t}" for name, promise in said.promised.items()]


def _finding_on_figure(what: str, said: Any, found: Any) -> Finding:
    """Return the finding on one figure: whether the certificate says what was found."""
    same = _figure_as_text(said) == _figure_as_text(found)
    return Finding(f"{what} as certified", same, str(found) if same else f"certified {said}, found {found}")


def _figure_as_text(figure: Any) -> str:
    """Return a figure of a certificate as JSON text, so that 1, 1.0 and true differ."""
    return json.dumps(figure, sort_keys=True)


def _broken_limits(audit: Audit) -> str:
    """Return the limits that an audit found broken, as a sentence; empty if none is."""
    broken = [judgement for judgement in audit.judgements if judgement.broken.any()]
    return "; ".join(f"{that.model}{f' of {that.sensitive}' if that.sensitive else ''} is broken" for that in broken)

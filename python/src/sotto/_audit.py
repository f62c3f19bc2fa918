"""Membership audits of saved answers: arrays in, statistics out."""

from __future__ import annotations

import html as _html
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _call
from ._call import Array, Frame, Progress, array, ffi, fill, invalid, lib, numpy_of, out_text, run, struct, table, text_of
from ._records import Estimate, Record, read
from .errors import GateFailed, make

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import AuditOptions

__all__ = ["AttackResult", "AuditResult", "audit"]

_INPUTS = ("audit_input", "token_input", "generative_input", "attribute_input")


class Arrays:
    """Arrays by the names of options. Their types, their shapes and what they need of each other are rows and rules of the library."""

    def __init__(self) -> None:
        out = ffi.new("struct sotto_arrays **")
        run(lib.sotto_arrays_open, out)
        self.c = ffi.gc(out[0], lib.sotto_arrays_close)
        self.kept: list[Any] = []  # what is lent

    def give(self, row: Any, name: str, value: Any) -> None:
        a = numpy_of(value, name)
        a = np.ascontiguousarray(a, a.dtype.newbyteorder("=")).reshape(a.shape)
        dtype = getattr(lib, f"SOTTO_{a.dtype.str[1:].upper()}", None)
        if dtype is None:
            a = array(a, name, np.float64)
            dtype = lib.SOTTO_F8
        if a.ndim > 8:
            raise invalid(f"{name} has {a.ndim} dimensions; expected at most 8")
        lent = ffi.new("struct sotto_array *", {"dtype": dtype, "ndim": a.ndim, "shape": a.shape, "count": a.size,
                                                "data": ffi.cast("void *", a.ctypes.data)})
        self.kept += [a, lent]
        run(lib.sotto_arrays_give, self.c, row, lent, ffi.NULL)

    def take(self, rows: Any, given: dict[str, Any]) -> None:
        """Takes arguments out of `given`; those that are None do not count."""
        for option in rows:
            value = given.pop(option.name, None) if option.row.shape != ffi.NULL else None
            if value is not None:
                self.give(option.row, option.name, value)


def _input(given: dict[str, Any], labels_from: int | None) -> tuple[Any, Arrays]:
    """struct sotto_audit_input of the arrays, which are taken out of `given` and live as long as what is returned beside it."""
    arrays, out = Arrays(), ffi.new("struct sotto_audit_input **")
    if given.get("reference_people") is not None:  # a mean by those behind it
        if given.get("reference_mean") is not None:
            raise make("EUSAGE", "give either reference_mean or reference_people, not both")
        given["reference_mean"] = array(given.pop("reference_people"), "reference_people", np.float64, 2)
    for name in _INPUTS:
        arrays.take(table(name, True), given)
    depth = given.pop("attribute_depth", None)
    run(lib.sotto_arrays_audit, out, arrays.c, -1 if labels_from is None else _call.whole(labels_from, "labels_from", 0),
        0 if depth is None else _call.whole(depth, "attribute_depth", 3), here=True)
    return out[0], arrays


def _options(given: dict[str, Any], claim: Any, coins: str | None, records: int) -> Any:
    options = table("audit")
    chosen = {k: v for k, v in options.take(given).items() if v is not None}
    if coins is not None and "one_run" not in chosen:
        chosen["one_run"] = records // 20
    c = options.set(struct("audit_options"), chosen)
    if claim is not None:
        if getattr(claim, "epsilon", 0) is None:
            raise invalid("claim: this certificate has no epsilon, as its noise was seeded")
        epsilon, delta = (float(claim.epsilon), claim.delta) if hasattr(claim, "epsilon") else claim
        fill(c, has_claim=1, claim_epsilon=epsilon, claim_delta=delta)
    return c


def audit(member_logits: Any = None, nonmember_logits: Any = None, *, claim: Any = None, coins: str | None = None, certificate: Any = None,
          labels_from: int | None = None, title: str | None = None, threads: int | None = None, progress: Progress = None, **options: Unpack[AuditOptions]) -> AuditResult:
    """Attacks on membership from saved answers of a model. What they find is measured: lower bounds with intervals, no guarantee.

    Give outputs of n members (records that trained the model) and m non-members as logits (n, K), probabilities (n, K), with
    labels (n), or losses (n), or `scores` with `membership`. Of a generative model: member_features and nonmember_features with samples,
    `generated`, or its discriminator's logits. Of a language model: token_logprobs (n, T) of texts, NaN behind a text's end, with
    `membership` (n). Attribute inference: `features` and a hidden `attribute`. Any array-like: NumPy arrays, tensors, lists, data
    frames. float32 and float64 in C order are not copied. labels_from: number of the first class, 0 or 1. claim: (epsilon, delta), or something with these attributes, to contradict.
    Others as of `sotto audit`, with its defaults: seed [1], fpr, confidence, bootstrap, ...

    one_run: guesses on each side [a twentieth of the records, with coins], where an independent fair coin decided about each record. coins: what it decided, "inclusion" (member
    or not) or "replacement" (which of two); with certificate, a Certificate or its file, the result's `curve` says whether the guesses
    contradict its whole trade-off curve.

    Raises InvalidArgument (a ValueError) for arrays that do not fit, by name.

    >>> import numpy as np, sotto
    >>> rng = np.random.default_rng(1)
    >>> r = sotto.audit(scores=np.r_[rng.normal(1, 1, 500), rng.normal(0, 1, 500)], membership=[1] * 500 + [0] * 500)
    >>> r.worst.auc.lower > .5
    True
    """
    given: dict[str, Any] = {"member_logits": member_logits, "nonmember_logits": nonmember_logits, **options}
    c, arrays = _input(given, labels_from)
    chosen = _options(given, claim, coins, c.n_member + c.n_nonmember)
    _call.unknown("audit", given, [*(table(name, True) for name in _INPUTS), table("audit")])
    out = ffi.gc(ffi.new("struct sotto_audit_result *"), lib.sotto_audit_result_free)
    profile = _profile(coins, certificate, threads)
    run(lib.sotto_audit, out, c, chosen, threads=threads, progress=progress)
    del arrays
    if profile is not None:
        run(lib.sotto_audit_test_curve, out, *profile)
    return AuditResult(out, title)


def _profile(coins: str | None, certificate: Any, threads: int | None) -> tuple[Any, int] | None:
    """Of a certificate, and what coins decided. Before the audit, which may take long."""
    kinds = {None: lib.SOTTO_COINS_INCLUSION, "inclusion": lib.SOTTO_COINS_INCLUSION, "replacement": lib.SOTTO_COINS_REPLACEMENT}
    if coins not in kinds:
        raise invalid(f"coins is {coins!r}; expected 'inclusion' or 'replacement'")
    if certificate is None:
        return None
    from ._certificate import Certificate
    if not isinstance(certificate, Certificate):
        certificate = Certificate.load(certificate)
    profile = ffi.gc(ffi.new("struct sotto_privacy_profile *"), lib.sotto_privacy_profile_clear)
    run(lib.sotto_certificate_profile, profile, certificate._c, threads=threads)
    return profile, kinds[coins]


class AttackResult(Record, c="sotto_audit_attack"):
    """One attack. Members are those of struct sotto_audit_attack (include/sotto/audit.h), but for:

    auc: area under the ROC curve, ties count half; auc_method: of its interval. balanced_accuracy: at the threshold of `balanced`.
    roc: at most 500 vertices, with fields "fpr" and "tpr". advantage: largest TPR - FPR, optimistic."""

    name: str
    title: str
    source: str
    auc: Estimate
    balanced_accuracy: Estimate
    advantage: float
    roc: Array

    @classmethod
    def _finish(cls, members: dict[str, Any]) -> None:
        auc = members["auc"]
        members.update(auc=auc.area, auc_method=auc.method, balanced_accuracy=members["balanced"].accuracy)

    def tpr(self, fpr: float) -> Estimate:
        """True-positive rate at a false-positive rate of the call. KeyError: not asked for, or too few non-members."""
        for rate in self.rates:
            if rate.fpr == fpr:
                if rate.refused:
                    raise KeyError(f"{fpr}: {rate.refused}")
                e: Estimate = rate.tpr.rate
                return e
        raise KeyError(f"{fpr}: not among the rates of this audit ({', '.join(str(r.fpr) for r in self.rates)})")

    @property
    def epsilon_lower_bound(self) -> float:
        """Lower bound on epsilon: of all bounds that hold here, at the audit's confidence."""
        return float(self.epsilon_best.lower_bound)

    def __repr__(self) -> str:
        e = self.auc
        return f"{self.name}: AUC {e.estimate:.4f} [{e.lower:.4f}, {e.upper:.4f}]"


class AuditResult(Mapping[str, AttackResult]):
    """The result of an audit: a mapping from names of attacks to results.

    Members of struct sotto_audit_result (include/sotto/audit.h) are attributes: n_member, n_nonmember, classes, confidence, accuracy,
    checks, claim, slices, vulnerable, warnings, ..."""

    def __init__(self, c: Any, title: str | None = None, scores: Array | None = None, command: str | None = None) -> None:
        self._c, self._title, self._scores, self._command = c, title, scores, command
        self._record = read(c)
        self._by_name: dict[str, AttackResult] = {a.name: a for a in self._record.attacks or ()}
        self._folder: str | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._record, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._record.__dict__})

    def __getitem__(self, name: str) -> AttackResult:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    @property
    def scores(self) -> Array | None:
        """Of attack(): one score for each record, members first; higher is more member-like. None of an audit of arrays."""
        return self._scores

    @property
    def worst(self) -> AttackResult:
        """The strongest attack, by AUC."""
        if not self._by_name:
            raise ValueError("no attack on membership was run")
        return max(self._by_name.values(), key=lambda a: a.auc.estimate)

    def check(self, *rules: str) -> None:
        """Raises GateFailed if a rule holds, such as "tpr@0.01>0.05", "auc>0.6", "epsilon>3", "claim>0", or if it was not measured.

        METRIC[.lower|.upper][@RATE] with > or < and a number; METRIC is auc, tpr, balanced_accuracy, advantage, epsilon, claim, lint."""
        failures = []
        for rule in rules:
            failed = ffi.new("int *")
            line = ffi.new("char **")
            run(lib.sotto_audit_gate, failed, line, self._c, rule.encode())
            if failed[0]:
                failures.append(text_of(line[0]))
            lib.sotto_text_free(line[0])
        if failures:
            error = make("EGATE", "\n".join(failures))
            assert isinstance(error, GateFailed)
            error.result = self
            raise error

    @property
    def verdict(self) -> dict[str, Any]:
        """What the numbers say, in both directions: kind ("leaks", "not-detected", ...), by, attack, lower, opposite, swapped and text."""
        return dict(self.to_dict().get("verdict", {"kind": "not-attacked", "text": "Not attacked: nothing was measured."}))

    def to_dict(self) -> dict[str, Any]:
        """The document "sotto.audit/1" (docs/FORMATS.md)."""
        return dict(json.loads(self._json()))

    def _json(self) -> str:
        return out_text(lib.sotto_audit_encode, self._c)

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with one row for each attack; a false-positive rate has three columns, such as "tpr@0.01", "tpr_lower@0.01"
        and "tpr_upper@0.01", NaN where the audit has too few non-members for it."""
        import pandas
        rows = []
        for a in self.values():
            row = {"attack": a.name, "auc": a.auc.estimate, "auc_lower": a.auc.lower, "auc_upper": a.auc.upper,
                   "balanced_accuracy": a.balanced_accuracy.estimate, "advantage": a.advantage, "epsilon_lower_bound": a.epsilon_lower_bound}
            for r in a.rates:
                tpr = r.tpr.rate if not r.refused else Estimate(*[float("nan")] * 3)
                row.update({f"tpr@{r.fpr:g}": tpr.estimate, f"tpr_lower@{r.fpr:g}": tpr.lower, f"tpr_upper@{r.fpr:g}": tpr.upper})
            rows.append(row)
        return pandas.DataFrame(rows)

    def plot(self, ax: Any = None, *, kind: str = "roc", log: bool = True, attack: str | None = None) -> Any:
        """Draws on a matplotlib Axes, which is returned. kind "roc": ROC curves of all attacks; log: both axes are logarithmic.
        "scores": how the scores of members and of non-members lie, of one attack: `attack`, or the worst."""
        if kind not in ("roc", "scores"):
            raise invalid(f"kind is {kind!r}; expected 'roc' or 'scores'")
        if attack is not None and attack not in self:
            raise invalid(f"attack is {attack!r}; expected one of {', '.join(self)}")
        if ax is None:
            from matplotlib import pyplot
            ax = pyplot.subplots()[1]
        if kind == "scores":
            self._plot_scores(ax, self.worst if attack is None else self[attack])
        else:
            self._plot_roc(ax, log, self if attack is None else [attack])
        ax.legend(fontsize="small")
        return ax

    def _plot_roc(self, ax: Any, log: bool, names: Iterable[str]) -> None:
        least = 1 / (2 * max(self.n_nonmember, 1))
        for a in (self[name] for name in names):
            ax.plot(np.maximum(a.roc["fpr"], least if log else 0), a.roc["tpr"], label=f"{a.name} (AUC {a.auc.estimate:.3f})",
                    drawstyle="steps-post", linewidth=1)
        ax.plot([least, 1], [least, 1], color="grey", linestyle=":", linewidth=1)
        if log:
            ax.set(xscale="log", yscale="log", xlim=(least, 1), ylim=(least, 1.05))
        ax.set(xlabel="false-positive rate", ylabel="true-positive rate")

    @staticmethod
    def _plot_scores(ax: Any, a: AttackResult) -> None:
        h = a.histogram
        edges = np.linspace(h.lower, h.upper, h.bins + 1)
        for counts, label in ((h.member, "members"), (h.nonmember, "non-members")):
            ax.stairs(np.asarray(counts) / max(np.sum(counts), 1), edges, label=label, fill=True, alpha=.5)
        ax.set(xlabel=f"score of {a.name}", ylabel="share of the records")

    def _facts(self, certificate: str | os.PathLike[str] | None, ledger: str | os.PathLike[str] | None) -> Any:
        return struct("audit_facts", title=self._title, command=self._command, certificate=certificate, ledger=ledger)

    def html(self, *, certificate: str | os.PathLike[str] | None = None, ledger: str | os.PathLike[str] | None = None) -> str:
        """The page of the audit: one self-contained HTML document. A certificate is verified and shown beside what was measured."""
        return out_text(lib.sotto_report_audit_html, self._c, self._facts(certificate, ledger))

    def show(self, height: int = 700) -> Frame:
        """The page in a notebook, in a frame of its own."""
        return Frame(self.html(), height)

    def save(self, folder: str | os.PathLike[str], *, certificate: str | os.PathLike[str] | None = None,
             ledger: str | os.PathLike[str] | None = None) -> str:
        """Writes report.html, report.json, result.json, attacks.csv and MODEL_CARD.md; returns the path of the page."""
        run(lib.sotto_report_audit, os.fsencode(folder), self._c, self._facts(certificate, ledger))
        self._folder = os.fspath(folder)
        return os.path.join(self._folder, "report.html")

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> AuditResult:
        """What save() wrote, or a file with an audit ("sotto.audit/1")."""
        path = os.fspath(folder)
        with open(os.path.join(path, "result.json") if os.path.isdir(path) else path, encoding="utf-8") as f:
            return cls._decode(f.read())

    @classmethod
    def _decode(cls, text: str, title: str | None = None, scores: Array | None = None, command: str | None = None) -> AuditResult:
        out = ffi.gc(ffi.new("struct sotto_audit_result *"), lib.sotto_audit_result_free)
        run(lib.sotto_audit_decode, out, text.encode())
        return cls(out, title, scores, command)

    def __reduce__(self) -> Any:
        return AuditResult._decode, (self._json(), self._title, self._scores, self._command)

    def __str__(self) -> str:
        return out_text(lib.sotto_audit_summary, self._c)

    def __repr__(self) -> str:
        lines = [f"AuditResult: {self.n_member} members, {self.n_nonmember} non-members, {len(self)} attacks", f"  {self.verdict['text']}"]
        lines += [f"  {a!r}" for a in sorted(self.values(), key=lambda a: -a.auc.estimate)[:4]]
        lines += [f"  {len(self) - 4} more"] if len(self) > 4 else []
        lines += [f"  {len(self.warnings)} warnings"] if self.warnings else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{_html.escape(a.name)}</td><td>{a.auc.estimate:.3f} [{a.auc.lower:.3f}, {a.auc.upper:.3f}]</td>"
            f"<td>{a.balanced_accuracy.estimate:.3f}</td><td>{a.epsilon_lower_bound:.3g}</td></tr>"
            for a in sorted(self.values(), key=lambda a: -a.auc.estimate)[:9])
        saved = f"<p>{_html.escape(os.path.join(self._folder, 'report.html'))}</p>" if self._folder else ""
        return (f"<p>{_html.escape(self.verdict['text'])}</p>"
                "<table><tr><th>attack</th><th>AUC</th><th>balanced accuracy</th><th>epsilon at least</th></tr>" + rows + "</table>" + saved)

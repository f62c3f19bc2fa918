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

# Keyword argument: member of struct sotto_audit_input and its shape. The rows of sotto_option_table("audit_input") have the same names.
# Logits and probabilities share members. "..." flattens what is left. A float64 array goes to the member with _f8, if there is one.
_ARRAYS = {
    "member_logits": "member n_member classes", "nonmember_logits": "nonmember n_nonmember classes",
    "member_probabilities": "member n_member classes", "nonmember_probabilities": "nonmember n_nonmember classes",
    "member_labels": "member_labels n_member", "nonmember_labels": "nonmember_labels n_nonmember",
    "member_losses": "member_losses n_member", "nonmember_losses": "nonmember_losses n_nonmember",
    "member_reference": "member_reference n_member reference_models", "nonmember_reference": "nonmember_reference n_nonmember reference_models",
    "member_reference_losses": "member_reference n_member reference_models",
    "nonmember_reference_losses": "nonmember_reference n_nonmember reference_models",
    "member_trained": "member_trained n_member reference_models", "nonmember_trained": "nonmember_trained n_nonmember reference_models",
    "ref_logits": "reference_outputs reference_models n_all classes", "ref_probabilities": "reference_outputs reference_models n_all classes",
    "ref_membership": "reference_outputs_trained reference_models n_all",
    "shadow_logits": "shadow n_shadow classes", "shadow_probabilities": "shadow n_shadow classes", "shadow_labels": "shadow_labels n_shadow",
    "shadow_trained": "shadow_trained n_shadow",
    "population_logits": "population n_population classes", "population_probabilities": "population n_population classes",
    "population_labels": "population_labels n_population", "population_losses": "population_losses n_population",
    "population_reference": "population_reference n_population reference_models",
    "member_views": "member_views n_member views classes", "nonmember_views": "nonmember_views n_nonmember views classes",
    "ref_views": "reference_views reference_models n_all views classes", "population_views": "population_views n_population views classes",
    "population_ref_views": "population_reference_views reference_models n_population views classes",
    "member_features": "member_features n_member feature_count ...", "nonmember_features": "nonmember_features n_nonmember feature_count ...",
    "member_dates": "member_dates n_member", "nonmember_dates": "nonmember_dates n_nonmember",
    "population_features": "population_features n_population feature_count ...",
    "released_mean": "released_mean feature_count", "reference_mean": "reference_mean feature_count",
    "reference_people": "reference_people n_reference feature_count ...",
}
# Likewise of struct sotto_generative_input and struct sotto_attribute_input.
_GENERATIVE = {
    "generated": "generated generated_n feature_count ...", "reference_generated": "reference_generated reference_generated_n feature_count ...",
    "attacker_features": "attacker attacker_n feature_count ...",
    "member_discriminator_scores": "member_discriminator n_member", "nonmember_discriminator_scores": "nonmember_discriminator n_nonmember",
}
_ATTRIBUTE = {
    "features": "features n d ...", "attribute": "attribute n", "attribute_labels": "labels n",
    "attribute_outputs": "outputs n output_count ...", "attribute_known": "known n known_count ...",
}
_TOKENS = {
    "token_logprobs": "logprobs texts length", "token_mean": "mean texts length", "token_deviation": "deviation texts length",
    "reference_token_logprobs": "reference texts reference_length", "lowercase_token_logprobs": "lowercase texts lowercase_length",
    "compressed_bytes": "bytes texts", "neighbour_losses": "neighbour_losses texts neighbours",
}
_TESTED = {"features": "attribute_test_features", "attribute": "attribute_test", "attribute_labels": "attribute_test_labels"}


class Sizes:
    """What arrays say of sizes that they share; those that disagree are refused by name."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[int, str]] = {}

    def __getitem__(self, size: str) -> int:
        return self.known.get(size, (0, ""))[0]

    def say(self, size: str, n: int, name: str) -> None:
        before, who = self.known.setdefault(size, (n, name))
        if before != n:
            what = size.removeprefix("n_").replace("_", " ")
            raise invalid(f"{name} has {n} of {what}, but {who} has {before}; both need the same shape there")


def lend(c: Any, name: str, member: str, shape: list[str], value: Any, sizes: Sizes) -> None:
    """Lends an array to a member of an input struct, with the dtype of that member."""
    fields = dict(ffi.typeof(c).item.fields)
    item = fields[member].type.item.cname
    flat = shape[-1] == "..."
    shape = shape[:-1] if flat else shape
    a = array(value, name, _call._ITEMS[item], None if flat else len(shape), also=np.float64 if member + "_f8" in fields else None)
    if flat:
        if a.ndim < 2:
            raise invalid(f"{name} has {a.ndim} dimensions; expected a row for each record")
        a = a.reshape(a.shape[0], -1)
    for size, n in zip(shape, a.shape):
        sizes.say(size, n, name)
    fill(c, **{member + "_f8" if a.dtype == np.float64 and item == "float" else member: a})


def _zeros_and_ones(membership: Any) -> Array:
    m = array(membership, "membership", np.uint8, 1)
    if m.size and m.max() > 1:
        raise invalid("membership must be 1 for members and 0 for others")
    return m


def _membership(scores: Any, membership: Any) -> tuple[Array, Array]:
    """Scores of members and of non-members."""
    s, m = array(scores, "scores", np.float64, 1), _zeros_and_ones(membership)
    if len(s) != len(m):
        raise invalid(f"scores has {len(s)} values, but membership has {len(m)}")
    return s[m == 1], s[m == 0]


def _taken(given: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Takes arguments out of `given`; those that are None do not count."""
    found = {k: given.pop(k) for k in list(given) if k in names}
    return {k: v for k, v in found.items() if v is not None}


def _together(arrays: Mapping[str, Any], *names: str) -> None:
    if 0 < sum(n in arrays for n in names) < len(names):
        raise make("EUSAGE", f"{' and '.join(names)} must be given together")


def _counts(sizes: Sizes, c: Any) -> dict[str, int]:
    """Sizes that are members of a struct."""
    fields = dict(ffi.typeof(c).item.fields)
    return {size: n for size, (n, _) in sizes.known.items() if size in fields}


def _generative(given: dict[str, Any], sizes: Sizes) -> Any:
    """struct sotto_generative_input, or None."""
    arrays = _taken(given, _GENERATIVE)
    if not arrays:
        return None
    _together(arrays, "member_discriminator_scores", "nonmember_discriminator_scores")
    for name in ("reference_generated", "attacker_features"):
        if name in arrays and "generated" not in arrays:
            raise make("EUSAGE", f"{name} needs generated")
    if "generated" in arrays and not sizes["feature_count"]:
        raise make("EUSAGE", "generated needs member_features and nonmember_features")
    c = struct("generative_input")
    for name, value in arrays.items():
        member, *shape = _GENERATIVE[name].split()
        lend(c, name, member, shape, value, sizes)
    image = np.shape(arrays.get("generated", ()))
    if len(image) == 4 and image[1] in (1, 3) and image[2] * image[3] >= 4:
        fill(c, channels=image[1], height=image[2], width=image[3])
    return fill(c, **_counts(sizes, c))


def _attribute(given: dict[str, Any]) -> Any:
    """struct sotto_attribute_input, or None. Records that the attacker is tested on stand behind those that it knows."""
    arrays, tested = _taken(given, _ATTRIBUTE), _taken(given, _TESTED.values())
    deepest = given.pop("attribute_depth", None)
    if not arrays and not tested and deepest is None:
        return None
    for name in ("features", "attribute"):
        if name not in arrays:
            raise make("EUSAGE", "features and attribute must be given together")
    _together(tested, "attribute_test_features", "attribute_test")
    for name in ("attribute_outputs", "attribute_known"):
        if tested and name in arrays:
            raise make("EUSAGE", f"{name} cannot be combined with attribute_test_features; it needs a random split of features")
    c, sizes = struct("attribute_input", deepest=None if deepest is None else _call.whole(deepest, "attribute_depth", 3)), Sizes()
    if tested:
        _together({**arrays, **tested}, "attribute_labels", "attribute_test_labels")
        fill(c, n_aux=len(numpy_of(arrays["features"], "features")))
        for name, more in _TESTED.items():
            if name in arrays:
                arrays[name] = np.concatenate([numpy_of(arrays[name], name), numpy_of(tested[more], more)])
    for name, value in arrays.items():
        member, *shape = _ATTRIBUTE[name].split()
        lend(c, name, member, shape, value, sizes)
    classes = int(np.max(numpy_of(arrays["attribute_labels"], "attribute_labels"))) + 1 if "attribute_labels" in arrays else 0
    return fill(c, classes=classes, **_counts(sizes, c))


def _tokens(given: dict[str, Any], sizes: Sizes) -> Any:
    """struct sotto_token_input, or None: a row for each text, sorted by membership, which is taken as well."""
    arrays, lengths = _taken(given, _TOKENS), given.pop("token_lengths", None)
    if not arrays and lengths is None:
        return None
    membership = given.pop("membership", None)
    if "token_logprobs" not in arrays or membership is None:
        raise make("EUSAGE", "texts need token_logprobs and membership")
    if given.get("scores") is not None or sizes["n_member"] or sizes["n_nonmember"]:
        raise make("EUSAGE", "token_logprobs cannot be combined with outputs, losses or scores; give only one of them")
    if lengths is not None:
        arrays["token_logprobs"] = _cut(arrays["token_logprobs"], array(lengths, "token_lengths", np.int64, 1))
    m = _zeros_and_ones(membership)
    order, c, own = np.argsort(1 - m, kind="stable"), struct("token_input"), Sizes()
    own.say("texts", len(m), "membership")
    for name, value in arrays.items():
        member, *shape = _TOKENS[name].split()
        a = numpy_of(value, name)
        lend(c, name, member, shape, a[order] if len(a) == len(m) else a, own)
    sizes.say("n_member", int(m.sum()), "membership")
    sizes.say("n_nonmember", int(len(m) - m.sum()), "membership")
    return fill(c, **_counts(own, c))


def _cut(logprobs: Any, lengths: Array) -> Array:
    """Rows with NaN behind each text's end."""
    a = np.array(array(logprobs, "token_logprobs", np.float32, 2))
    if len(lengths) != len(a):
        raise invalid(f"token_lengths has {len(lengths)} of texts, but token_logprobs has {len(a)}")
    wrong = np.flatnonzero((lengths < 1) | (lengths > a.shape[1]))
    if wrong.size:
        raise invalid(f"token_lengths: row {wrong[0]} is {lengths[wrong[0]]}; expected 1 to {a.shape[1]} tokens")
    a[np.arange(a.shape[1]) >= lengths[:, None]] = np.nan
    return a


def _input(given: dict[str, Any]) -> Any:
    """struct sotto_audit_input of the arrays, which are taken out of `given`."""
    c, sizes = struct("audit_input"), Sizes()
    arrays = _taken(given, _ARRAYS)
    for one, other in (("logits", "probabilities"), ("reference", "reference_losses")):
        for references in (False, True):  # whose outputs may be of the other kind than the target's
            of_one, of_other = ([k for k in arrays if k.endswith("_" + end) and k.startswith("ref_") == references] for end in (one, other))
            if of_one and of_other:
                raise make("EUSAGE", f"give either {one.replace('_', ' ')} or {other.replace('_', ' ')}, not both")
    for name, value in arrays.items():
        member, *shape = _ARRAYS[name].split()
        lend(c, name, member, shape, value, sizes)
    tokens = _tokens(given, sizes)
    scores, membership = given.pop("scores", None), given.pop("membership", None)
    if (scores is None) != (membership is None):
        raise make("EUSAGE", "scores and membership must be given together")
    if scores is not None:
        inside, outside = _membership(scores, membership)
        sizes.say("n_member", len(inside), "membership")
        sizes.say("n_nonmember", len(outside), "membership")
        fill(c, member_scores=inside, nonmember_scores=outside)
    if sizes["n_all"]:
        sizes.say("n_all", sizes["n_member"] + sizes["n_nonmember"], "members and non-members together")
    return fill(c, tokens=tokens, generative=_generative(given, sizes), attribute=_attribute(given),
                probabilities=int(any(k.endswith("_probabilities") and not k.startswith("ref_") for k in arrays)),
                reference_kind=1 if "ref_logits" in arrays else 2 if "ref_probabilities" in arrays else 0,
                reference_losses=int(any(k.endswith("_reference_losses") for k in arrays)), **_counts(sizes, c))


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
          title: str | None = None, threads: int | None = None, progress: Progress = None, **options: Unpack[AuditOptions]) -> AuditResult:
    """Attacks on membership from saved answers of a model. What they find is measured: lower bounds with intervals, no guarantee.

    Give outputs of n members (records that trained the model) and m non-members as logits (n, K), probabilities (n, K), with
    labels (n), or losses (n), or `scores` with `membership`. Of a generative model: member_features and nonmember_features with samples,
    `generated`, or its discriminator's logits. Of a language model: token_logprobs (n, T) of texts, NaN behind a text's end, with
    `membership` (n). Attribute inference: `features` and a hidden `attribute`. Any array-like: NumPy arrays, tensors, lists, data
    frames. float32 and float64 in C order are not copied. claim: (epsilon, delta), or something with these attributes, to contradict.
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
    c = _input(given)
    chosen = _options(given, claim, coins, c.n_member + c.n_nonmember)
    inputs = [table(f"{kind}_input", True) for kind in ("audit", "generative", "token", "attribute")]
    _call.unknown("audit", given, [*inputs, table("audit")])
    out = ffi.gc(ffi.new("struct sotto_audit_result *"), lib.sotto_audit_result_free)
    profile = _profile(coins, certificate, threads)
    run(lib.sotto_audit, out, c, chosen, threads=threads, progress=progress)
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
        """A pandas DataFrame with one row for each attack and false-positive rate."""
        import pandas
        rows = []
        for a in self.values():
            for r in a.rates:
                tpr = r.tpr.rate if not r.refused else Estimate(*[float("nan")] * 3)
                rows.append({"attack": a.name, "auc": a.auc.estimate, "auc_lower": a.auc.lower, "auc_upper": a.auc.upper, "fpr": r.fpr,
                             "tpr": tpr.estimate, "tpr_lower": tpr.lower, "tpr_upper": tpr.upper,
                             "balanced_accuracy": a.balanced_accuracy.estimate, "advantage": a.advantage,
                             "epsilon_lower_bound": a.epsilon_lower_bound})
        return pandas.DataFrame(rows)

    def plot(self, ax: Any = None, *, log: bool = True) -> Any:
        """ROC curves of all attacks on a matplotlib Axes, which is returned. log: both axes are logarithmic."""
        if ax is None:
            from matplotlib import pyplot
            ax = pyplot.subplots()[1]
        least = 1 / (2 * max(self.n_nonmember, 1))
        for a in self.values():
            ax.plot(np.maximum(a.roc["fpr"], least if log else 0), a.roc["tpr"], label=f"{a.name} (AUC {a.auc.estimate:.3f})",
                    drawstyle="steps-post", linewidth=1)
        ax.plot([least, 1], [least, 1], color="grey", linestyle=":", linewidth=1)
        if log:
            ax.set(xscale="log", yscale="log", xlim=(least, 1), ylim=(least, 1.05))
        ax.set(xlabel="false-positive rate", ylabel="true-positive rate")
        ax.legend(fontsize="small")
        return ax

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

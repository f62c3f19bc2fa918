"""Membership attacks that ask a model: any function in this process, a module of PyTorch, a classifier of scikit-learn, a file of sotto."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _call
from ._audit import Arrays, AuditResult
from ._call import Array, Progress, array, ffi, fill, invalid, lib, numpy_of, out_text, run, struct, table
from ._encoder import Encoder
from ._model import Classifier
from .errors import InvalidArgument, make

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import AttackOptions, EncoderAttackOptions, ShadowOptions, ViewOptions

__all__ = ["attack", "attack_encoder", "attacks"]

Output = Literal["probabilities", "logits", "labels"]
Records = tuple[Any, Any]


def _softmax(z: Array) -> Array:
    p = np.exp(z - z.max(1, keepdims=True))
    return np.asarray(p / p.sum(1, keepdims=True))


def _is_module(model: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


class _Asked:
    """A model as the attack sees it: float32 rows (n, inputs) to posteriors (n, classes)."""

    def __init__(self, model: Any, shape: tuple[int, ...], output: Output | None, device: Any, query_batch: int) -> None:
        self.shape, self.output, self.batch, self.name = shape, output, query_batch, "model"
        self.labels: Array | None = None
        self.classes = 0
        if output not in (None, "probabilities", "logits", "labels"):
            raise invalid(f"output must be 'probabilities', 'logits' or 'labels' (got {output!r})")
        if _is_module(model):
            self.usual: Output = "logits"
            self.call = self._of_module(model, device)
        elif hasattr(model, "predict_proba"):
            self.usual, self.call = "probabilities", model.predict_proba
            self.labels = np.asarray(model.classes_)
            self.classes = len(self.labels)
        elif callable(model):
            self.usual, self.call = "probabilities", model
        else:
            raise invalid(f"model must be a function, an nn.Module, a classifier with predict_proba a Head, a Network or a path (got {type(model).__name__})")

    @staticmethod
    def _of_module(module: Any, device: Any) -> Callable[[Array], Any]:
        torch: Any = sys.modules["torch"]
        first = next((p for p in module.parameters() if p.is_floating_point()), None)
        place = device if device is not None else first.device if first is not None else "cpu"
        dtype = first.dtype if first is not None else torch.float32

        def call(x: Array) -> Any:
            with torch.no_grad():
                return module(torch.from_numpy(x).to(device=place, dtype=dtype))

        return call

    def labels_of(self, y: Any, name: str) -> Array:
        """Labels as numbers of columns: those of a classifier are looked up in its classes_."""
        if self.labels is None:
            return array(y, name, np.int64, 1)
        given = np.asarray(y)
        order = np.argsort(self.labels)
        at = np.minimum(np.searchsorted(self.labels, given, sorter=order), self.classes - 1)
        found = order[at]
        wrong = self.labels[found] != given
        if given.ndim != 1 or np.any(wrong):
            bad = given[wrong][:1] if given.ndim == 1 else given.shape
            raise invalid(f"{name}: {bad} is not among the model's classes_ {self.labels[:5]}; expected one label for each record")
        return found.astype(np.int64)

    def probe(self, x: Array, classes: int | None) -> int:
        """The number of classes: given, the model's own, or the width of the answer to one row."""
        if classes is not None:
            self.classes = _call.whole(classes, "classes", 2)
        elif not self.classes:
            if self.output == "labels":
                raise make("EUSAGE", "a model that answers labels does not tell how many classes there are; give classes=")
            self.classes = self._raw(x[:1]).shape[1]
        return self.classes

    def _raw(self, x: Array) -> Array:
        rows = np.ascontiguousarray(x, np.float32).reshape(len(x), *self.shape)
        answer = numpy_of(self.call(rows), "the model's answer")
        want = 1 if self.output == "labels" else 2
        if answer.ndim != want or len(answer) != len(x) or (want == 2 and answer.shape[1] < 2):
            raise invalid(f"the model answered shape {answer.shape} to {len(x)} rows; expected ({len(x)},{'' if want == 1 else ' classes'})",
                          "wrap the model in a function that answers probabilities of all classes, or of labels with output='labels'")
        return answer

    def __call__(self, x: Array) -> Array:
        return np.concatenate([self._answer(x[i : i + self.batch]) for i in range(0, len(x), self.batch)])

    def _answer(self, x: Array) -> Array:
        answer = self._raw(x)
        if self.output == "labels":
            if self.labels is not None or answer.dtype.kind == "f":
                answer = self.labels_of(answer, "the model's answer")
            if answer.min() < 0 or answer.max() >= self.classes:
                raise invalid(f"the model answered label {answer[(answer < 0) | (answer >= self.classes)][0]}; classes are 0 to {self.classes - 1}")
            return np.eye(self.classes, dtype=np.float32)[answer.astype(np.int64)]
        if answer.shape[1] != self.classes:
            raise invalid(f"the model answered {answer.shape[1]} classes; expected {self.classes}")
        if not np.all(np.isfinite(answer)):
            raise invalid("the model answered values that are not finite")
        sums = bool(np.all(answer >= 0) and np.all(np.abs(answer.sum(1, dtype=np.float64) - 1) <= 1e-3))
        how = self.output or self.usual
        if how == "probabilities" and not sums:
            raise invalid("the model's answers are no probabilities: a row does not sum to 1 within 1e-3", "say output='logits' if they are logits")
        if self.output is None and how == "logits" and sums:
            raise invalid("the model's answers look like probabilities, but those of an nn.Module are taken as logits",
                          "say output='probabilities', or output='logits' if they are logits")
        answer = np.asarray(answer, np.float32)
        return answer if how == "probabilities" else _softmax(answer)


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """A module of PyTorch in evaluation mode; every part of it has its old mode afterwards."""
    modes = [(m, m.training) for m in model.modules()] if _is_module(model) else []
    try:
        if modes:
            model.eval()
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def _shape_of(member: Records) -> tuple[int, ...]:
    try:
        x, _ = member
    except (TypeError, ValueError):
        raise invalid("member must be a pair of records and labels, (x, y)") from None
    shape = tuple(np.shape(x))
    if len(shape) < 2:
        raise invalid(f"member: records have shape {shape}; expected (n, ...)")
    return shape[1:]


def _records(pair: Records | None, name: str, labels: Callable[[Any, str], Array], shape: tuple[int, ...] | None) -> Any:
    """struct sotto_records of (x, y). shape: of a record; None: any."""
    if pair is None:
        return None
    try:
        x, y = pair
    except (TypeError, ValueError):
        raise invalid(f"{name} must be a pair of records and labels, (x, y)") from None
    a = array(x, name, np.float32)
    if a.ndim < 2 or (shape is not None and a.shape[1:] != shape):
        raise invalid(f"{name}: records have shape {a.shape}; expected (n, {', '.join(map(str, shape)) if shape else '...'})")
    b = labels(y, name)
    if len(a) != len(b):
        raise invalid(f"{name}: {len(a)} records, but {len(b)} labels")
    return struct("records", x=a.reshape(len(a), -1), y=b, n=len(a))


def _image(shape: tuple[int, ...], image: Any) -> dict[str, int]:
    """What image a row is: given, or the shape of records (C, H, W) with 1 or 3 channels, or (H, W)."""
    if image is None:
        image = shape if len(shape) == 3 and shape[0] in (1, 3) else (1, *shape) if len(shape) == 2 else (0, 0, 0)
    if len(image) != 3 or (any(image) and np.prod(image) != np.prod(shape)):
        raise invalid(f"image must be (channels, height, width) of a record of {int(np.prod(shape))} numbers (got {image!r})")
    return dict(zip(("channels", "height", "width"), map(int, image)))


def _target(model: Any, asked: _Asked | None, classes: int) -> Any:
    out = ffi.new("struct sotto_target **")
    if isinstance(model, Classifier):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            with open(path, "wb") as f:
                f.write(model._bytes())
            return _target(path, None, 0)
    if asked is None:
        run(lib.sotto_target_open, out, os.fsencode(model))
        return ffi.gc(out[0], lib.sotto_target_close)
    served = _call.Model(asked, int(np.prod(asked.shape)), classes)
    run(lib.sotto_target_open_function, out, b"model", lib.sotto_python_model, served.handle, served.inputs, classes)
    target = ffi.gc(out[0], lib.sotto_target_close)
    _call.keep(target, served)
    return target


def _shown(name: str, given: Mapping[str, Any]) -> str:
    """The call, for the report: data and models are left out."""
    parts = [f"{k}={v!r}" for k, v in given.items() if v is not None]
    return ", ".join([f"sotto.attack(model, {name!r}, member=..., nonmember=...", *parts]) + ")"


def attack(model: Any, name: str, *, member: Records, nonmember: Records, attacker: Records | None = None, other: Records | None = None,
           known_member: Records | None = None, known_nonmember: Records | None = None, shadow: ShadowOptions | None = None,
           classes: int | None = None, output: Output | None = None, image: tuple[int, int, int] | None = None, device: Any = None,
           budget: int | None = None, query_batch: int = 1024, title: str | None = None, threads: int | None = None,
           progress: Progress = None, **more: Unpack[AttackOptions]) -> AuditResult:
    """Runs a membership attack on a model. What it finds is measured: no guarantee.

    model: a function of float32 rows (n, ...) to probabilities (n, classes); an nn.Module, which is taken to answer logits and is in
    evaluation mode, without gradients, meanwhile; a classifier with predict_proba; or a Head, a Network or the path of one, which
    white-box attacks need. It is asked in the calling thread, and its exceptions arrive unchanged.
    name: one of attacks(). member, nonmember: (records (n, ...), labels (n)); members trained the model. attacker: records of the model's
    kind that did not train it, for shadow models. other: of another data set. known_member, known_nonmember: for "white-box".
    shadow: how shadow models are trained, such as {"hidden": [64], "epochs": 50, "batch": 25, "lr": 1e-3}; attacks that train
    them need it, as only a Head or Network tells how it was trained.
    classes: default: of the answer to one row, which is asked beforehand. output: "probabilities", "logits" or "labels".
    image: (channels, height, width) of a row [the records' own shape]. device: of an nn.Module's rows [of its weights].
    budget: rows that may be asked; more raise BudgetExceeded. query_batch: rows in one call of the model, at most 1024.
    fpr, confidence, delta: as of audit(). Other options are those of `sotto attack`, such as shadows=16.

    Returns an AuditResult; its `scores` (n_member + n_nonmember), members first, are higher for records that look more like members.

    >>> import numpy as np, sotto
    >>> x, y = np.random.default_rng(1).normal(size=(200, 4)).astype("f4"), np.arange(200) % 2
    >>> def model(rows):  # knows its first hundred records by heart
    ...     seen = (rows[:, None] == x[:100]).all(2).any(1)
    ...     return np.stack([.5 + .4 * seen, .5 - .4 * seen], 1)
    >>> sotto.attack(model, "ml-leaks-3", member=(x[:100], y[:100]), nonmember=(x[100:], y[100:])).worst.auc.estimate
    1.0
    """
    given: dict[str, Any] = dict(more)
    command = _shown(name, {"shadow": dict(shadow) if shadow else None, **given})
    asked, shape = None, _shape_of(member)
    if not isinstance(model, (str, os.PathLike, Classifier)):
        asked = _Asked(model, shape, output, device, min(_call.whole(query_batch, "query_batch", 1), 1024))
    labels = asked.labels_of if asked else lambda y, what: array(y, what, np.int64, 1)
    pairs = {"member": member, "nonmember": nonmember, "attacker": attacker, "known_member": known_member, "known_nonmember": known_nonmember}
    sets = {k: _records(pair, k, labels, shape) for k, pair in pairs.items()}
    options, changes, audit = table("attack"), table("shadow"), table("audit")
    c = struct("attack_options", name=name, **_image(shape, image))
    shard = given.pop("shard", None)
    if shard is not None:
        fill(c, shard=_call.whole(shard[0], "shard", 0), shards=_call.whole(shard[1], "shards", 1))
    options.set(c, options.take(given))
    how: dict[str, Any] = dict(shadow or {})
    changed = changes.set(struct("shadow_recipe"), changes.take(how))
    _call.unknown("attack: shadow", how, [changes])
    measured = audit.set(struct("audit_options"), {k: given.pop(k) for k in ("fpr", "confidence", "delta") if k in given})
    _call.unknown("attack", given, [options])
    fill(c, shadow=changed, audit=measured)
    with _evaluating(model):
        first = ffi.buffer(sets["member"].x, int(np.prod(shape)) * 4)
        target = _target(model, asked, asked.probe(np.frombuffer(first, np.float32)[None], classes) if asked else 0)
        if budget is not None:
            lib.sotto_target_set_budget(target, _call.whole(budget, "budget", 0))
        whole = struct("attack_input", target=target, **sets)
        if other is not None:
            more = _records(other, "other", lambda y, what: array(y, what, np.int64, 1), None)
            fill(whole, other=more, other_inputs=int(np.prod(np.shape(other[0])[1:])), other_classes=int(np.max(numpy_of(other[1], "other"))) + 1)
        return _run(whole, c, title, command, threads, progress)


def _spelled(text: str) -> str:
    """The parameters of attack() for members that an error names."""
    shadow = {o.name.replace("-", "_") for o in table("shadow")}
    found: dict[str, None] = {}
    for name in re.findall(r"\b([a-z_]+)=", text):
        if name == "target":
            found["a Head, a Network or a path as model"] = None
        elif name in ("member", "nonmember", "attacker", "other"):
            found[f"{name}=(x, y)"] = None
        elif name in shadow:
            found[f"shadow={{{name!r}: ...}}"] = None
    return f"in Python: {', '.join(found)}" if found else ""


def _run(whole: Any, c: Any, title: str | None, command: str, threads: int | None, progress: Progress) -> AuditResult:
    out = ffi.gc(ffi.new("struct sotto_audit_result *"), lib.sotto_audit_result_free)
    scores = np.zeros(whole.member.n + whole.nonmember.n)
    finished = ffi.new("int *")
    try:
        run(lib.sotto_attack, out, ffi.from_buffer("double[]", scores), finished, whole, c, threads=threads, progress=progress)
    except InvalidArgument as e:
        if hint := _spelled(str(e)):  # features and labels are one parameter
            raise make(e.status, re.sub(r"(\b\w+=) and \1", r"\1", str(e)), hint, e.key) from None
        raise
    return AuditResult(out, title, scores if finished[0] else None, command)


def attacks() -> dict[str, str]:
    """Names of the attacks of attack() and a line about each.

    >>> attacks()["lira"]
    'LiRA, online, shadow models trained on halves of the records (64 models)'
    """
    lines = [line.split() for line in out_text(lib.sotto_attack_table).splitlines() if line.strip()]
    return {words[0]: " ".join(words[1:]) for words in lines}


_SIDES = ("member", "nonmember", "shadow_member", "shadow_nonmember")


def _embedded(arrays: dict[str, Any], side: str, images: Any, encoder: Encoder, how: Mapping[str, Any], threads: int | None) -> None:
    """Embeddings of a side's images and of their views."""
    if images is not None:
        arrays[f"{side}_plain"] = encoder.embed(images, threads=threads)
        if side in _SIDES:
            arrays[f"{side}_views"] = encoder.embed_views(images, threads=threads, **how)


def attack_encoder(encoder: Encoder | None = None, shadow_encoder: Encoder | None = None, *, member: Any = None, nonmember: Any = None,
                   shadow_member: Any = None, shadow_nonmember: Any = None, bank: Any = None, views: ViewOptions | None = None,
                   title: str | None = None, threads: int | None = None, progress: Progress = None, **more: Unpack[EncoderAttackOptions]) -> AuditResult:
    """Membership in the pre-training set of an ENCODER: EncoderMI (vector, set, threshold), contrastive loss, norm. Measured: no guarantee.

    encoder, shadow_encoder: the one under attack, and one of the attacker's own. member, nonmember: images that did, and did not,
    pre-train the first; shadow_member, shadow_nonmember: likewise the second (at least 20 each). bank: images in neither set, for the
    contrastive loss. views: options of Encoder.embed_views(), such as {"views": 10}.
    Of encoders of other programs: embeddings instead of all of these, member_views, nonmember_views, shadow_member_views,
    shadow_nonmember_views (n, views, d), member_plain, nonmember_plain, shadow_member_plain, shadow_nonmember_plain, bank_plain,
    shadow_bank_plain (n, d). Without a shadow only the mean similarity of views and the contrastive loss are run.
    temperature [.1]; fpr, confidence, delta, seed [1; of the views as well]: as of audit(). Returns an AuditResult; its scores (5, n_member + n_nonmember) are in
    the order of the attacks."""
    options, audit = table("encoder_attack", True), table("audit")
    given: dict[str, Any] = {"seed": int(audit.by_name["seed"].default), **{k: v for k, v in more.items() if v is not None}}
    arrays = {o.name: given.pop(o.name) for o in options if o.row.shape != ffi.NULL and o.name in given}
    images = {"member": member, "nonmember": nonmember, "shadow_member": shadow_member, "shadow_nonmember": shadow_nonmember, "bank": bank}
    if any(v is not None for v in images.values()) != (encoder is not None) or (encoder is not None and arrays):
        raise make("EUSAGE", "give either encoder and images, or embeddings (member_views, member_plain, ...)")
    for side, pixels in images.items():
        own = shadow_encoder if side.startswith("shadow") else encoder
        if pixels is not None and own is None:
            raise make("EUSAGE", f"{side} needs shadow_encoder")
        if own is not None:
            _embedded(arrays, side, pixels, own, {"seed": given["seed"], **(views or {})}, threads)
    if bank is not None and shadow_encoder is not None:
        _embedded(arrays, "shadow_bank", bank, shadow_encoder, {}, threads)
    inputs, c = Arrays(), struct("encoder_attack_input")
    inputs.take(options, arrays)
    run(lib.sotto_arrays_encoder_attack, c, inputs.c, here=True)
    options.set(c, {"temperature": given.pop("temperature", None)})
    measured = audit.set(struct("audit_options"), {k: given.pop(k) for k in ("fpr", "confidence", "delta", "seed") if k in given})
    _call.unknown("attack_encoder", given, [options])
    out = ffi.gc(ffi.new("struct sotto_audit_result *"), lib.sotto_audit_result_free)
    scores = np.zeros((5, c.member.n + c.nonmember.n))
    run(lib.sotto_encoder_attack, out, ffi.from_buffer("double[]", scores), c, measured, threads=threads, progress=progress)
    result = AuditResult(out, title, None, "sotto.attack_encoder(...)")
    result._scores = scores[: len(result)]
    return result

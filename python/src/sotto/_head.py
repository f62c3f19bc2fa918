"""Softmax heads on features or embeddings: plain, with a proved sensitivity, or with noise and a certificate."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _tensors
from ._call import Array, Progress, array, c_text, ffi, fill, invalid, keep, lib, noise_in, noise_once, pointer, run, struct, table, text_of, unknown, whole
from ._canaries import asked_canaries, make_canaries
from ._certificate import Certificate
from ._dataset import Dataset, filled, quiet_features
from ._ledger import Ledger, charge, spend_of, unknown_charge
from ._model import Classifier
from ._records import Record
from ._release import quiet_labels
from ._shaped import Shaping, shaped_of
from ._encoder import Encoder
from .errors import SottoError, make

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import HeadOptions

__all__ = ["Head", "train_head"]

Path = str | os.PathLike[str]


class Head(Classifier):
    """A softmax head, which answers as a classifier of scikit-learn does.

    Made by train_head(), load() or from_state_dict(). Records are features (n, inputs)."""

    _kind = "head"
    _recipe = ("head_recipe", "head_recipe")

    @property
    def recipe(self) -> Record | None:
        """How it was trained: members of struct sotto_head_recipe (include/sotto/head.h). None: made elsewhere."""
        return self._read_recipe(lib.sotto_head_get_recipe(self._c))

    @property
    def encoder(self) -> str | None:
        """SHA-256 of the encoder that made the features, or None."""
        return text_of(lib.sotto_head_encoder(self._c)) or None

    def _answers(self, x: Any, logits: int, threads: int | None, given: dict[str, Any]) -> Array:
        unknown("predict", given, [])
        a = array(x, "x", np.float32, 2)
        out = np.empty((len(a), self.classes), np.float32)
        run(lib.sotto_head_predict, pointer(out, "float *"), self._c, pointer(a, "float *"), *a.shape, logits, threads=threads)
        return out

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> Head:
        """A head of tensors or arrays "0.weight", "0.bias", "2.weight", ... How it was trained is not known."""
        return cls._of_bytes(_tensors.file_of(state))

    def __repr__(self) -> str:
        r = self.recipe
        return f"Head({self.inputs} features, {self.classes} classes{f', trainer {r.trainer}' if r else ''}, {self._told()})"


def train_head(x: Any, y: Any, *, classes: int | None = None, ledger: Ledger | None = None, source: Dataset | None = None,
               groups: Any = None, labels_from: int = 0, encoder: Path | None = None, output: Path | None = None, fresh: bool = False,
               threads: int | None = None, progress: Progress = None, **options: Unpack[HeadOptions]) -> Head:
    """Trains a softmax head on features x (n, d) with labels y (n).

    trainer: "adam" (default), "sgd": plain, nothing is proved. "convex", "convex-sgd", "convex-lbfgs": with a proved sensitivity, to be
        released by sotto.protect(). "dp-sgd", "dp-adam", "dp-gd" (noise in every step), "objective" (pure epsilon), "covariance", "functional",
        "functional-linear", "taylor" (one noisy release of second moments): private; they need `ledger`, `classes`, and epsilon or noise_multiplier.
    classes: public number of classes; it is never read off private labels. None: that of `source`; of "adam" and "sgd" the largest
        label + 1. ledger: is charged for the whole run before its first step. source: Dataset of the same records in the same order:
        their identity. groups (n): the person of each record, of "dp-sgd" and "dp-adam": steps sample and clip whole persons, at the epsilon
        of one record whatever their number of records; epsilon is conditional on that. labels_from: number of the first class, 0 or 1. encoder: file of the encoder that made x.
    output: file to write. A private run keeps its state in OUTPUT.checkpoint, so that the same call continues one that was stopped,
        and is refused before it is charged if the file cannot be written. fresh: True forgets that state. canaries, canary_kind,
        canary_public: records made to be found again (sotto.audit(one_run_guesses=...)); they need `output`.
    Other keyword arguments are the options of `sotto head`, with underscores: hidden, epochs, batch, lr, lambda_, clip, epsilon, delta
        [1 / (10 n), rounded down to a power of ten; "objective": 0], adjacency, sampling, max_grad_norm, purpose, ...

    Private trainers refuse, log and count nothing that depends on what the records hold: a label that is no class, or features that
    are not finite, make a record that counts as nothing. Ctrl-C waits for the end of the step and names what was charged.

    Raises InvalidArgument by parameter, BudgetExceeded, Diverged.

    >>> import numpy as np
    >>> x, y = np.eye(4)[[0, 1, 2, 3] * 50], [0, 0, 1, 1] * 50
    >>> sotto.train_head(x, y, epochs=30, lr=.1).score(x, y)
    1.0
    >>> ledger = sotto.Ledger(folder / "eye.jsonl", dataset="eye")
    >>> head = sotto.train_head(x, y, classes=2, trainer="dp-sgd", epsilon=3, batch=50, lr=1, ledger=ledger)
    >>> head.certificate.proved, round(float(head.certificate.epsilon), 3)
    (True, 3.0)
    """
    given: dict[str, Any] = dict(options)
    recipe_table = table("head_recipe")
    trainer = given.get("trainer") or "adam"
    if not isinstance(trainer, str):
        raise invalid(f"trainer must be a text (got {trainer!r})")
    run(lib.sotto_head_trainer_check, trainer.encode())
    for name in given:
        row = recipe_table.by_name.get(name)
        if row is not None and given[name] is not None and not lib.sotto_head_trainer_reads(trainer.encode(), row.key.encode()):
            raise make("EUSAGE", f"{name} makes no difference to trainer {trainer!r}")
    private, silent = lib.sotto_head_trainer_private(trainer.encode()), lib.sotto_head_trainer_silent(trainer.encode())
    if private and ledger is None:
        raise make("EUSAGE", f"trainer {trainer!r} charges a ledger; give ledger=sotto.Ledger(path, dataset=...)")
    if not private and ledger is not None:
        raise make("EUSAGE", f"ledger= needs a trainer with noise (dp-sgd, covariance, ...); trainer {trainer!r} adds none")
    if silent:
        a, labels = quiet_features(x, "x"), quiet_labels(y, "y", labels_from)
    else:
        a, labels = array(x, "x", np.float32, 2), array(y, "y", np.int64, 1) - whole(labels_from, "labels_from", 0)
    if len(a) != len(labels) or source is not None and len(source) != len(a):
        raise invalid(f"x has {len(a)} records, y {len(labels)}{f', source {len(source)}' if source is not None else ''}; expected as many")
    classes_by = None
    if classes is not None:
        classes = whole(classes, "classes", 1)
    elif source is not None and source.classes_by:
        classes, classes_by = source.classes, source.classes_by
    elif silent:
        raise make("EUSAGE", f"trainer {trainer!r} needs public classes, which it does not derive from the labels; give classes=K")
    else:
        classes = int(labels.max(initial=0)) + 1
    if groups is not None and not lib.sotto_head_trainer_reads(trainer.encode(), b"rows_per_step"):
        raise make("EUSAGE", f"groups= makes no difference to trainer {trainer!r}; expected dp-sgd or dp-adam")
    path = None if output is None else os.fspath(output)
    shaped = (*shaped_of(x), *(() if encoder is None else _of_encoder(encoder)))
    recipe = recipe_table.set(struct("head_recipe"), recipe_table.take(given))
    if ledger is None:
        return _train(a, labels, classes, recipe, given, classes_by=classes_by, source=source, shaped=shaped, encoder=encoder, path=path, fresh=fresh,
                      threads=threads, progress=progress)
    return _train_private(a, labels, classes, recipe, given, classes_by=classes_by, ledger=ledger, source=source, shaped=shaped, encoder=encoder,
                          groups=groups, path=path, fresh=fresh, threads=threads, progress=progress)


def _of_encoder(path: Path) -> tuple[Shaping, ...]:
    try:
        return Encoder.load(path)._shaped
    except SottoError:  # of another program
        return (Shaping("encoder", os.path.basename(os.fspath(path))),)


def _logits_on(head: Head, records: Any) -> Array:
    out = np.empty((records.n, head.classes), np.float32)
    run(lib.sotto_head_predict, pointer(out, "float *"), head._c, records.features, records.n, records.columns, 1)
    return out


def _train(x: Array, y: Array, classes: int, recipe: Any, given: dict[str, Any], *, classes_by: str | None,
           source: Dataset | None, shaped: tuple[Shaping, ...], encoder: Path | None, path: str | None, fresh: bool, threads: int | None,
           progress: Progress) -> Head:
    canaries = make_canaries(filled(x, y, classes, "features", None), None, len(x), seed=recipe.seed, output=path, fresh=fresh, given=given)
    _refuse_private(given)
    unknown("train_head", given, [table("head_recipe"), table("canary")])
    rows = _rows(canaries, x, y)
    keep(recipe, canaries)  # until the call has ended, even if its caller has left
    out = ffi.new("struct sotto_head **")
    run(lib.sotto_head_train, out, *rows, classes, recipe, threads=threads, progress=progress)
    head = Head(out[0], None, source, shaped)
    _describe(head, encoder)
    if recipe.trainer != ffi.NULL and lib.sotto_head_trainer_silent(recipe.trainer):
        run(lib.sotto_head_set_classes_by, head._c, c_text(classes_by or "the caller"))
    if path is not None:
        head.save(path)
    if canaries is not None:
        canaries.save(lambda r: _logits_on(head, r))
    return head


def _rows(canaries: Any, x: Array, y: Array) -> tuple[Any, ...]:
    """x, y, n, d as C takes them."""
    if canaries is None:
        return pointer(x, "float *"), pointer(y, "int64_t *"), *x.shape
    return canaries.data.features, canaries.data.labels, canaries.data.n, canaries.data.columns


def _refuse_private(given: Mapping[str, Any]) -> None:
    private = [table("head_privacy"), table("spend")]
    for name in given:
        if any(name in t.by_name for t in private):
            raise make("EUSAGE", f"{name}= needs a trainer with noise (dp-sgd, covariance, ...)")


def _describe(head: Head, encoder: Path | None) -> None:
    if encoder is not None:
        run(lib.sotto_head_set_encoder_file, head._c, c_text(encoder))


def persons_of(groups: Any, n: int) -> Array | None:
    """The person of each record as numbers from 0; groups (n): anything that can be compared."""
    if groups is None:
        return None
    names = np.asarray(groups)
    if names.ndim != 1 or len(names) != n:
        raise invalid(f"groups has shape {names.shape}, x has {n} records; expected the person of each")
    if any(name is None or name != name for name in names.tolist()):
        raise invalid("groups: a value is missing; expected the person of each record")
    try:
        return np.unique(names, return_inverse=True)[1].reshape(n).astype(np.int64)
    except TypeError as error:
        raise invalid(f"groups: {error}; expected values of one type") from error


def _train_private(x: Array, y: Array, classes: int, recipe: Any, given: dict[str, Any], *, classes_by: str | None, ledger: Ledger,
                   source: Dataset | None, shaped: tuple[Shaping, ...], encoder: Path | None, groups: Any, path: str | None, fresh: bool,
                   threads: int | None, progress: Progress) -> Head:
    options = table("head_privacy")
    privacy = options.set(struct("head_privacy", classes_by=classes_by, output=path, persons=persons_of(groups, len(x))), options.take(given))
    noise_once("train_head", "noise_multiplier", recipe.noise_multiplier != 0, *noise_in(privacy))
    if privacy.adjacency == lib.SOTTO_ADD_REMOVE:  # the number of records is public
        privacy.adjacency = lib.SOTTO_ZERO_OUT
    spend = spend_of(ledger, given, source, shaped=shaped)
    canaries, public = asked_canaries(given, path, x.shape[1])
    unknown_charge("train_head", given, "head_recipe", "head_privacy", "canary")
    request = struct("head_release_request", x=x, y=y, n=len(x), d=x.shape[1], classes=classes, recipe=recipe, privacy=fill(privacy, spend=spend),
                     canaries=canaries, files={"encoder": encoder}, fresh=int(fresh))
    if public is not None:
        fill(request, public_rows=public, public_n=len(public))
    out = ffi.new("struct sotto_head_release_result *")
    head = charge(ledger, lambda: Head(out.head, Certificate(out.certificate), source), lib.sotto_head_release, out, request, threads=threads,
                  progress=progress, made=lambda: out.head != ffi.NULL)
    if path is not None:
        head._saved_at(path)
    return head

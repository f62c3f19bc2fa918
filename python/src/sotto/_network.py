"""Networks on images or rows of tables: plain training, DP-SGD, noisy inputs, fine-tuning."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._call import Array, Progress, array, ffi, fill, invalid, keep, lib, noise_in, noise_once, numpy_of, pointer, run, struct, table, text_of, unknown, whole
from ._canaries import Canaries, asked_canaries, make_canaries
from ._certificate import Certificate
from ._dataset import Dataset, filled
from ._ledger import Ledger, charge, spend_of, unknown_charge
from ._model import Classifier, Path
from ._records import Record, read
from ._release import quiet_labels
from ._shaped import Shaping, shaped_of
from .errors import make

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import NetworkOptions

__all__ = ["Network", "train_network"]


class Network(Classifier):
    """A network, which answers as a classifier of scikit-learn does.

    Made by train_network() or load(). Records are images uint8 (n, C, H, W), (n, H, W, C) or (n, H, W), the same as floats in [0, 1], rows
    (n, inputs), or a Dataset. Of a network with noise every answer has fresh noise; repeats: answers that are averaged, average: "logits"
    or "softmax", seed: of the noise, are options of each call. training: of train_network(): steps, loss, accuracy, seconds, dtype, backend;
    loss and accuracy of private records are NaN."""

    _kind = "network"
    _recipe = ("train_options", "train")

    def __init__(self, c: Any, certificate: Certificate | None = None, source: Dataset | None = None, training: Record | None = None,
                 shaped: tuple[Shaping, ...] = ()) -> None:
        super().__init__(c, certificate, source, shaped)
        self._training = training

    @property
    def training(self) -> Record | None:
        return self._training

    @property
    def recipe(self) -> Record | None:
        """How it was trained: members of struct sotto_train_options (include/sotto/lab/train.h). None: made elsewhere."""
        return self._read_recipe(lib.sotto_network_recipe(self._c))

    @property
    def parameters(self) -> int:
        """Number of weights."""
        return int(lib.sotto_network_parameters(self._c))

    @property
    def sha256(self) -> str:
        """Of names and values of the weights."""
        return text_of(lib.sotto_network_sha256(self._c))

    def _answers(self, x: Any, logits: int, threads: int | None, given: dict[str, Any]) -> Array:
        options = table("answer")
        run(lib.sotto_network_set_answers, self._c, options.set(struct("answer_options"), options.take(given)))
        unknown("predict", given, [options])
        if isinstance(x, Dataset):
            data, rows, n = x._c, x._c_rows(), len(x)
        else:
            a = _values(x, "x", quiet=False)[0]
            data, rows, n = filled(a, np.zeros(0, np.int64), 0, "x", None), ffi.NULL, len(a)
            data.labels = ffi.NULL
        out = np.empty((n, self.classes), np.float32)
        if data.images != ffi.NULL:
            run(lib.sotto_network_predict_data, pointer(out, "float *"), self._c, data, rows, n, logits, threads=threads)
        else:
            f = x.features if isinstance(x, Dataset) else a
            assert f is not None
            f = np.ascontiguousarray(f)
            run(lib.sotto_network_predict, pointer(out, "float *"), self._c, pointer(f, "float *"), *f.shape, logits, threads=threads)
        return out

    def __repr__(self) -> str:
        r = self.recipe
        return f"Network({f'{r.model}, ' if r else ''}{self.inputs} inputs, {self.classes} classes, {self.parameters} parameters, {self._told()})"


def _values(x: Any, name: str, quiet: bool) -> tuple[Array, tuple[int, int, int] | None]:
    """uint8 images (n, C, H, W); or float32 rows (n, columns), with (C, H, W) if they are images. quiet: what is refused depends on the
    type and the shape alone, and the values are copied, so that no other thread changes what was clipped."""
    a = numpy_of(x, name)
    if a.ndim == 3:
        a = a[:, None]
    if a.ndim == 4 and a.shape[1] not in (1, 3) and a.shape[3] in (1, 3):
        a = a.transpose(0, 3, 1, 2)
    if a.ndim not in (2, 4) or not all(a.shape):
        raise invalid(f"{name} has shape {a.shape}; expected images (n, C, H, W), (n, H, W, C) or (n, H, W), or rows (n, columns)")
    if a.ndim == 4 and a.dtype == np.uint8:
        return np.array(a, order="C") if quiet else np.ascontiguousarray(a), None
    if a.ndim == 4 and a.dtype.kind != "f":
        raise invalid(f"{name} has dtype {a.dtype}; expected images as uint8 or floats in [0, 1]")
    shape = (a.shape[1], a.shape[2], a.shape[3]) if a.ndim == 4 else None
    with np.errstate(all="ignore"):
        rows = np.array(a, np.float32, order="C") if quiet else array(a, name, np.float32)
    return rows.reshape(len(rows), -1), shape


def train_network(x: Any, y: Any = None, *, classes: int | None = None, dp_sgd: bool = False, certify_inputs: bool = False,
                  ledger: Ledger | None = None, source: Dataset | None = None, image: Sequence[int] | None = None, labels_from: int = 0,
                  output: Path | None = None, fresh: bool = False, threads: int | None = None, progress: Progress = None,
                  **more: Unpack[NetworkOptions]) -> Network:
    """Trains a network on images or rows x with labels y (n), or on a Dataset.

    x: images uint8 (n, C, H, W), (n, H, W, C) or (n, H, W), or the same as floats in [0, 1]; rows (n, columns), which are images with
        image=(C, H, W). A Dataset brings its labels, its classes and the identity of its records.
    Plain training proves nothing. dp_sgd: clipped gradients of random batches and noise in every step. certify_inputs: a private release of
        all inputs once an epoch, clipped to `radius`; labels count as public without label_epsilon. Both need `ledger`, which is charged
        before the first step, public `classes`, and epsilon (dp_sgd: or noise_multiplier; certify_inputs: or input_noise).
    from_: file of an encoder, or of a network, to fine-tune; freeze: "none", "norm", a number of blocks, or "all"; encoder_by: who states
        that it is public, where nothing beside the file does.
    classes, source, labels_from, output, fresh, canaries: as of train_head().
    Other keyword arguments are the options of `sotto train`, with underscores: model, hidden, optimizer, lr, epochs, batch, seed, dtype,
        backend, norm, clipping, max_grad_norm, views, ema, epsilon, delta, purpose, ...

    Private training refuses, logs and counts nothing that depends on what the records hold. Ctrl-C waits for the end of the step and names
    what was charged. Raises InvalidArgument by parameter, BudgetExceeded, Diverged, NotSupported.

    >>> import numpy as np
    >>> x, y = np.eye(4, dtype="f4")[[0, 1, 2, 3] * 50], [0, 0, 1, 1] * 50
    >>> net = sotto.train_network(x, y, model="mlp", hidden=[8], epochs=20, lr=.05)
    >>> net.score(x, y), net.certificate
    (1.0, None)
    """
    given: dict[str, Any] = dict(more)
    options, privacy_options = table("train"), table("train_privacy")
    private = dp_sgd or certify_inputs
    if dp_sgd and certify_inputs:
        raise make("EUSAGE", "dp_sgd and certify_inputs cannot be combined; give one of them")
    if private and ledger is None:
        raise make("EUSAGE", "private training charges a ledger; give ledger=sotto.Ledger(path, dataset=...)")
    if not private and ledger is not None:
        raise make("EUSAGE", "ledger= needs dp_sgd=True or certify_inputs=True; plain training charges nothing")
    data, rows, n, shape, found = _records(x, y, classes, source, labels_from, private)
    path = None if output is None else os.fspath(output)
    c = _options(options.take(given), image or shape, certify_inputs, path)
    if not private:
        if fresh and c.checkpoint != ffi.NULL:
            run(lib.sotto_train_discard, c.checkpoint)
        result = ffi.new("struct sotto_train_result *")
        out = ffi.new("struct sotto_network **")
        canaries = make_canaries(data, rows, n, seed=c.seed, output=path, fresh=fresh, given=given)
        _refuse_private(given)
        unknown("train_network", given, [options, table("canary")])
        keep(c, canaries)  # until the call has ended, even if its caller has left
        run(lib.sotto_train, out, result, *_set(canaries, data, rows, n), c, threads=threads, progress=progress)
        net = Network(out[0], None, found, read(result), shaped_of(x))
        _save(net, path, canaries)
        if path is not None:
            lib.sotto_train_forget(c.checkpoint)
        return net
    assert ledger is not None
    privacy = privacy_options.set(struct("train_privacy", output=path), privacy_options.take(given))
    if classes is not None:
        fill(privacy, classes=classes)
    if dp_sgd:
        noise_once("train_network", "noise_multiplier", privacy.noise_multiplier != 0, *noise_in(privacy))
    if privacy.adjacency == lib.SOTTO_ADD_REMOVE:  # the number of records is public
        privacy.adjacency = lib.SOTTO_ZERO_OUT
    spend = spend_of(ledger, given, found, shaped_of(x))
    canary_options, public = asked_canaries(given, path, data.columns or data.channels * data.height * data.width)
    unknown_charge("train_network", given, "train", "train_privacy", "canary")
    request = struct("train_release_request", data=data, rows=rows, n=n, options=c, privacy=fill(privacy, spend=spend),
                     noisy_inputs=int(certify_inputs), canaries=canary_options, fresh=int(fresh))
    if public is not None:
        fill(request, public_rows=public, public_n=len(public))
    made = ffi.new("struct sotto_train_release_result *")
    net = charge(ledger, lambda: Network(made.network, Certificate(made.certificate), found, read(ffi.addressof(made, "training"))), lib.sotto_train_release, made,
                 request, threads=threads, progress=progress, made=lambda: made.network != ffi.NULL)
    if path is not None:
        net._saved_at(path)
    return net


def _records(x: Any, y: Any, classes: int | None, source: Dataset | None, labels_from: int,
             private: bool) -> tuple[Any, Array | None, int, tuple[int, int, int] | None, Dataset | None]:
    """struct sotto_dataset, its rows, how many, their shape as images, and their identity."""
    if isinstance(x, Dataset):
        if y is not None or source is not None:
            raise make("EUSAGE", "a Dataset brings its labels and its identity; omit y and source")
        if private and classes is not None and x.class_names and not x.classes_by:
            raise make("EUSAGE", f"the classes of {x.name!r} were read off its records, so they are not public; import it with a schema")
        return x._c, x._rows, len(x), None, x
    if y is None:
        raise make("EUSAGE", "y is missing: the labels (n)")
    a, shape = _values(x, "x", private)
    labels = quiet_labels(y, "y", labels_from) if private else array(y, "y", np.int64, 1) - whole(labels_from, "labels_from", 0)
    if len(a) != len(labels) or source is not None and len(source) != len(a):
        raise invalid(f"x has {len(a)} records, y {len(labels)}{f', source {len(source)}' if source is not None else ''}; expected as many")
    if classes is not None:
        classes = whole(classes, "classes", 1)
    elif source is not None and source.classes_by:
        classes = source.classes
    elif private:
        raise make("EUSAGE", "private training needs public classes, which it does not derive from the labels; give classes=K")
    if not private:
        made = Dataset(a, labels, classes=classes)
        return made._c, None, len(a), shape, source
    data = filled(a, labels, classes or 0, "arrays", "the caller")
    digest = hashlib.sha256(a.data)
    digest.update(labels.data)
    data.sha256 = digest.hexdigest().encode()  # names the records in a checkpoint
    return data, None, len(a), shape, source


def _options(chosen: dict[str, Any], image: Sequence[int] | None, certify_inputs: bool, path: str | None) -> Any:
    """struct sotto_train_options."""
    c = table("train").set(struct("train_options"), chosen)
    if image is not None:
        if len(image) != 3:
            raise invalid(f"image must be (C, H, W) (got {image!r})")
        c.channels, c.height, c.width = (whole(n, "image", 1) for n in image)
    r = c.residual
    if chosen.get("input_noise") is None and text_of(r.kind) == "additive" and r.gamma > 0 and not r.relative and not certify_inputs:
        r.input_noise = r.gamma / 2  # as in the paper
    return fill(c, checkpoint=path + ".checkpoint") if path is not None and c.checkpoint == ffi.NULL else c


def _set(canaries: Canaries | None, data: Any, rows: Array | None, n: int) -> tuple[Any, Any, int]:
    if canaries is not None:
        return canaries.data, ffi.NULL, canaries.data.n
    return data, ffi.NULL if rows is None else pointer(rows, "int64_t *"), n


def _save(net: Network, path: str | None, canaries: Canaries | None) -> None:
    if path is not None:
        net.save(path)

    def logits(records: Any) -> Array:
        out = np.empty((records.n, net.classes), np.float32)
        run(lib.sotto_network_predict_data, pointer(out, "float *"), net._c, records, ffi.NULL, records.n, 1)
        return out

    if canaries is not None:
        canaries.save(logits)


def _refuse_private(given: dict[str, Any]) -> None:
    for name in given:
        if any(name in table(t).by_name for t in ("train_privacy", "spend")):
            raise make("EUSAGE", f"{name}= needs dp_sgd=True or certify_inputs=True; plain training makes no certificate")

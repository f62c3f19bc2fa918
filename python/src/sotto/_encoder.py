"""Encoders: pre-training on PUBLIC images, embeddings, weights to and from PyTorch, and features without any training."""

from __future__ import annotations

import importlib
import os
import tempfile
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _call, _tensors, lab
from ._call import Array, Progress, array, ffi, fill, invalid, lib, numpy_of, run, struct, table, text_of
from ._dataset import Dataset
from ._records import Record, read
from ._shaped import Shaping, provenance, shape, shaped_of
from ._shaped import read as _shapings
from .errors import SottoError, make

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import ImportOptions, PretrainOptions, ScatteringOptions, ViewOptions

__all__ = ["Encoder", "knn_accuracy", "pretrain", "scatter", "standardise"]

_OURS = "encoder."  # stands before the names of torchvision
_MOMENTS = "encoder.input."  # of that normalisation


def _pixels(images: Any, name: str = "images") -> Array:
    """Images as uint8 (n, channels, height, width)."""
    a = numpy_of(images, name)
    if a.ndim == 3:
        a = a[:, None]
    if a.ndim != 4 or (a.shape[1] not in (1, 3) and a.shape[3] not in (1, 3)):
        raise invalid(f"{name} have shape {a.shape}; expected (n, height, width) or, with 1 or 3 channels, (n, channels, height, width) or "
                      "(n, height, width, channels)")
    if a.shape[1] not in (1, 3):
        a = a.transpose(0, 3, 1, 2)
    if a.dtype.kind == "f":
        if a.size and not (np.nanmin(a) >= 0 and np.nanmax(a) <= 1 and np.all(np.isfinite(a))):
            raise invalid(f"{name}: floats must be from 0 to 1 (found {np.nanmin(a)} to {np.nanmax(a)}); or give uint8")
        whole = np.rint(a * 255)
        if not np.allclose(a * 255, whole, atol=1e-3):
            warnings.warn(f"{name}: floats were rounded to 1/255", stacklevel=4)
        a = whole.astype(np.uint8)
    return array(a, name, np.uint8, 4)


def _dataset(images: Any) -> Any:
    """struct sotto_dataset of images, which are not copied."""
    a = _pixels(images)
    return struct("dataset", name="arrays", n=a.shape[0], n_train=a.shape[0], channels=a.shape[1], height=a.shape[2], width=a.shape[3], images=a)


class Encoder:
    """A network that turns images into embeddings. It is read-only and can be pickled.

    width: numbers of an embedding. name: of the network. sha256: of its weights. statement: "none: ..." if private records trained it,
    else "". facts: what its file says of its origin. pretraining: of pretrain(), else None."""

    def __init__(self, handle: Any, pretraining: Record | None = None, path: str | os.PathLike[str] | None = None,
                 shaped: tuple[Shaping, ...] | None = None) -> None:
        self._c = ffi.gc(handle, lib.sotto_encoder_free)
        self.pretraining = pretraining
        if shaped is None:
            p = provenance(None, ())
            run(lib.sotto_encoder_shape, p, self._c, ffi.NULL if path is None else os.fsencode(path))
            shaped = _shapings(p)
        self._shaped = shaped
        self.width = int(lib.sotto_encoder_width(self._c))
        self.sha256 = text_of(lib.sotto_encoder_sha256(self._c))
        self.statement = text_of(lib.sotto_encoder_statement(self._c))
        self.facts = _tensors.texts_of(self._bytes())
        self.name = self.facts.get("encoder", "")

    def _bytes(self) -> bytes:
        return _tensors.bytes_of(lib.sotto_encoder_save_bytes, self._c)

    @classmethod
    def _of_bytes(cls, data: bytes, pretraining: Record | None = None, shaped: tuple[Shaping, ...] | None = None) -> Encoder:
        out = ffi.new("struct sotto_encoder **")
        run(lib.sotto_encoder_load_bytes, out, ffi.from_buffer(data), len(data))
        return cls(out[0], pretraining, shaped=shaped)

    def __reduce__(self) -> Any:
        return Encoder._of_bytes, (self._bytes(), self.pretraining, self._shaped)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoder) and self.facts == other.facts and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __repr__(self) -> str:
        return f"Encoder({self.name}, width {self.width}, sha256 {self.sha256[:12]}...)"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a safetensors file, as `sotto pretrain` does. The file appears whole or not at all."""
        run(lib.sotto_encoder_save, os.fsencode(path), self._c)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Encoder:
        """Of a file of an encoder, or of a whole network on colour images: its layers below the last."""
        out = ffi.new("struct sotto_encoder **")
        run(lib.sotto_encoder_load, out, os.fsencode(path))
        return cls(out[0], path=path)

    @classmethod
    def random(cls, images: Any, encoder: str = "keras-simclr", seed: int = 0) -> Encoder:
        """An untrained encoder for images of this shape: the baseline of random features."""
        out = ffi.new("struct sotto_encoder **")
        run(lib.sotto_encoder_random, out, _dataset(images), encoder.encode(), _call.whole(seed, "seed", 0))
        return cls(out[0])

    def embed(self, images: Any, *, threads: int | None = None, progress: Progress = False) -> Array:
        """Embeddings (n, width), float32, of images as they are.

        images: uint8 (n, C, H, W), (n, H, W, C) or (n, H, W), or floats from 0 to 1, of the encoder's size (padded to 32 pixels)."""
        data = _dataset(images)
        out = np.empty((data.n, self.width), np.float32)
        run(lib.sotto_embed, _call.pointer(out, "float *"), self._c, data, ffi.NULL, data.n, threads=threads, progress=progress)
        return shape(out, (*self._shaped, *shaped_of(images)))  # type: ignore[no-any-return]

    def embed_views(self, images: Any, *, threads: int | None = None, progress: Progress = False, **more: Unpack[ViewOptions]) -> Array:
        """Embeddings (n, views, width) of random views of each image: those of the encoder's own pre-training, unless options say otherwise.

        Options: views [10], seed, augmentation, min_area, ... (include/sotto/lab/ssl.h, struct sotto_view_options)."""
        given: dict[str, Any] = dict(more)
        options, data = table("view"), _dataset(images)
        c = options.set(struct("view_options"), options.take(given))
        _call.unknown("embed_views", given, [options])
        out = np.empty((data.n, c.views or 10, self.width), np.float32)
        run(lib.sotto_embed_views, _call.pointer(out, "float *"), self._c, data, ffi.NULL, data.n, c, threads=threads, progress=progress)
        return shape(out, (*self._shaped, *shaped_of(images)))  # type: ignore[no-any-return]

    @property
    def weights(self) -> dict[str, Array]:
        """Copies of the tensors under PyTorch's names, those of torchvision for its networks.

        The normalisation of images that comes before the network is not among them: facts["normalise"]."""
        return {name.removeprefix(_OURS): a for name, a in _tensors.arrays_of(self._bytes()).items() if not name.startswith(_MOMENTS)}

    def state_dict(self) -> dict[str, Any]:
        """The same as tensors of PyTorch, which must be installed."""
        return _tensors.torch_of(self.weights)

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any], *, model: str, statement: str, **more: Unpack[ImportOptions]) -> Encoder:
        """An encoder of weights under torchvision's names, of any program.

        model: "resnet18", "resnet50" or "mobilenetv2", with "-imagenet" as in torchvision, without it with a stem for small images.
        statement: "public, by WHO": who states that no private record trained the weights, which they cannot show; it stays with them.
        height, width: of the images [224 of -imagenet, else 32]. normalise: ["imagenet"], "none" or "0.5,0.5,0.5/0.25,0.25,0.25"."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "state_dict")
            with open(path, "wb") as f:
                f.write(_tensors.file_of(state))
            try:
                return cls.from_weights(path, model=model, statement=statement, **more)
            except SottoError as e:
                raise make(e.status, str(e).partition("\n")[0].replace(path, "state_dict"), e.hint) from None

    @classmethod
    def from_weights(cls, path: str | os.PathLike[str], *, model: str, statement: str, **more: Unpack[ImportOptions]) -> Encoder:
        """from_state_dict() of a .safetensors file."""
        given: dict[str, Any] = dict(more)
        options = table("encoder_import")
        sizes = {k: _call.whole(given.pop(k), k, 1) for k in ("height", "width") if given.get(k) is not None}
        c = fill(options.set(struct("encoder_import_options"), {"model": model, "statement": statement, **options.take(given)}), **sizes)
        _call.unknown("from_state_dict", given, [options])
        out, report = ffi.new("struct sotto_encoder **"), ffi.new("struct sotto_encoder_import_report *")
        run(lib.sotto_encoder_import, out, report, os.fsencode(path), c)
        return cls(out[0])


def pretrain(images: Any, *, part: Any = None, name: str = "arrays", threads: int | None = None, progress: Progress = None,
             **more: Unpack[PretrainOptions]) -> Encoder:
    """Trains an encoder on PUBLIC images, without labels. The encoder says nothing about privacy: private images may only be embedded. What
    is trained privately on its embeddings is conditional on that: the encoder does not depend on the private records.

    images: uint8 (n, C, H, W), (n, H, W, C) or (n, H, W), or floats from 0 to 1, which are rounded to 1/255. name: of the set, for the
    encoder's facts. part: what a module trains beside the encoder, such as one of sotto.lab.
    encoder ["keras-simclr"], method ["simclr"], epochs [10], batch [256], lr [1e-3], temperature [.1], augmentation ["keras"], seed [0],
    dtype and backend ["auto"], checkpoint, ... as of `sotto pretrain`. With a checkpoint, an interrupted call continues when it is repeated.

    Raises InvalidArgument for images or options that do not fit, Diverged if the loss became infinite.

    >>> import numpy as np, sotto
    >>> images = np.random.default_rng(1).integers(0, 256, (64, 3, 32, 32), dtype=np.uint8)
    >>> encoder = sotto.pretrain(images, epochs=1, batch=32)
    >>> encoder.embed(images[:5]).shape
    (5, 128)
    """
    given: dict[str, Any] = dict(more)
    options = table("pretrain")
    for old in [k for k in given if k in lab.modules]:  # what was an argument before it was a module
        warnings.warn(f"pretrain({old}=...) is now pretrain(part=...) with a part of sotto.lab.{old}", DeprecationWarning, stacklevel=2)
        part = importlib.import_module(f"sotto.lab.{old}").part(**given.pop(old))
    c = options.set(struct("pretrain_options"), options.take(given))
    _call.unknown("pretrain", given, [options])
    data = Dataset(_pixels(images), name=name)._c
    if part is not None:
        named, inner = part._part(data.n)
        fill(c, part=named).part_options = ffi.cast("const void *", inner)
        _call.keep(c, inner)
    out, result = ffi.new("struct sotto_encoder **"), ffi.new("struct sotto_pretrain_result *")
    run(lib.sotto_pretrain, out, result, data, ffi.NULL, data.n, c, threads=threads, progress=progress)
    return Encoder(out[0], read(result))


def scatter(images: Any, *, threads: int | None = None, progress: Progress = False, **more: Unpack[ScatteringOptions]) -> Array:
    """Fixed features of images, without any training: wavelet scattering of two orders. They cost no privacy.

    images: as of pretrain(), of 8 to 256 pixels. groups [27]: of channels that are normalised together; 0: not at all. grid [0: every
    place]: averages over grid x grid cells. mirror [False]: mean of an image and its mirror image, of which the left half is kept.
    Returns (n, channels * rows * columns), float32, channel first.

    >>> import numpy as np, sotto
    >>> sotto.scatter(np.zeros((2, 28, 28), np.uint8)).shape == (2, 81 * 7 * 7)
    True
    """
    given: dict[str, Any] = dict(more)
    options, data = table("scattering"), _dataset(images)
    c = options.set(struct("scattering"), options.take(given))
    _call.unknown("scatter", given, [options])
    shape = ffi.new("size_t[3]")
    run(lib.sotto_scattering_shape, shape, data, c)
    out = np.empty((data.n, shape[0] * shape[1] * shape[2]), np.float32)
    run(lib.sotto_scatter, _call.pointer(out, "float *"), data, ffi.NULL, data.n, c, threads=threads, progress=progress)
    return out


def standardise(x: Any, public: Any) -> Array:
    """x (n, d), each column shifted and scaled by mean and deviation of that column of `public` (m, d): embeddings of PUBLIC images. What
    is private about the result is conditional on that: it does not depend on the private records.

    >>> standardise([[1.0], [2.0]], [[0.0], [2.0]]).tolist()
    [[0.0], [1.0]]
    """
    a, b = array(x, "x", np.float32, 2).copy(), array(public, "public", np.float32, 2)
    if a.shape[1] != b.shape[1]:
        raise invalid(f"x has {a.shape[1]} columns, but public has {b.shape[1]}")
    run(lib.sotto_standardise, _call.pointer(a, "float *"), len(a), a.shape[1], _call.pointer(b, "float *"), len(b))
    return shape(a, (*shaped_of(x), Shaping("moments", "public"), *shaped_of(public)))  # type: ignore[no-any-return]


def knn_accuracy(train: tuple[Any, Any], test: tuple[Any, Any], *, k: int = 20, threads: int | None = None) -> float:
    """Accuracy of k nearest neighbours by cosine: how good embeddings are. train, test: (embeddings (n, d), labels (n))."""
    lent = [(array(x, f"{n} embeddings", np.float32, 2), array(y, f"{n} labels", np.int64, 1)) for n, (x, y) in (("train", train), ("test", test))]
    for (x, y), name in zip(lent, ("train", "test")):
        if len(x) != len(y) or x.shape[1] != lent[0][0].shape[1]:
            raise invalid(f"{name}: embeddings have shape {x.shape}, labels {y.shape}; expected one label for each row, and one width")
    (a, b), (c, d) = lent
    out = ffi.new("double *")
    run(lib.sotto_knn_accuracy, out, *(_call.pointer(*p) for p in ((a, "float *"), (b, "int64_t *"))), len(a),
        *(_call.pointer(*p) for p in ((c, "float *"), (d, "int64_t *"))), len(c), a.shape[1], _call.whole(k, "k", 1), threads=threads)
    return float(out[0])

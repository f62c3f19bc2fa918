"""Data sets: records with labels, and their identity."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._call import Array, array, c_text, ffi, fill, invalid, keep, lib, numpy_of, pointer, run, struct, text_of
from ._shaped import Shaping, provenance, read, shape, shaped_of
from .errors import make

__all__ = ["Dataset"]


class _Lent:
    """Memory of the library as a read-only array, which keeps its owner alive."""

    def __init__(self, c: Any, shape: tuple[int, ...], type_: str, owner: Any) -> None:
        self.__array_interface__ = {"shape": shape, "typestr": type_, "data": (int(ffi.cast("uintptr_t", c)), True), "version": 3}
        self.owner = owner


def _c_array(a: Array) -> Any:
    """struct sotto_array, lent."""
    c = struct("array", dtype=getattr(lib, f"SOTTO_{a.dtype.kind.upper()}{a.dtype.itemsize}"), ndim=a.ndim, count=a.size)
    for i, n in enumerate(a.shape):
        c.shape[i] = n
    lent = ffi.from_buffer("char[]", a.reshape(-1).view(np.uint8) if a.size else b"\0", require_writable=False)
    c.data = ffi.cast("void *", lent)
    keep(c, lent, a)
    return c


class Dataset:
    """Records with labels, and their identity: arrays, or a set that was imported or registered (Dataset.open()).

    values: images uint8 (n, C, H, W) or (n, H, W), or features (n, columns), kept as float32. labels, attribute: (n) whole numbers
    from 0. classes: the public number of classes, which private training needs; None: the largest label + 1, which depends on the
    records, so private training refuses it. class_names: (classes). classes_by: who states the classes, for certificates. dataset:
    identity of the private records, as of a Ledger; None: none.

    The arrays are copied and checked, and what is wrong in them is said: that is for their owner. Raises InvalidArgument.

    >>> data = sotto.Dataset([[0.5, 1.0], [0.0, 2.0]], [0, 1], classes=2, dataset="clinic-2026")
    >>> len(data), data.classes, data.features.shape, data.take([1]).labels
    (2, 2, (2, 2), array([1]))
    """

    def __init__(self, values: Any, labels: Any = None, *, attribute: Any = None, classes: int | None = None,
                 class_names: Sequence[str] | None = None, classes_by: str | None = None, dataset: str | None = None,
                 name: str | None = None) -> None:
        a = numpy_of(values, "values")
        a = np.ascontiguousarray(a) if a.dtype == np.uint8 and a.ndim > 2 else array(a, "values", np.float32)
        out = ffi.new("struct sotto_dataset **")
        arrays = struct("dataset_arrays", values=_c_array(a), name=name, dataset_id=dataset, classes=classes,
                        class_names=None if class_names is None else list(class_names), classes_by=classes_by,
                        **{k: _c_array(array(v, k, np.int64, 1)) for k, v in (("labels", labels), ("attribute", attribute)) if v is not None})
        run(lib.sotto_dataset_from_arrays, out, arrays)
        self._hold(ffi.gc(out[0], lib.sotto_dataset_free), None, shaped_of(values))

    def _hold(self, c: Any, rows: Array | None = None, shaped: tuple[Shaping, ...] = ()) -> Dataset:
        self._c, self._rows, self._shaped = c, rows, shaped
        return self

    @classmethod
    def open(cls, name_or_path: str | os.PathLike[str]) -> Dataset:
        """A set by its registered or imported name (`sotto data list`), or by its path. Of a path the identity is unknown."""
        out = ffi.new("struct sotto_dataset **")
        run(lib.sotto_dataset_open, out, c_text(name_or_path))
        return cls.__new__(cls)._hold(ffi.gc(out[0], lib.sotto_dataset_free))

    def take(self, rows: Any) -> Dataset:
        """Some of the records, by their numbers, each at most once. Their identity stays known."""
        chosen = array(rows, "rows", np.int64, 1)
        if chosen.size and (chosen.min() < 0 or chosen.max() >= len(self)):
            raise invalid(f"rows must be from 0 to {len(self) - 1}")
        if len(np.unique(chosen)) < len(chosen):
            raise invalid("rows names a record twice; a record may count once")
        return self.__class__.__new__(self.__class__)._hold(self._c, chosen if self._rows is None else self._rows[chosen], self._shaped)

    def __len__(self) -> int:
        return int(self._c.n) if self._rows is None else len(self._rows)

    def _array(self, member: str, shape: tuple[int, ...], type_: str) -> Array | None:
        c = getattr(self._c, member)
        if c == ffi.NULL:
            return None
        a = np.asarray(_Lent(c, (self._c.n, *shape), type_, self._c))
        return a if self._rows is None else a[self._rows]

    @property
    def images(self) -> Array | None:
        """uint8 (n, C, H, W); None: a set of features."""
        return self._array("images", (self._c.channels, self._c.height, self._c.width), "|u1")

    @property
    def features(self) -> Array | None:
        """float32 (n, columns); None: a set of images."""
        a = self._array("features", (self._c.columns,), "<f4")
        return a if a is None else shape(a, read(self._provenance()))

    @property
    def labels(self) -> Array | None:
        """int64 (n)"""
        return self._array("labels", (), "<i8")

    @property
    def attribute(self) -> Array | None:
        """int64 (n): a second label, or None."""
        return self._array("attribute", (), "<i8")

    @property
    def classes(self) -> int:
        """Number of classes; 0: no labels."""
        return int(self._c.classes)

    @property
    def class_names(self) -> tuple[str, ...] | None:
        c = self._c.class_names
        return None if c == ffi.NULL else tuple(text_of(c[k]) for k in range(self.classes))

    @property
    def classes_by(self) -> str | None:
        """What states the classes, independently of the records; None: they were read off the records."""
        return text_of(self._c.classes_by) or None

    @property
    def dataset(self) -> str | None:
        """Identity of the records."""
        return text_of(self._c.dataset_id) or None

    @property
    def name(self) -> str:
        return text_of(self._c.name)

    @property
    def sha256(self) -> str:
        """Of all contents, as recorded at the import."""
        return text_of(self._c.sha256)

    @property
    def n_train(self) -> int:
        """Rows 0 .. n_train - 1 of the whole set are its official training part."""
        return int(self._c.n_train)

    def __repr__(self) -> str:
        what = f"images {self._c.channels}x{self._c.height}x{self._c.width}" if self._c.images != ffi.NULL else f"{self._c.columns} columns"
        return f"Dataset({self.name}: {len(self)} records, {what}, {self.classes} classes, identity {self.dataset or 'unknown'})"

    # ---- for private calls
    def _c_rows(self) -> Any:
        return ffi.NULL if self._rows is None else pointer(self._rows, "int64_t *")

    def _provenance(self) -> Any:
        p = ffi.gc(ffi.new("struct sotto_provenance *"), lib.sotto_provenance_clear)
        run(lib.sotto_provenance_of_rows, p, self._c, self._c_rows(), len(self))
        return provenance(p, self._shaped) if self._shaped else p

    def _digests(self, c: Any) -> None:
        """Fills in the digests of struct sotto_source_records."""
        d = ffi.new("unsigned char[][16]", max(len(self), 1))
        run(lib.sotto_dataset_digests, d, self._c, self._c_rows(), len(self))
        c.digests, c.n = d, len(self)
        keep(c, d)


def quiet_features(x: Any, name: str) -> Array:
    """Private features (n, columns) as float32. What is refused depends on their type and shape alone; a value that float32 cannot hold
    becomes infinite, which private trainers take for a record that counts as nothing."""
    a = numpy_of(x, name)
    if a.ndim != 2 or not all(a.shape):
        raise invalid(f"{name} has shape {a.shape}; expected (records, columns), at least one of each")
    with np.errstate(all="ignore"):
        return np.array(a, np.float32, order="C")  # a copy: no other thread changes what was clipped


def filled(x: Array, y: Array, classes: int, name: str, classes_by: str | None) -> Any:
    """struct sotto_dataset of lent arrays, in which nothing is checked: images uint8 (n, C, H, W), or features float32 (n, columns)."""
    c = struct("dataset", name=name, n=len(x), n_train=len(x), classes=classes, classes_by=classes_by)
    fill(c, labels=y)
    if x.dtype == np.uint8:
        n, c.channels, c.height, c.width = x.shape
        return fill(c, images=x)
    c.columns = x.shape[1]
    return fill(c, features=x)


def check_identity(ledger_dataset: str, data: Dataset) -> None:
    """The records that are charged are those of the ledger's data set."""
    if data.dataset not in (None, ledger_dataset):
        raise make("EUSAGE", f"the records belong to data set {data.dataset!r}, not to {ledger_dataset!r}, which the ledger is about")

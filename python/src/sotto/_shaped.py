"""What shaped the columns of an array: it travels with the array, and every private call meets it with the records that are charged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ._call import Array, ffi, lib, run, text_of

__all__ = ["Shaped", "Shaping"]


class Shaping(NamedTuple):
    """Records that an encoder, moments, ... were made from (struct sotto_shaping); dataset "": it is not known which."""

    what: str
    name: str
    dataset: str = ""
    set: str = ""
    n: int = 0
    rows: tuple[int, ...] | None = None
    public: bool = False


class Shaped(np.ndarray[Any, Any]):
    """An array that remembers what shaped it, and hands that on to what NumPy makes of it. A file does not remember it."""

    _shaped: tuple[Shaping, ...] = ()

    def __array_finalize__(self, obj: Any) -> None:
        self._shaped = getattr(obj, "_shaped", ())

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        found = shaped_of(inputs, kwargs)
        if kwargs.get("out") is not None:
            for o in kwargs["out"]:
                if isinstance(o, Shaped):
                    o._shaped = found
            kwargs["out"] = tuple(map(_plain, kwargs["out"]))
        return shape(getattr(ufunc, method)(*map(_plain, inputs), **{k: _plain(v) if k == "where" else v for k, v in kwargs.items()}), found)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return shape(super().__array_function__(func, types, args, kwargs), shaped_of(args, kwargs))

    def __reduce__(self) -> Any:
        return shape, (np.asarray(self), self._shaped)


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, Shaped) else x


def shaped_of(*things: Any) -> tuple[Shaping, ...]:
    """What shaped arrays, and those in lists and mappings; each once."""
    found: dict[Shaping, None] = {}
    for x in things:
        if isinstance(x, (list, tuple)):
            inner = shaped_of(*x) if any(not isinstance(v, (int, float, str)) for v in x) else ()
        elif isinstance(x, dict):
            inner = shaped_of(*x.values())
        else:
            inner = getattr(x, "_shaped", ())
        found.update(dict.fromkeys(inner))
    return tuple(found)


def shape(x: Any, shaped: Iterable[Shaping]) -> Any:
    """An array, or arrays in a tuple or list, shaped by that too; without anything, and all other things, as they are."""
    shaped = tuple(shaped)
    if shaped and isinstance(x, (list, tuple)):
        return type(x)(shape(v, shaped) for v in x) if type(x) in (list, tuple) else x
    if not shaped or not isinstance(x, np.ndarray):
        return x
    made: Array = x.view(Shaped)
    made._shaped = tuple(dict.fromkeys((*getattr(x, "_shaped", ()), *shaped)))  # type: ignore[attr-defined]
    return made


def shape_like(made: Array, *sources: Any) -> Array:
    """An array that was made of others."""
    return shape(made, shaped_of(*sources))  # type: ignore[no-any-return]


def read(p: Any) -> tuple[Shaping, ...]:
    """Those of struct sotto_provenance."""
    all_of = (p.shaped_by[i] for i in range(p.shapings))
    return tuple(Shaping(text_of(s.what), text_of(s.name), text_of(s.dataset_id), text_of(s.set), int(s.n),
                         None if s.rows == ffi.NULL else tuple(ffi.unpack(s.rows, s.n)), bool(s.is_public)) for s in all_of)


def made_from(what: str, name: str, whose: Any) -> tuple[Shaping, ...]:
    """Something that was made from the records of struct sotto_provenance (None: unknown), and what shaped these."""
    if whose is None:
        return (Shaping(what, name),)
    rows = None if whose.rows == ffi.NULL else tuple(ffi.unpack(whose.rows, whose.n))
    return (Shaping(what, name, text_of(whose.dataset_id), text_of(whose.set), int(whose.n), rows), *read(whose))


def provenance(whose: Any, shaped: Iterable[Shaping]) -> Any:
    """struct sotto_provenance: that of the records (None: unknown), shaped by that too."""
    p = ffi.gc(ffi.new("struct sotto_provenance *"), lib.sotto_provenance_clear)
    if whose is not None:
        run(lib.sotto_provenance_copy, p, whose)
    for s in shaped:
        by = ffi.new("struct sotto_provenance *", {"dataset_id": s.dataset.encode(), "set": s.set.encode(), "n": s.n})
        rows = None if s.rows is None else ffi.new("int64_t[]", s.rows)
        if rows is not None:
            by.rows = rows
        run(lib.sotto_provenance_shape, p, s.what.encode(), s.name.encode(), by, int(s.public))
    return p


def beside(path: Any) -> Any:
    """struct sotto_provenance of a file."""
    p = ffi.gc(ffi.new("struct sotto_provenance *"), lib.sotto_provenance_clear)
    run(lib.sotto_provenance_load, p, path)
    return p

"""C structs that come out, as immutable Python objects: members are attributes with the names of include/sotto/*.h.

Numbers become float and int, texts str, NULL None, enumerators their name in small letters ("replace-one"), struct
sotto_estimate an Estimate, struct sotto_interval an Interval, arrays of numbers NumPy arrays, arrays of structs tuples (of
structs of doubles alone: NumPy arrays with one field for each member). A member that only counts another one is len() of it."""

from __future__ import annotations

import os
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ._call import _ITEMS, text_of
from ._sotto import ffi


class Estimate(NamedTuple):
    """A measured number with a two-sided interval."""

    estimate: float
    lower: float
    upper: float


class Interval(NamedTuple):
    """Both ends are proved. float() is the upper end: the guarantee."""

    lower: float
    upper: float

    def __float__(self) -> float:
        return self.upper


class Record:
    """A struct. `to_dict()` has the same names."""

    _classes: ClassVar[dict[str, type[Record]]] = {}

    def __init_subclass__(cls, c: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        if c:
            Record._classes[c] = cls

    @classmethod
    def _finish(cls, members: dict[str, Any]) -> None:
        """What a class makes of its members."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is read-only")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is read-only")

    def __getattr__(self, name: str) -> Any:  # for checkers of types; members stand in __dict__
        raise AttributeError(f"{type(self).__name__} has no member {name!r}; it has {', '.join(self.__dict__)}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self.to_dict()) == repr(other.to_dict())

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        shown = [f"{k}={v!r}" for k, v in self.__dict__.items() if isinstance(v, (str, int, float, tuple)) and len(repr(v)) < 60]
        return f"{type(self).__name__}({', '.join(shown[:8])}{', ...' if len(shown) < len(self.__dict__) or len(shown) > 8 else ''})"

    def to_dict(self) -> dict[str, Any]:
        def plain(v: Any) -> Any:
            if isinstance(v, Record):
                return v.to_dict()
            if isinstance(v, tuple) and hasattr(v, "_asdict"):
                return v._asdict()
            if isinstance(v, tuple):
                return [plain(x) for x in v]
            return v.tolist() if isinstance(v, np.ndarray) else v

        return {k: plain(v) for k, v in self.__dict__.items() if not k.startswith("_")}


# Members that count an array under a name that does not show it.
_COUNTS = {
    ("sotto_audit_fallback", "member_rows"): "member", ("sotto_audit_fallback", "nonmember_rows"): "nonmember",
    ("sotto_audit_histogram", "member"): "bins", ("sotto_audit_histogram", "nonmember"): "bins",
    ("sotto_audit_classes", "member"): "classes", ("sotto_audit_classes", "nonmember"): "classes",
    ("sotto_audit_p_values", "member"): "^n_member", ("sotto_audit_p_values", "nonmember"): "^n_nonmember",  # ^: of the struct around
}
_HIDDEN = {"memory"}


def _count(kind: Any, fields: dict[str, Any], member: str) -> str | None:
    """The member that counts an array."""
    tag = kind.cname.removeprefix("struct ")
    if (tag, member) in _COUNTS:
        return _COUNTS[tag, member]
    base = member.removeprefix("by_")
    names = [f"{base}_count", "count"] + [f"{base[:-len(end)]}_count" for end in ("s", "es") if base.endswith(end)]
    return next((n for n in names if n in fields), None)


def _enumerator(kind: Any, value: int) -> str:
    names = list(kind.elements.values())
    prefix = os.path.commonprefix(names) if len(names) > 1 else "SOTTO_"
    prefix = prefix[: prefix.rfind("_") + 1]
    return str(kind.elements.get(value, str(value))).removeprefix(prefix).lower().replace("_", "-")


def _structured(kind: Any) -> np.dtype[Any] | None:
    """Of a struct of doubles alone."""
    if all(f.type.cname == "double" for _, f in kind.fields):
        return np.dtype([(n, np.float64) for n, _ in kind.fields])
    return None


def _array(c: Any, kind: Any, n: int, around: Any) -> Any:
    """A member that points to n items."""
    if kind.kind == "struct":
        dtype = _structured(kind) if kind.cname not in ("struct sotto_estimate", "struct sotto_interval") else None
        if dtype is not None:
            return np.frombuffer(ffi.buffer(c, n * ffi.sizeof(kind)), dtype).copy() if n else np.empty(0, dtype)
        return tuple(read(c[i], around) for i in range(n))
    if kind.kind == "pointer":
        return tuple(text_of(c[i]) for i in range(n))
    item = _ITEMS[kind.cname]
    return np.frombuffer(ffi.buffer(c, n * item.itemsize), item).copy() if n else np.empty(0, item)


def _member(c: Any, kind: Any, fields: dict[str, Any], name: str, around: Any) -> Any:
    want, value = fields[name].type, getattr(c, name)
    if want.kind == "struct":
        return read(value, c)
    if want.kind == "enum":
        return _enumerator(want, int(ffi.cast("int", value)) if isinstance(value, ffi.CData) else value)
    if want.kind == "array":
        if want.item.cname == "char":
            return text_of(value)
        counter = _count(kind, fields, name)
        return _array(value, want.item, int(getattr(c, counter)) if counter else want.length, c)
    if want.kind == "pointer":
        if value == ffi.NULL:
            return None
        if want.item.cname == "char":
            return text_of(value)
        counter = _count(kind, fields, name)
        if counter is not None:
            return _array(value, want.item, int(getattr(around, counter[1:]) if counter[0] == "^" else getattr(c, counter)), c)
        return read(value[0], c)
    return value


def read(c: Any, around: Any = None) -> Any:
    """The Python object of a struct."""
    kind = ffi.typeof(c)
    if kind.kind == "pointer":
        c, kind = c[0], kind.item
    if kind.cname == "struct sotto_estimate":
        return Estimate(c.estimate, c.lower, c.upper)
    if kind.cname == "struct sotto_interval":
        return Interval(c.lower, c.upper)
    fields = dict(kind.fields)
    counters = {_count(kind, fields, n) for n, f in fields.items() if f.type.kind in ("pointer", "array") and f.type.item.cname != "char"}
    named = {n for n in counters if n and n.endswith("count")}
    record = object.__new__(Record._classes.get(kind.cname.removeprefix("struct "), Record))
    record.__dict__.update((n, _member(c, kind, fields, n, around)) for n in fields if n not in _HIDDEN and n not in named)
    record._finish(record.__dict__)
    return record

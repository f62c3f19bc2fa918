"""Defences on what a model shows: rows of answers or embeddings in, rows of the same shape out. Nothing here is proved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._call import Array, Progress, array, ffi, fill, invalid, keep, lib, pointer, run, struct, table, text_of, unknown
from .._records import Record, read
from .._shaped import Shaping, shape, shaped_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._defend_options import DefenceOptions

__all__ = ["Defence", "DefenceKind", "DefenceResult", "defences"]


class DefenceKind(NamedTuple):
    """name, one line about it, what its budget limits, the usual budget, and whether it defends posteriors (else any numbers)."""

    name: str
    title: str
    unit: str
    budget: float
    posteriors: bool


def defences() -> list[DefenceKind]:
    """All defences.

    >>> [d.name for d in sotto.lab.defend.defences() if not d.posteriors][:1]
    ['attriguard']
    """
    found: list[DefenceKind] = []
    while (c := lib.sotto_defence_name(len(found))) != ffi.NULL:
        found.append(DefenceKind(text_of(c), text_of(lib.sotto_defence_title(len(found))), text_of(lib.sotto_defence_unit(c)),
                                 lib.sotto_defence_usual_budget(c), lib.sotto_defence_of_posteriors(c) == 1))
    return found


class DefenceResult(Record, c="sotto_defence_result"):
    """What attackers infer of the protected labels: `before` the defence, `after` it, `adaptive` (trained on defended rows), and `baselines` that
    see no row. Each has `attackers`, each of them name, accuracy, auc, balanced_accuracy and macro_f1 (Estimates; NaN: not measured)."""

    before: Any
    after: Any
    adaptive: Any
    baselines: Any


def _rows(what: str, x: Any, protected_label: Any, labels: Any) -> Any:
    """struct sotto_defence_known."""
    a = array(x, what, np.float32, 2)
    c = fill(struct("defence_known"), x=a, n=len(a), d=a.shape[1])
    for name, member, value in (("protected_label", "protected_label", protected_label), ("labels", "label", labels)):
        if value is not None:
            y = array(np.broadcast_to(value, len(a)) if np.ndim(value) == 0 else value, name, np.int64, 1)
            if len(y) != len(a):
                raise invalid(f"{name} has {len(y)} values, but {what} has {len(a)} rows")
            fill(c, **{member: y})
    return c


class Defence:
    """A defence, fitted to rows of the kind that it is to defend. What it does against one attacker is measured by measure(); what it does against
    others is unknown, and it gives no certificate.

    name: one of defences(). known: rows (n, d) of the kind to be defended, for those that train; protected_label: 1 member and 0 non-member, or the
    values of an attribute, one for each row or one number for all; labels: true classes of these rows. budget: the most change, in the
    defence's own unit. seed: of what it trains. key: of the coins, to be kept secret: a row's coin is a function of key and row, so that the
    same query gets the same answer. settings: mapping of the defence's own parameters.

    >>> import numpy as np
    >>> p = np.array([[.7, .2, .1], [.1, .8, .1]])
    >>> d = sotto.lab.defend.Defence("uniform-confidence", budget=.5)
    >>> d.apply(p).argmax(1)
    array([0, 1])
    """

    def __init__(self, name: str, *, known: Any = None, protected_label: Any = None, labels: Any = None, settings: dict[str, float] | None = None,
                 threads: int | None = None, progress: Progress = None, **more: Unpack[DefenceOptions]) -> None:
        given: dict[str, Any] = dict(more)
        options = table("defence")
        c = options.set(struct("defence_options", name=name, settings=None if not settings else [f"{k}={v!r}" for k, v in settings.items()]),
                        options.take(given, ("set",)))
        unknown("Defence", given, [options], ("set",))
        if lib.sotto_defence_of_posteriors(name.encode()) < 0:
            raise invalid(f"there is no defence {name!r}; sotto.lab.defend.defences() lists them")
        rows = struct("defence_known") if known is None else _rows("known", known, protected_label, labels)
        out = ffi.new("struct sotto_defence **")
        run(lib.sotto_defence_fit, out, rows, c, threads=threads, progress=progress)
        self._c = ffi.gc(out[0], lib.sotto_defence_free)
        self.name, self._seed = name, int(c.seed)
        self._shaped = () if known is None else (Shaping("defence", name), *shaped_of(known))

    def apply(self, rows: Any, *, threads: int | None = None) -> Array:
        """Defended rows (n, d), float32. rows: (n, d), finite; of a defence of posteriors they sum to 1."""
        return self._apply(rows, threads)[0]

    def cost(self, rows: Any, *, threads: int | None = None) -> Array:
        """What the budget limits, for each row, expected over its coin: float64 (n)."""
        return self._apply(rows, threads)[1]

    def _apply(self, rows: Any, threads: int | None) -> tuple[Array, Array]:
        a = array(rows, "rows", np.float32, 2)
        out, cost = np.empty_like(a), np.empty(len(a))
        run(lib.sotto_defence_check, self.name.encode(), pointer(a, "float *"), *a.shape, b"rows")
        run(lib.sotto_defence_apply, pointer(out, "float *"), pointer(cost, "double *"), self._c, pointer(a, "float *"), *a.shape, threads=threads)
        return shape(out, (*self._shaped, *shaped_of(rows))), cost

    def measure(self, rows: Any, protected_label: Any, *, attacker: tuple[Any, Any], labels: Any = None, attacker_labels: Any = None,
                adaptive: bool = True, epochs: int | None = None, threads: int | None = None, progress: Progress = None) -> DefenceResult:
        """What attackers infer of `rows` (n, d) with protected_label (n), before and after this defence.

        attacker: (rows, protected labels), on which attackers are trained. labels, attacker_labels: true classes, for the baseline that sees only
        whether the answer was right. adaptive: also attackers that are trained on defended rows. epochs [100]: of the attacker's network."""
        before, own = _rows("rows", rows, protected_label, labels), _rows("attacker", *attacker, attacker_labels)
        after = self.apply(rows, threads=threads)
        trial = struct("defence_trial", rows=before, after=after, attacker=own, seed=self._seed, epochs=epochs,
                       posteriors=int(lib.sotto_defence_of_posteriors(self.name.encode()) == 1))
        if adaptive:
            fill(trial, attacker_after=self.apply(attacker[0], threads=threads))
        keep(trial, before)
        c = ffi.gc(ffi.new("struct sotto_defence_result *"), lib.sotto_defence_result_free)
        run(lib.sotto_defence_measure, c, trial, threads=threads, progress=progress)
        result = read(c)
        assert isinstance(result, DefenceResult)
        return result

    def __repr__(self) -> str:
        return f"Defence({self.name!r})"


# The types of keyword arguments: build_options.py makes _defend_options.py of them.
OPTION_TYPES: dict[str, tuple[Any, ...]] = {"DefenceOptions": (Defence, "defence:budget|seed|key")}

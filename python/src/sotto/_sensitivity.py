"""How far one record moves the weights of a head: sampled (measured), or proved."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ._call import Progress, array, c_text, ffi, invalid, lib, out_text, pointer, run, struct, table, unknown, whole
from ._head import Head
from ._model import Path
from ._records import Record, read

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import RecipeOptions

__all__ = ["Sensitivity", "prove_sensitivity", "sample_sensitivity"]


class Sensitivity(Record, c="sotto_sensitivity_sample"):
    """Norms of the change of all weights when one record is replaced: l1, l2, linf.

    proved: True: they bound every change. False: maxima over `pairs` sampled pairs; gamma_tolerance (with `confidence`), gamma_exchangeable and
    gamma_dkw are shares of such pairs of the SAME data beyond them. What is sampled is evidence and no bound, and a function of private data.
    Members are those of struct sotto_sensitivity_sample (include/sotto/head.h)."""

    l1: float
    l2: float
    linf: float
    pairs: int
    proved: bool
    _c: Any

    @classmethod
    def _of(cls, c: Any) -> Sensitivity:
        s = read(c)
        s.__dict__.update(_c=c, proved=bool(c.proved))
        assert isinstance(s, Sensitivity)
        return s

    def to_dict(self) -> dict[str, Any]:
        """The document sensitivity.json (docs/FORMATS.md)."""
        return dict(json.loads(out_text(lib.sotto_sensitivity_json, self._c)))

    def save(self, path: Path) -> None:
        """Writes that document, which is as private as the records."""
        run(lib.sotto_sensitivity_save, c_text(path), self._c)

    @classmethod
    def load(cls, path: Path) -> Sensitivity:
        c = ffi.new("struct sotto_sensitivity_sample *")
        run(lib.sotto_sensitivity_load, c, c_text(path))
        return cls._of(c)

    def __repr__(self) -> str:
        how = "proved for all pairs" if self.proved else f"sampled, {self.pairs} pairs"
        return f"Sensitivity(l1 {self.l1:.6g}, l2 {self.l2:.6g}, {how})"


def sample_sensitivity(x: Any, y: Any, *, pairs: int, classes: int | None = None, threads: int | None = None, progress: Progress = None,
                       **more: Unpack[RecipeOptions]) -> Sensitivity:
    """Trains two heads for each of `pairs` random pairs of records of x (n, d), y (n), one record replaced, and keeps the largest changes.

    Measured: evidence, and no bound. Other keyword arguments are the recipe, as of train_head(): trainer ["adam"], hidden, epochs, batch, lr, seed.

    >>> import numpy as np
    >>> x, y = np.eye(4)[[0, 1, 2, 3] * 10], [0, 0, 1, 1] * 10
    >>> s = sotto.sample_sensitivity(x, y, pairs=8, epochs=2)
    >>> s.proved, 0 < s.l2 <= s.l1
    (False, True)
    """
    given: dict[str, Any] = dict(more)
    options = table("head_recipe")
    recipe = options.set(struct("head_recipe"), options.take(given))
    unknown("sample_sensitivity", given, [options])
    a, labels = array(x, "x", np.float32, 2), array(y, "y", np.int64, 1)
    if len(a) != len(labels):
        raise invalid(f"x has {len(a)} records, but y has {len(labels)}")
    c = ffi.new("struct sotto_sensitivity_sample *")
    run(lib.sotto_sensitivity_run, c, pointer(a, "float *"), pointer(labels, "int64_t *"), *a.shape,
        int(labels.max(initial=0)) + 1 if classes is None else whole(classes, "classes", 1), recipe, whole(pairs, "pairs", 1),
        threads=threads, progress=progress)
    return Sensitivity._of(c)


def prove_sensitivity(head: Head) -> Sensitivity:
    """The proved replace-one sensitivity of a head by a convex trainer: it follows from recipe and number of records alone. Raises InvalidArgument
    for other heads.

    >>> import numpy as np
    >>> head = sotto.train_head(np.eye(4)[[0, 1, 2, 3] * 10], [0, 0, 1, 1] * 10, classes=2, trainer="convex")
    >>> sotto.prove_sensitivity(head).proved
    True
    """
    c = ffi.new("struct sotto_sensitivity_sample *")
    run(lib.sotto_sensitivity_prove, c, head._c)
    return Sensitivity._of(c)

"""Canaries among the records of a training: made to be found again, each in it by a coin flip that stays secret (sotto/lab/canary.h)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._call import Array, array, c_text, ffi, fill, invalid, lib, numpy_of, pointer, run, struct, table
from .errors import make


class Canaries:
    """Those of one training, and the set to train on."""

    def __init__(self, c: Any) -> None:
        self._c = ffi.gc(c, lib.sotto_canaries_free)
        self.data = lib.sotto_canaries_data(self._c)

    def save(self, logits: Callable[[Any], Array]) -> None:
        """Takes the answers of the trained model on the canaries, and writes OUTPUT.canaries.npz."""
        records = [lib.sotto_canaries_records(self._c, heads) for heads in (1, 0)]
        answers = [None if r == ffi.NULL else logits(r) for r in records]
        if answers[0] is not None:
            lib.sotto_canaries_answers(self._c, *(ffi.NULL if a is None else pointer(a, "float *") for a in answers))
        run(lib.sotto_canaries_save, self._c)


def asked_canaries(given: dict[str, Any], output: str | None, width: int) -> tuple[Any, Array | None]:
    """struct sotto_canary_options and public rows of the keyword arguments canaries, canary_kind and canary_public, which are taken
    out of `given`; None of what was not asked for. width: values of a record."""
    options = table("canary")
    public = given.pop("canary_public", None)
    chosen: dict[str, Any] = {k: given.pop(k) for k in ("canaries", "canary_kind") if k in given}
    if not chosen.get("canaries"):
        if public is not None or chosen.get("canary_kind") is not None:
            raise make("EUSAGE", "canary_kind and canary_public need canaries=K")
        return None, None
    if output is None:
        raise make("EUSAGE", "canaries need output=, the file of the model: their coins are kept beside it, in OUTPUT.coins.json")
    if public is not None:
        a = numpy_of(public, "canary_public")
        public = array(a.reshape(len(a), -1) if a.ndim > 1 else a, "canary_public", np.float32, 2)
        if public.shape[1] != width:
            raise invalid(f"canary_public has rows of {public.shape[1]} values; expected {width}, those of a record")
    return options.set(struct("canary_options"), chosen), public


def make_canaries(data: Any, rows: Array | None, n: int, *, seed: int, output: str | None, fresh: bool, given: dict[str, Any]) -> Canaries | None:
    """Those of a plain training that asked_canaries() finds in `given`; None without them."""
    made, public = asked_canaries(given, output, data.columns or data.channels * data.height * data.width)
    if made is None:
        return None
    made.seed = seed
    request = struct("canary_request", data=data, rows=rows, n=n, classes=data.classes, relation=lib.SOTTO_CANARY_IN_OR_OUT, output=output, options=made)
    if public is not None:
        fill(request, public_rows=public, public_n=len(public))
    if fresh and output is not None:
        lib.sotto_canaries_forget(c_text(output))
    out = ffi.new("struct sotto_canaries **")
    run(lib.sotto_canaries_make, out, request)
    return Canaries(out[0])

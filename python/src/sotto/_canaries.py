"""Canaries among the records of a training: made to be found again, each in it by a coin flip that stays secret (sotto/canary.h)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._call import Array, array, c_text, ffi, fill, lib, numpy_of, out_text, pointer, run, struct, table
from .errors import make


class Canaries:
    """Those of one training, and the set to train on."""

    def __init__(self, c: Any) -> None:
        self._c = ffi.gc(c, lib.sotto_canaries_free)
        self.data = lib.sotto_canaries_data(self._c)

    def purpose(self, spend: Any) -> None:
        """Puts the commitment to the coins into what the ledger keeps."""
        fill(spend, purpose=out_text(lib.sotto_canaries_purpose, self._c, spend.purpose))

    def save(self, logits: Callable[[Any], Array]) -> None:
        """Takes the answers of the trained model on the canaries, and writes OUTPUT.canaries.npz."""
        records = [lib.sotto_canaries_records(self._c, heads) for heads in (1, 0)]
        answers = [None if r == ffi.NULL else logits(r) for r in records]
        if answers[0] is not None:
            lib.sotto_canaries_answers(self._c, *(ffi.NULL if a is None else pointer(a, "float *") for a in answers))
        run(lib.sotto_canaries_save, self._c)


def make_canaries(data: Any, rows: Array | None, n: int, *, classes: int, adjacency: int | None, seed: int, output: str | None, fresh: bool,
                  spend: Any, given: dict[str, Any]) -> Canaries | None:
    """Of the keyword arguments canaries, canary_kind and canary_public, which are taken out of `given`; None without them.

    adjacency: of a private training; None: of a plain one. spend: struct sotto_spend of a private one."""
    options = table("canary")
    public = given.pop("canary_public", None)
    chosen: dict[str, Any] = {k: given.pop(k) for k in ("canaries", "canary_kind") if k in given}
    if not chosen.get("canaries"):
        if public is not None or chosen.get("canary_kind") is not None:
            raise make("EUSAGE", "canary_kind and canary_public need canaries=K")
        return None
    if output is None:
        raise make("EUSAGE", "canaries need output=, the file of the model: their coins are kept beside it, in OUTPUT.coins.json")
    relation = {None: lib.SOTTO_CANARY_IN_OR_OUT, lib.SOTTO_REPLACE_ONE: lib.SOTTO_CANARY_ONE_OF_TWO}.get(adjacency, lib.SOTTO_CANARY_OR_NOTHING)
    request = struct("canary_request", data=data, n=n, classes=classes, relation=relation, output=output)
    if rows is not None:
        fill(request, rows=rows)
    made = options.set(struct("canary_options"), chosen)
    made.seed = seed or 1
    fill(request, options=made)
    if public is not None:
        a = numpy_of(public, "canary_public")
        a = array(a.reshape(len(a), -1) if a.ndim > 1 else a, "canary_public", np.float32, 2)
        fill(request, public_rows=a, public_n=len(a))
    if adjacency is not None and spend.insecure:
        fill(request, insecure=1, insecure_seed=spend.insecure_seed)
    if fresh:
        lib.sotto_canaries_forget(c_text(output))
    out = ffi.new("struct sotto_canaries **")
    run(lib.sotto_canaries_make, out, request)
    return Canaries(out[0])

"""Canaries in a training by Opacus: records made to be found again, whose coins stay sealed until the audit."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import TensorDataset

from ._audit import AuditResult, audit
from ._call import Array, array, c_text, ffi, fill, invalid, lib, out_text, pointer, run, struct, whole
from ._certificate import Certificate
from .errors import make

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import CanaryAuditOptions

KINDS = {"mislabelled": lib.SOTTO_CANARY_MISLABELLED, "random": lib.SOTTO_CANARY_RANDOM, "dirac": lib.SOTTO_CANARY_DIRAC,
         "clipbkd": lib.SOTTO_CANARY_CLIPBKD, "in-distribution": lib.SOTTO_CANARY_IN_DISTRIBUTION}
RELATIONS = {"zero-out": lib.SOTTO_CANARY_OR_NOTHING, "replace-one": lib.SOTTO_CANARY_ONE_OF_TWO}
MEMORY = 50  # steps that the width of what is seen is measured over


class Canaries:
    """Canaries for sotto.opacus.PrivacyEngine(canaries=...): train on `dataset`, then call audit().

    A coin of the operating system decides for each canary whether it is in the training (adjacency "zero-out": it or nothing) or
    which of two it is ("replace-one"). The coins lie in OUTPUT.coins.json, mode 0600, from now on; the ledger entry of the training
    commits to them. A canary is a record of the account, so the guarantee of the others is what it is without canaries; but release a
    model that was trained without them.

    x: records (n, ...), floats. y: labels (n), from 0. count: of canaries. classes: public. output: the file that the model will be
    saved in. kind: "dirac" (the default), a clipped gradient at one weight, found by who sees all steps; "mislabelled", "random",
    "in-distribution", and "clipbkd" (public_rows: public records (m, ...)), found in the trained model's answers. seed: of the
    canaries and the rows that they displace, no secret. fresh: forget the coins of an earlier training of this output.
    insecure_seed: seeded coins, for tests.

    dataset: torch.utils.data.TensorDataset of x and y. A place that counts as nothing has label 0 and no gradient.
    """

    def __init__(self, x: Any, y: Any, *, count: int, classes: int, output: str | os.PathLike[str], kind: str = "dirac", adjacency: str = "zero-out",
                 public_rows: Any = None, seed: int = 1, fresh: bool = False, insecure_seed: int | None = None) -> None:
        for name, value, known in (("kind", kind, KINDS), ("adjacency", adjacency, RELATIONS)):
            if value not in known:
                raise invalid(f"{name} is {value!r}; expected {', '.join(map(repr, known))}")
        self.kind, self.adjacency, self.output, self.count = kind, adjacency, os.fspath(output), whole(count, "count", 1)
        values, labels = array(x, "x", np.float32), array(y, "y", np.int64, 1)
        self.shape, rows = values.shape[1:], values.reshape(len(values), -1)
        if len(rows) != len(labels):
            raise invalid(f"x has {len(rows)} records, but y has {len(labels)} labels")
        if len(labels) and not 0 <= labels.min() <= labels.max() < classes:
            raise invalid(f"y has labels {labels.min()} to {labels.max()}; expected 0 to {classes - 1}, as classes is {classes}")
        self.classes = classes
        data = struct("dataset", name=b"records", n=len(rows), n_train=len(rows), columns=rows.shape[1], features=rows, classes=classes, labels=labels)
        public = None if public_rows is None else array(public_rows, "public_rows", np.float32)
        if public is not None:
            public = public.reshape(len(public), -1)
            if public.shape[1] != rows.shape[1]:
                raise invalid(f"public_rows has {public.shape[1]} values a record, but x has {rows.shape[1]}")
        request = struct("canary_request", data=data, n=len(rows), classes=classes, options={"count": self.count, "kind": KINDS[kind], "seed": seed},
                         relation=RELATIONS[adjacency], output=self.output, public_rows=public, public_n=0 if public is None else len(public),
                         insecure=int(insecure_seed is not None), insecure_seed=insecure_seed)
        if fresh:
            lib.sotto_canaries_forget(c_text(self.output))
        out = ffi.new("struct sotto_canaries **")
        run(lib.sotto_canaries_make, out, request)
        self._c = ffi.gc(out[0], lib.sotto_canaries_free)
        found_x, found_y = self._arrays(lib.sotto_canaries_data(self._c))
        self._silent = found_y < 0
        self.dataset = TensorDataset(torch.from_numpy(found_x), torch.from_numpy(np.where(self._silent, 0, found_y)))
        self._first = len(found_y) - self.count  # of the places
        self._sign: Array | None = None  # dirac: what a canary adds, in amounts
        if kind == "dirac":
            with open(self.output + ".coins.json", encoding="utf-8") as f:
                heads = np.frombuffer(json.load(f)["coins"].encode(), np.uint8) == ord("1")
            self._sign = np.where(heads, 1.0, -1.0 if adjacency == "replace-one" else 0.0)
        self._seed = seed

    def _arrays(self, d: Any) -> tuple[Array, Array]:
        """Copies of records and labels of a struct sotto_dataset."""
        x = np.frombuffer(ffi.buffer(d.features, d.n * d.columns * 4), np.float32).reshape(d.n, *self.shape).copy()
        return x, np.frombuffer(ffi.buffer(d.labels, d.n * 8), np.int64).copy()

    def purpose(self, purpose: str | None) -> str:
        """For the ledger entry: with the commitment to the coins."""
        return out_text(lib.sotto_canaries_purpose, self._c, ffi.NULL if purpose is None else c_text(purpose))

    # ---- in the training
    def begin(self, dimension: int, rate: float) -> None:
        """Before the first step: a weight for each canary that is a gradient."""
        self._rate = rate
        if self._sign is None:
            return
        if self.count > dimension:
            raise invalid(f"{self.count} canaries of kind 'dirac' for {dimension} weights; expected at most one for each weight")
        self._at = np.random.default_rng(self._seed).permutation(dimension)[:self.count]
        self._white, self._variance, self._seen = np.zeros(self.count), np.zeros(self.count), 0

    def silent(self, rows: list[int]) -> Array:
        """Which of these records count as nothing, or act as gradients of their own."""
        return np.asarray(self._silent[rows])

    def add(self, total: Array, rows: list[int], amount: float) -> None:
        """Adds the canaries among the rows of a step to its sum, `amount` at one weight each."""
        if self._sign is None:
            return
        i = np.array([r - self._first for r in rows if r >= self._first], np.int64)
        total[self._at[i]] += amount * self._sign[i]

    def observe(self, noisy: Array, amount: float, scale: float) -> None:
        """What an observer of all noisy sums learns at the weights of the canaries: the log-likelihood ratio of each coin, as if what
        others add there were normal, of the width of the last steps."""
        if self._sign is None:
            return
        u = noisy[self._at] / amount
        self._seen += 1
        width = np.sqrt(np.maximum((scale / amount) ** 2, self._variance))
        self._variance += (u * u - self._variance) / min(self._seen, MEMORY)
        for sign in (1, -1) if self.adjacency == "replace-one" else (1,):
            ratio = (2 * sign * u - 1) / (2 * width**2)
            self._white += sign * np.logaddexp(np.log(self._rate) + ratio, np.log1p(-self._rate) if self._rate < 1 else -np.inf)

    # ---- after it
    def _black_box(self, module: Any) -> Array:
        """Loss of tails less that of heads."""
        if module is None:
            raise invalid(f"audit() needs module=, the trained model, for canaries of kind {self.kind!r}")
        answers = []
        for heads in (1, 0):
            d = lib.sotto_canaries_records(self._c, heads)
            if d != ffi.NULL:
                was = module.training
                device = next(module.parameters()).device
                with torch.no_grad():
                    module.eval()
                    z = torch.cat([module(part.to(device)).cpu() for part in torch.split(torch.from_numpy(self._arrays(d)[0]), 1024)])
                    module.train(was)
                answers.append(array(z, "the model's answers", np.float32, 2))
                if answers[-1].shape != (self.count, self.classes):
                    raise invalid(f"the model answers {answers[-1].shape}; expected logits ({self.count}, {self.classes})")
        lib.sotto_canaries_answers(self._c, pointer(answers[0], "float *"), pointer(answers[1], "float *") if len(answers) > 1 else ffi.NULL)
        run(lib.sotto_canaries_save, self._c)
        return np.asarray(np.load(self.output + ".canaries.npz")["black_box"])

    def audit(self, module: Any = None, *, one_run: int, certificate: Certificate | None = None,
              **options: Unpack[CanaryAuditOptions]) -> AuditResult:
        """Opens the coins, once, for these scores and this number of guesses, and audits the guesses.

        module: the trained model (kinds other than "dirac"). one_run: guesses on each side; choose it before you look, 1 to 2 % of the
        canaries is good. certificate: of the training (PrivacyEngine.certificate()): its delta, and its whole curve is tested by the
        same guesses (result.curve). Others as of sotto.audit(). What it finds is evidence about one training, not a proof.

        A second call with other scores or another number is refused: it would void the level.
        """
        if self._sign is not None:
            if not getattr(self, "_seen", 0):
                raise make("EUSAGE", "these canaries were in no step yet; train with PrivacyEngine(canaries=...) first")
            scores = self._white
            run(lib.sotto_canaries_save, self._c)
        else:
            scores = self._black_box(module)
        if 2 * whole(one_run, "one_run", 1) > self.count:
            raise invalid(f"one_run is {one_run} guesses on each side of {self.count} canaries; expected at most {self.count // 2}")
        scores = np.ascontiguousarray(scores, np.float64)
        if certificate is not None and self.purpose(None).rpartition(" ")[2] not in (certificate.to_dict().get("purpose") or ""):
            raise invalid("certificate is of another training: it does not hold the commitment to these coins")
        heads, seeded = np.zeros(self.count, np.int64), ffi.new("int *")
        run(lib.sotto_coins_open, pointer(heads, "int64_t *"), seeded,
            fill(struct("coins_request", coins=self.output + ".coins.json", scores=scores), n=self.count, guesses=one_run))
        if certificate is not None:
            options.setdefault("delta", certificate.delta)
        result = audit(scores=scores, membership=heads, one_run=one_run, certificate=certificate,
                       coins="replacement" if self.adjacency == "replace-one" else "inclusion", **options)
        return result

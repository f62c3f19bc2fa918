"""Releases with a proved sensitivity: heads by convex trainers, statistics of records, and every record once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ._call import Array, Progress, c_text, ffi, fill, invalid, keep, lib, noise_once, numpy_of, run, struct, table, whole
from ._certificate import Certificate
from ._dataset import Dataset
from ._head import Head
from ._ledger import Ledger, charge, spend_of, unknown_charge
from ._model import Path
from ._sensitivity import Sensitivity
from ._shaped import provenance, shaped_of
from .errors import SottoError, make

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import ProtectOptions, SpendOptions, StatisticOptions

__all__ = ["protect_head", "release_records", "release_statistic"]

T = TypeVar("T")


def _one_of(function: str, given: dict[str, Any]) -> None:
    noise_once(function, "scale", *(given.get(name) for name in ("scale", "epsilon", "max_tpr", "max_advantage")))


def _named(call: Callable[[], T], names: dict[str, str]) -> T:
    """Errors speak of parameters, not of the files behind them."""
    try:
        return call()
    except SottoError as e:
        text = str(e.args[0])
        for path, name in names.items():
            text = text.replace(path, name)
        e.args = (text, *e.args[1:])
        raise


def _protect(function: str, c: Any, given: dict[str, Any], ledger: Ledger, source: Dataset | None, names: dict[str, str], finish: Callable[[Certificate], T],
             threads: int | None, progress: Progress) -> T:
    """sotto_protect_file() of struct sotto_protect."""
    release = table("release")
    own = struct("release")
    fill(own, sensitivity=c.release.sensitivity)
    release.set(own, release.take(given, ("dimension",)))
    fill(own, spend=spend_of(ledger, given, source))
    own.spend.condition = c.release.spend.condition
    own.records = own.records or c.release.records
    fill(c, release=own)
    unknown_charge(function, given, "release")
    out = ffi.new("struct sotto_certificate **")
    return _named(lambda: charge(ledger, lambda: finish(Certificate(out[0])), lib.sotto_protect_file, out, c, threads=threads, progress=progress), names)


def protect_head(head: Head, output: Path, *, ledger: Ledger, mechanism: str = "logistic", sensitivity: Sensitivity | None = None, source: Dataset | None = None,
                 threads: int | None = None, progress: Progress = None, **options: Unpack[ProtectOptions]) -> Head:
    """Adds noise to all weights of a head, and writes the protected head and its certificate.

    head: of trainer "convex", "convex-sgd" or "convex-lbfgs": its sensitivity follows from its recipe and number of records, and epsilon is
        proved. Of another trainer give l1 or l2, which nothing checks, or sensitivity, of sample_sensitivity(), which is measured: epsilon is
        then conditional on them.
    output: .safetensors to write; OUTPUT.certificate.json lies beside it. epsilon, delta, scale, ledger and others as of release().

    Returns the protected head. Raises BudgetExceeded, InvalidArgument; nothing was charged then.

    >>> import numpy as np
    >>> x, y = np.eye(4)[[0, 1, 2, 3] * 500], [0, 0, 1, 1] * 500
    >>> head = sotto.train_head(x, y, classes=2, trainer="convex", lambda_=.05)
    >>> released = sotto.protect_head(head, folder / "released.safetensors", epsilon=2, delta=1e-5,
    ...                               ledger=sotto.Ledger(folder / "convex.jsonl", dataset="convex"))
    >>> released.certificate.proved, released.score(x, y) > .9
    (True, True)
    """
    given: dict[str, Any] = dict(options)
    _one_of("protect_head", given)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "head.safetensors")
        head.save(path)
        c, sample = struct("protect", input=path, output=output), ffi.new("struct sotto_sensitivity_sample *")
        stated = given.get("l1") is not None or given.get("l2") is not None
        if sensitivity is not None and stated:
            raise make("EUSAGE", "sensitivity= cannot be combined with l1= or l2=; give only one of them")
        if sensitivity is not None:
            sample[0] = sensitivity._c[0]
            file = c_text("the sensitivity")
            keep(c, file)
            c.sensitivity_file = file
        if sensitivity is not None and not sensitivity.proved:
            lib.sotto_sensitivity_of(ffi.addressof(c.release, "sensitivity"), sample)
            c.sensitivity_data = sample.data_sha256
        elif not stated:
            if not lib.sotto_head_records(head._c):
                raise make("EUSAGE", "the sensitivity is missing; give sensitivity=, l1=, l2= or both norms (they can be omitted only for a head by a convex trainer)")
            _named(lambda: run(lib.sotto_sensitivity_of_head, c, sample), {path: "head"})
        given["mechanism"] = mechanism

        def finish(certificate: Certificate) -> Head:
            return Head.load(output)

        return _protect("protect_head", c, given, ledger, source, {path: "head"}, finish, threads, progress)


def _saved(folder: str, name: str, x: Any) -> str:
    """An array as a file that only this user can read."""
    path = os.path.join(folder, f"{name}.npy")
    a = numpy_of(x, name)
    np.save(path, np.ascontiguousarray(a), allow_pickle=False)
    return path


def release_statistic(records: Any, statistic: str, *, ledger: Ledger, mechanism: str = "logistic", range: Sequence[float] | None = None, cases: Any = None,
                      source: Dataset | None = None, threads: int | None = None, progress: Progress = None,
                      **more: Unpack[StatisticOptions]) -> tuple[Array, Certificate]:
    """Releases a statistic of each column of private records, with a proved sensitivity. The number of records is public.

    records: (n, columns); float64 is used as it is. statistic: "mean" (range=(low, high), to which values are clipped);
        "chi-square-genotypes", "chi-square-alleles" (cases: (n) 1 for cases and 0 for controls, public, as many of each); "median" (one
        column, range, mechanism "smooth-median"; blocks: of the means of so many blocks of records); "most-frequent" (labels (n), classes,
        mechanism "propose-test-release": one label, or -1 for nothing).
    mechanism: "logistic", "laplace", "gaussian", "knorm"; "permute-and-flip": the `choices` columns with the largest statistic.
    epsilon, delta, scale, ledger and others as of release(). During the call a copy of the records is in a folder for temporary files that only this
    user can read.

    Returns what is released and its certificate. Raises BudgetExceeded, InvalidArgument; nothing was charged then.

    >>> import numpy as np
    >>> ages = np.random.default_rng(1).integers(18, 80, (1000, 1))
    >>> mean, certificate = sotto.release_statistic(ages, "mean", range=(0, 100), mechanism="laplace", epsilon=1,
    ...                                             ledger=sotto.Ledger(folder / "ages.jsonl", dataset="ages"))
    >>> certificate.proved, bool(abs(mean[0] - ages.mean()) < 5)
    (True, True)
    """
    given: dict[str, Any] = dict(more)
    _one_of("release_statistic", given)
    options = table("protect")
    with tempfile.TemporaryDirectory() as folder:
        path, output = _saved(folder, "records", records), os.path.join(folder, "released.npy")
        c = struct("protect", input=path, output=output, statistic=statistic)
        if range is not None:
            if len(range) != 2 or not range[0] < range[1]:
                raise invalid(f"range must be (low, high) (got {range!r})")
            c.range[0], c.range[1] = map(float, range)
        names = {path: "records", output: "the output"}
        if cases is not None:
            given["cases"] = _saved(folder, "cases", cases)
            names[given["cases"]] = "cases"
        options.set(c, options.take(given, ("statistic", "output")))
        given["mechanism"] = mechanism
        run(lib.sotto_provenance_save, c_text(path), provenance(source and source._provenance(), shaped_of(records)))
        return _protect("release_statistic", c, given, ledger, source, names, lambda certificate: certificate._with(np.load(output)), threads, progress)


def release_records(x: Any, output: Path, *, clip: float, ledger: Ledger, mechanism: str | None = None, norm: str = "l2", labels: Any = None,
                    classes: int | None = None, label_epsilon: float | None = None, labels_output: Path | None = None, labels_from: int = 0,
                    epsilon: float | None = None, scale: float | None = None, delta: float | None = None,
                    max_tpr: tuple[float, float] | None = None, max_advantage: float | None = None, source: Dataset | None = None,
                    threads: int | None = None, progress: Progress = None, **more: Unpack[SpendOptions]) -> Certificate:
    """Releases every record once, with noise, as a file that anyone may train on; what is made of it costs nothing more.

    x: (n, ...): each row is clipped to norm `clip`, in `norm` "l2" or "l1"; uint8 of more than two dimensions are pixels and become numbers from
        0 to 1. n and the shape are public. A row that is not finite counts as zeros. output: .npy to write, (n, values) float32.
    mechanism: "gaussian" (the default; of "l1" "laplace") or "logistic". epsilon: of labels and records together, or scale; where labels are public, max_tpr or max_advantage as of release(). delta: the default is
        1 / (10 n), rounded down to a power of ten.
    labels: (n), released by randomised response of label_epsilon, with public `classes`, to labels_output (OUTPUT with .labels.npy); adjacent
        are then files that differ in one record. None: labels are public, and adjacent are files that differ in one row of x.
    During the call a copy of the records is in a folder for temporary files that only this user can read.

    Returns the certificate, saved beside the output. Raises BudgetExceeded, InvalidArgument; nothing was charged then.

    >>> import numpy as np
    >>> certificate = sotto.release_records(np.eye(3), folder / "noisy.npy", clip=1, epsilon=50, delta=1e-3,
    ...                                     ledger=sotto.Ledger(folder / "rows.jsonl", dataset="rows"))
    >>> certificate.proved, certificate.adjacency, np.load(folder / "noisy.npy").shape
    (True, 'replace-input', (3, 3))
    """
    given: dict[str, Any] = dict(more)
    _one_of("release_records", {"epsilon": epsilon, "scale": scale, "max_tpr": max_tpr, "max_advantage": max_advantage})
    if (labels is None) != (label_epsilon is None):
        raise make("EUSAGE", "labels and label_epsilon must be given together")
    if labels is not None and classes is None:
        raise make("EUSAGE", "labels need classes=K, which is public and not derived from them")
    options = table("protect_records")
    with tempfile.TemporaryDirectory() as folder:
        path = _saved(folder, "x", x)
        names = {path: "x"}
        c = struct("protect_records", input=path, output=output, mechanism=mechanism, scale=scale, labels_output=labels_output,
                   labels_from=whole(labels_from, "labels_from", 0), classes=classes)
        chosen: dict[str, Any] = {"clip": clip, "norm": norm, "label_epsilon": label_epsilon}
        if labels is not None:
            chosen["labels"] = _saved(folder, "labels", labels)
            names[chosen["labels"]] = "labels"
        options.set(c, chosen)
        target = table("release")
        r = target.set(struct("release"), {k: v for k, v in
                                                (("epsilon", epsilon), ("delta", delta), ("max_tpr", max_tpr), ("max_advantage", max_advantage)) if v is not None})
        fill(c, target=r.target, risk=r.risk, spend=spend_of(ledger, given, source, shaped_of(x)))
        unknown_charge("release_records", given)
        out = ffi.new("struct sotto_certificate **")

        def finish() -> Certificate:
            return Certificate(out[0], os.fspath(output) + ".certificate.json")

        return _named(lambda: charge(ledger, finish, lib.sotto_protect_records, out, c, threads=threads, progress=progress), names)

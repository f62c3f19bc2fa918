"""Releases of what private records decide: the ledger is charged, and only then noise is drawn."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ._call import Array, Progress, ffi, fill, invalid, lib, noise_once, numpy_of, pointer, struct, table
from ._call import whole as whole_number
from ._certificate import Certificate
from ._dataset import Dataset
from ._ledger import Ledger, charge, spend_of, unknown_charge
from ._shaped import Shaping, shaped_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import ChoiceOptions, ReleaseOptions

__all__ = ["randomise", "release", "select"]


def release(values: Any, *, mechanism: str, ledger: Ledger, source: Dataset | None = None, threads: int | None = None, progress: Progress = None,
            **options: Unpack[ReleaseOptions]) -> tuple[Any, Certificate]:
    """Adds noise to an array, or to all tensors of a state_dict as one vector, and says what that guarantees.

    values: array of any shape, or a mapping of names to arrays or tensors. It is not changed. float64 stays float64 up to the lattice
        of the noise and comes out as float64; float32 and shorter floats come out as float32, whole numbers, cut to 2^53, as float64.
    mechanism: one of sotto.account.mechanisms() that adds noise. epsilon: the target, or scale: of the noise, in units of the values.
        Or max_tpr=(0.02, 0.01): no test of membership finds more than 2 % of the members where it accuses 1 % of the others; or
        max_advantage: nor is its true-positive rate more above its false-positive rate. Certificate.risk() says what holds.
    delta: in [0, 1); 0 (the default) is pure epsilon-DP. l1, l2: the most by which one replaced record changes the vector. Nothing
        checks them here, so the certificate's epsilon is conditional on them; sotto.protect() releases what has a proof of its own.
    value_step: all values are whole multiples of it (discrete mechanisms: 1). records: in the private data set; delta >= 1/records is
        warned about. purpose: kept in ledger and certificate. read_from_data: names of parameters that were read from the private data.
    insecure_seed: noise from a seed, for tests: no privacy, and the certificate says so. source: Dataset of the records behind the values.

    Returns what is released, in the shape and kind of `values`, and its certificate. Raises BudgetExceeded, and InvalidArgument for a
    parameter or a value that is not finite; nothing was charged then. An exception after the charge names it.

    >>> ledger = sotto.Ledger(folder / "trial.jsonl", dataset="trial")
    >>> noisy, certificate = sotto.release([0.2, 0.7], mechanism="laplace", l1=0.01, epsilon=0.5, ledger=ledger)
    >>> certificate.guarantee, round(float(certificate.epsilon), 6), noisy.dtype.name
    ('conditional', 0.5, 'float64')
    """
    given: dict[str, Any] = dict(options)
    items = dict(values) if isinstance(values, Mapping) else {"values": values}
    whole = mechanism.startswith("discrete-")
    arrays = {name: _reals(v, str(name), whole or not isinstance(values, Mapping)) for name, v in items.items()}
    if not sum(a.size for a in arrays.values()):
        raise invalid("values has no numbers; expected at least one")
    vector = np.concatenate([np.ravel(a).astype(np.float64) for a in arrays.values()])
    if whole and given.get("value_step") is None:
        given["value_step"] = 1.0
    c = _request("release", mechanism, ledger, given, source, shaped=shaped_of(items))
    out = ffi.new("struct sotto_certificate **")

    def finish() -> tuple[Any, Certificate]:
        parts = np.split(vector, np.cumsum([a.size for a in arrays.values()])[:-1])
        made = {n: _like(part.reshape(a.shape), a.dtype, items[n]) for (n, a), part in zip(arrays.items(), parts)}
        released = [numpy_of(x, str(n)) for n, x in made.items()]
        return (made if isinstance(values, Mapping) else made["values"]), Certificate(out[0], released=released)

    return charge(ledger, finish, lib.sotto_dp_release_double, out, pointer(vector, "double *"), len(vector), c,
                  threads=threads, progress=progress)


def _reals(x: Any, name: str, whole: bool) -> Array:
    """An array of float32 or float64. What is refused depends on its type alone: whole numbers beyond 2^53 count as that end, which brings
    no two of them farther apart."""
    a = numpy_of(x, name)
    if a.dtype.kind == "f" and a.dtype.itemsize > 8:  # rounding it before the noise would not be accounted for
        raise invalid(f"{name} has dtype {a.dtype}; expected float64 or shorter floats")
    if a.dtype.kind == "f":
        return a if a.dtype == np.float64 else np.asarray(a, np.float32) if a.dtype.itemsize <= 4 else np.asarray(a, np.float64)
    if not whole:
        raise invalid(f"{name} has dtype {a.dtype}; expected floating-point tensors")
    if a.dtype.itemsize == 8:
        a = np.minimum(a, 2**53) if a.dtype.kind == "u" else np.clip(a, -(2**53), 2**53)
    return np.asarray(a, np.float64)


def _is_tensor(x: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def _like(part: Array, dtype: Any, original: Any) -> Any:
    """What is released of one array: a float has its largest finite value instead of an infinity."""
    if dtype == np.float32:
        end = float(np.finfo(np.float32).max)
        part = np.clip(part, -end, end).astype(np.float32)
    else:
        part = part.copy()
    if _is_tensor(original):
        return sys.modules["torch"].from_numpy(part)
    return part


def _request(function: str, mechanism: str, ledger: Ledger, given: dict[str, Any], source: Dataset | None = None,
             sensitivity: Mapping[str, Any] = MappingProxyType({}), shaped: tuple[Shaping, ...] = ()) -> Any:
    """struct sotto_release."""
    get = given.get
    noise_once(function, "scale", get("scale") if get("sigma") is None else get("sigma"),
               get("epsilon") if get("target_epsilon") is None else get("target_epsilon"), get("max_tpr"), get("max_advantage"))
    options = table("release")
    c = struct("release", mechanism=mechanism)
    fill(c, sensitivity=sensitivity)
    options.set(c, options.take(given, ("mechanism", "dimension", *sensitivity)))
    fill(c, spend=spend_of(ledger, given, source, shaped))
    unknown_charge(function, given, "release")
    return c


def select(scores: Any, *, l1: float, ledger: Ledger, mechanism: str = "permute-and-flip", choices: int | None = None,
           threads: int | None = None, **options: Unpack[ChoiceOptions]) -> tuple[Any, Certificate]:
    """Chooses one of several candidates by their scores; higher scores are likelier. Pure epsilon-DP.

    scores: (n), one for each candidate; float64 is used as it is. l1: the most by which one replaced record changes a score; the
    certificate is conditional on it. epsilon or scale; purpose, read_from_data, insecure_seed as of release().
    mechanism: "permute-and-flip" (never a larger expected error) or "exponential". choices: so many different candidates, 1 to
    min(n, 512), for the same epsilon.

    Returns the index (with `choices` an array of them, in the order in which they were chosen) and the certificate.

    >>> ledger = sotto.Ledger(folder / "survey.jsonl", dataset="survey")
    >>> sotto.select([0.0, 900.0, 3.0], l1=1, epsilon=1, ledger=ledger)[0]
    1
    """
    x = np.array(_reals(scores, "scores", True), np.float64, order="C")
    if x.ndim != 1:
        raise invalid(f"scores has {x.ndim} dimensions (shape {x.shape}); expected 1")
    k = 1 if choices is None else whole_number(choices, "choices", 1)
    c = _request("select", mechanism, ledger, dict(options), None, {"l1": float(l1)}, shaped_of(scores))
    chosen = np.zeros(k, np.uintp)
    out = ffi.new("struct sotto_certificate **")

    def finish() -> tuple[Any, Certificate]:
        return (int(chosen[0]) if choices is None else chosen.astype(np.int64)), Certificate(out[0], released=[chosen])

    return charge(ledger, finish, lib.sotto_dp_select_top, pointer(chosen, "size_t *"), k, out, pointer(x, "double *"), len(x), c,
                  threads=threads)


def quiet_labels(x: Any, name: str, first: int = 0) -> Array:
    """Labels (n) as int64. What is no whole number from `first` becomes -1, and nothing is said of it. Arrays of floats are refused for
    their type, whatever they hold: of labels such as 0.5 a full epsilon would buy a model of nothing."""
    a = numpy_of(x, name)
    if a.dtype.kind == "f" and hasattr(x, "dtype"):  # a list has no type of its own: one label would decide
        raise invalid(f"{name} has dtype {a.dtype}; expected whole numbers: give {name}.astype(int) if each of them is one")
    if a.ndim == 2 and a.shape[1] == 1:
        a = a[:, 0]
    if a.ndim != 1:
        raise invalid(f"{name} has {a.ndim} dimensions (shape {a.shape}); expected 1")
    with np.errstate(all="ignore"):
        y = np.asarray(a, np.float64) - first
        return np.where((y >= 0) & (y < 2.0**53) & (y == np.floor(y)), y, -1).astype(np.int64)


def randomise(labels: Any, *, classes: int, ledger: Ledger, labels_from: int = 0, threads: int | None = None,
              **options: Unpack[ChoiceOptions]) -> tuple[Array, Certificate]:
    """Randomised response on labels: each is kept with probability e^t / (e^t + classes - 1), else replaced by another. Pure epsilon-DP,
    proved, for any number of labels.

    labels: (n) whole numbers, one record each. classes: public number of classes, at least 2. A label that is no class counts as class 0.
    epsilon: t, or scale: 1 / t. labels_from: number of the first class, 0 or 1. purpose, insecure_seed as of release().

    Returns labels (n) int64, which count from 0, and the certificate.

    >>> ledger = sotto.Ledger(folder / "votes.jsonl", dataset="votes")
    >>> y, certificate = sotto.randomise([0, 1, 1, 2], classes=3, epsilon=2, ledger=ledger)
    >>> certificate.proved, len(y)
    (True, 4)
    """
    y, classes = quiet_labels(labels, "labels", labels_from), whole_number(classes, "classes", 2)
    y = np.where(y < classes, np.maximum(y, 0), 0)
    c = _request("randomise", "randomised-response", ledger, dict(options), None)
    out = ffi.new("struct sotto_certificate **")
    return charge(ledger, lambda: (y, Certificate(out[0], released=[y])), lib.sotto_dp_randomise, out, pointer(y, "int64_t *"), len(y), classes, c,
                  threads=threads)

"""What noise costs: epsilon as an interval with two proved ends, and the noise that a target needs.

Sensitivities are norms of the most that one record changes the released vector; nothing checks them here. `adjacency` of a
release is that of its sensitivity. Every function raises sotto.errors.InvalidArgument (a ValueError) with the parameter's name."""

from __future__ import annotations

import json
import math
from typing import Any, Literal

from ._call import c_text, ffi, lib, out_text, run, struct
from ._records import Interval, Record, read

__all__ = ["Account", "calibrate", "calibrate_dpsgd", "choose", "dpsgd", "gaussian", "laplace", "logistic", "mechanisms", "release"]

Adjacency = Literal["replace-one", "add-remove", "zero-out"]
Sampling = Literal["poisson", "fixed"]


class Account(Record, c="sotto_account"):
    """What a mechanism at a scale guarantees.

    epsilon: of the whole composition at `delta`. bounds: every way that applies, by name; `accountant` is the smallest one.
    pure_epsilon, zcdp_rho: None where there is none. other_epsilon: of sampled steps under `other_adjacency`, else None."""

    mechanism: str
    accountant: str
    adjacency: str
    scale: float
    delta: float
    compose: int
    sample_rate: float
    sampling: str
    clipping: str
    epsilon: Interval
    pure_epsilon: float | None
    zcdp_rho: float | None
    standard_deviation: float
    bounds: dict[str, float]
    note: str
    other_adjacency: str
    other_epsilon: Interval | None
    certified: bool

    @classmethod
    def _finish(cls, members: dict[str, Any]) -> None:
        members["bounds"] = {b.name: b.epsilon for b in members["bounds"]}
        for name in ("pure_epsilon", "zcdp_rho"):
            if math.isnan(members[name]):
                members[name] = None
        if not members["other_adjacency"]:
            members["other_epsilon"] = None

    def to_dict(self) -> dict[str, Any]:
        """The document "sotto.account/1" (docs/FORMATS.md)."""
        return dict(json.loads(self._json))

    def __repr__(self) -> str:
        return (f"Account({self.mechanism}, scale {self.scale:.6g}: epsilon [{self.epsilon.lower:.6g}, {self.epsilon.upper:.6g}]"
                f" at delta {self.delta:.6g}, {self.adjacency}, by {self.accountant}{', certified' if self.certified else ''})")


def _account(c: Any, certified: bool = False) -> Account:
    account: Account = read(c)
    account.__dict__.update(certified=certified, _json=out_text(lib.sotto_account_json, c))
    return account


def _sensitivity(l1: float | None, l2: float | None, dimension: int, value_step: float = 0.0) -> Any:
    return struct("sensitivity", l1=l1, l2=l2, dimension=dimension, value_step=value_step)


def release(mechanism: str, scale: float, *, l1: float | None = None, l2: float | None = None, dimension: int = 0, value_step: float = 0.0,
            delta: float = 0.0, compose: int = 1, certified: bool = False, threads: int | None = None) -> Account:
    """Epsilon of one release, or of `compose` identical ones with independent noise. Proved.

    mechanism: one of mechanisms(). scale: of the noise, > 0, in units of the vector. l1, l2: sensitivities, at least one.
    dimension: coordinates of the vector; 0: unknown. value_step: every value is a whole multiple of it (discrete mechanisms).
    delta: in [0, 1); 0: pure epsilon. certified: the proof is repeated in ball arithmetic.

    >>> release("gaussian", 2.0, l2=1.0, delta=1e-5).epsilon.upper.__round__(4)
    1.9931
    """
    out = ffi.new("struct sotto_account *")
    function = lib.sotto_account_release_certified if certified else lib.sotto_account_release
    run(function, out, c_text(mechanism), scale, _sensitivity(l1, l2, dimension, value_step), delta, compose, threads=threads)
    return _account(out, certified)


def gaussian(scale: float, *, l2: float = 1.0, delta: float, compose: int = 1, certified: bool = False) -> Account:
    """Epsilon of Gaussian noise of standard deviation `scale` on a vector. Parameters as of release()."""
    return release("gaussian", scale, l2=l2, delta=delta, compose=compose, certified=certified)


def logistic(scale: float, *, l1: float | None = None, l2: float | None = None, dimension: int = 0, delta: float = 0.0, compose: int = 1,
             certified: bool = False) -> Account:
    """Epsilon of logistic noise of scale `scale` on a vector. Parameters as of release()."""
    return release("logistic", scale, l1=l1, l2=l2, dimension=dimension, delta=delta, compose=compose, certified=certified)


def laplace(scale: float, *, l1: float, delta: float = 0.0, compose: int = 1, certified: bool = False) -> Account:
    """Epsilon of Laplace noise of scale `scale` on a vector. Parameters as of release()."""
    return release("laplace", scale, l1=l1, delta=delta, compose=compose, certified=certified)


def _sampled(noise: str, noise_multiplier: float | None, sample_rate: float, steps: int, delta: float, clipping: str, adjacency: str | None,
             sampling: str, rows_per_person: int) -> Any:
    named = ffi.new("enum sotto_adjacency *")
    run(lib.sotto_adjacency_find, named, c_text(adjacency or ("replace-one" if sampling == "fixed" else "add-remove")))
    how = ffi.new("enum sotto_sampling *")
    run(lib.sotto_sampling_find, how, c_text(sampling))
    norms = {"l2": lib.SOTTO_NORM_L2, "l1": lib.SOTTO_NORM_L1}
    if clipping not in norms:
        from ._call import invalid
        raise invalid(f"clipping must be 'l1' or 'l2' (got {clipping!r})")
    return struct("sampled", mechanism=noise, noise_multiplier=noise_multiplier, sample_rate=sample_rate, steps=steps, delta=delta,
                  clipping=norms[clipping], adjacency=named[0], sampling=how[0], rows_per_person=rows_per_person)


def dpsgd(*, noise_multiplier: float, sample_rate: float, steps: int, delta: float, noise: str = "gaussian", clipping: str = "l2",
          adjacency: Adjacency | None = None, sampling: Sampling = "poisson", rows_per_person: int = 0, certified: bool = False,
          threads: int | None = None) -> Account:
    """Epsilon of DP-SGD: `steps` noisy sums of clipped gradients over samples of rate `sample_rate`. Proved.

    noise_multiplier: scale of the noise / clipping norm, > 0. sample_rate: in (0, 1]. delta: in (0, 1).
    noise: "gaussian", "logistic", or "laplace" (clipping "l1"). sampling "fixed": samples of a fixed size, replace-one only.
    adjacency: None stands for "add-remove", as in published figures, and for "replace-one" with samples of a fixed size.
    The result's other_epsilon is that under the other adjacency. certified: repeated in ball arithmetic, in seconds (add-remove).

    >>> dpsgd(noise_multiplier=1.1, sample_rate=.01, steps=1000, delta=1e-5).epsilon.upper.__round__(4)
    1.5154
    """
    c = _sampled(noise, noise_multiplier, sample_rate, steps, delta, clipping, adjacency, sampling, rows_per_person)
    out = ffi.new("struct sotto_account *")
    run(lib.sotto_account_sampled_certified if certified else lib.sotto_account_sampled_both, out, c, threads=threads)
    return _account(out, certified)


def calibrate(mechanism: str, *, epsilon: float, delta: float = 0.0, l1: float | None = None, l2: float | None = None, dimension: int = 0,
              value_step: float = 0.0, compose: int = 1, certified: bool = False, threads: int | None = None) -> Account:
    """The account of the smallest scale (rounded up) that meets (epsilon, delta). Parameters as of release().

    >>> calibrate("laplace", epsilon=1.0, l1=2.0).scale
    2.0
    """
    sensitivity, target = _sensitivity(l1, l2, dimension, value_step), {"epsilon": epsilon, "delta": delta}
    if certified:
        out = ffi.new("struct sotto_account *")
        run(lib.sotto_calibrate_certified, out, c_text(mechanism), sensitivity, target, compose, threads=threads)
        return _account(out, True)
    scale = ffi.new("double *")
    run(lib.sotto_calibrate_composed, scale, c_text(mechanism), sensitivity, target, compose, threads=threads)
    return release(mechanism, scale[0], l1=l1, l2=l2, dimension=dimension, value_step=value_step, delta=delta, compose=compose, threads=threads)


def calibrate_dpsgd(*, epsilon: float, delta: float, sample_rate: float, steps: int, noise: str = "gaussian", clipping: str = "l2",
                    adjacency: Adjacency | None = None, sampling: Sampling = "poisson", rows_per_person: int = 0, certified: bool = False,
                    threads: int | None = None) -> Account:
    """The account of the smallest noise multiplier (its `scale`) that meets (epsilon, delta). Parameters as of dpsgd()."""
    c = _sampled(noise, None, sample_rate, steps, delta, clipping, adjacency, sampling, rows_per_person)
    if certified:
        out = ffi.new("struct sotto_account *")
        run(lib.sotto_calibrate_sampled_certified, out, c, epsilon, threads=threads)
        return _account(out, True)
    multiplier = ffi.new("double *")
    run(lib.sotto_calibrate_sampled, multiplier, c, epsilon, threads=threads)
    return dpsgd(noise_multiplier=multiplier[0], sample_rate=sample_rate, steps=steps, delta=delta, noise=noise, clipping=clipping,
                 adjacency=adjacency, sampling=sampling, rows_per_person=rows_per_person, threads=threads)


def choose(*, epsilon: float, delta: float = 0.0, l1: float | None = None, l2: float | None = None, dimension: int = 0,
           value_step: float = 0.0, compose: int = 1, threads: int | None = None) -> list[Account]:
    """The accounts of all mechanisms that reach (epsilon, delta), each at its smallest scale, least noise first.

    >>> [a.mechanism for a in choose(epsilon=1, delta=1e-5, l1=1, l2=.2)][0]
    'gaussian'
    """
    accounts, count = ffi.new("struct sotto_account[]", lib.SOTTO_MAX_MECHANISMS), ffi.new("size_t *")
    run(lib.sotto_choose, accounts, count, _sensitivity(l1, l2, dimension, value_step), {"epsilon": epsilon, "delta": delta}, compose,
        threads=threads)
    return [_account(accounts + i) for i in range(count[0])]


def mechanisms() -> dict[str, str]:
    """Names of the mechanisms and a line about each."""
    found: dict[str, str] = {}
    while (name := lib.sotto_mechanism_name(len(found))) != ffi.NULL:
        found[ffi.string(name).decode()] = ffi.string(lib.sotto_mechanism_title(len(found))).decode()
    return found

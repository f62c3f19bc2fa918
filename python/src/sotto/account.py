"""What noise costs: epsilon as an interval with two proved ends, and the noise that a target needs.

Sensitivities are norms of the most that one record changes the released vector; nothing checks them here. `adjacency` of a
release is that of its sensitivity. Every function raises sotto.errors.InvalidArgument (a ValueError) with the parameter's name."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from ._call import c_text, ffi, invalid, lib, out_text, run, struct, text_of
from ._records import Interval, Record, read

if TYPE_CHECKING:
    from ._certificate import Certificate

__all__ = ["Account", "calibrate", "calibrate_dpsgd", "choose", "compose", "dpsgd", "gaussian", "laplace", "logistic", "mechanisms", "release"]

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
    _event: dict[str, Any]
    _json: str

    @classmethod
    def _finish(cls, members: dict[str, Any]) -> None:
        members["bounds"] = {b.name: b.epsilon for b in members["bounds"]}
        for name in ("pure_epsilon", "zcdp_rho"):
            if math.isnan(members[name]):
                members[name] = None
        if not members.pop("sampled"):
            members["sampling"] = members["clipping"] = ""
        if not members.pop("has_other"):
            members["other_adjacency"], members["other_epsilon"] = "", None
        if members["adjacency"] == "same-adjacency":  # nothing is claimed
            members["adjacency"] = ""

    def to_dict(self) -> dict[str, Any]:
        """The document "sotto.account/1" (docs/FORMATS.md)."""
        return dict(json.loads(self._json))

    def __repr__(self) -> str:
        return (f"Account({self.mechanism}, scale {self.scale:.6g}: epsilon [{self.epsilon.lower:.6g}, {self.epsilon.upper:.6g}]"
                f" at delta {self.delta:.6g}, {self.adjacency}, by {self.accountant}{', certified' if self.certified else ''})")


def _account(c: Any, event: Mapping[str, Any] = MappingProxyType({}), certified: bool = False) -> Account:
    """event: what was done, as in a file of sotto.events/1; empty: not known."""
    account: Account = read(c)
    account.__dict__.update(certified=certified, _event={k: v for k, v in event.items() if v}, _json=out_text(lib.sotto_account_json, c))
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
    return _account(out, _noise(mechanism, scale, l1, l2, dimension, value_step, compose), certified)


def _noise(mechanism: str, scale: float, l1: float | None, l2: float | None, dimension: int, value_step: float, count: int) -> dict[str, Any]:
    return {"mechanism": mechanism, "scale": scale, "l1": l1, "l2": l2, "dimension": dimension, "value_step": value_step, "count": count}


def _steps(c: Any, noise: str, noise_multiplier: float, clipping: str, sampling: str) -> dict[str, Any]:
    if c.rows_per_person:
        return {}
    return {"mechanism": noise, "noise_multiplier": noise_multiplier, "sample_rate": c.sample_rate, "steps": c.steps, "clipping": clipping,
            "sampling": sampling}


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
    return _account(out, _steps(c, noise, noise_multiplier, clipping, sampling), certified)


def calibrate(mechanism: str, *, epsilon: float, delta: float = 0.0, l1: float | None = None, l2: float | None = None, dimension: int = 0,
              value_step: float = 0.0, compose: int = 1, certified: bool = False, threads: int | None = None) -> Account:
    """The account of the smallest scale (rounded up) that meets (epsilon, delta). Parameters as of release().

    >>> round(calibrate("laplace", epsilon=1.0, l1=2.0).scale, 12)  # a hair more: the target is met with room for rounding
    2.0
    """
    sensitivity, target = _sensitivity(l1, l2, dimension, value_step), {"epsilon": epsilon, "delta": delta}
    if certified:
        out = ffi.new("struct sotto_account *")
        run(lib.sotto_calibrate_certified, out, c_text(mechanism), sensitivity, target, compose, threads=threads)
        return _account(out, _noise(mechanism, out.scale, l1, l2, dimension, value_step, compose), True)
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
        return _account(out, _steps(c, noise, out.scale, clipping, sampling), True)
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
    return [_account(a, _noise(text_of(a.mechanism), a.scale, l1, l2, dimension, value_step, compose)) for a in (accounts + i for i in range(count[0]))]


def compose(events: Sequence[Account | Certificate | Mapping[str, Any]], *, delta: float, adjacency: Adjacency = "replace-one",
            threads: int | None = None) -> Account:
    """Epsilon of different releases of one data set together, each with independent noise. Proved, if each event is what it says.

    events: Accounts of this module; mappings as in a file of sotto.events/1 (docs/FORMATS.md), such as {"mechanism": "laplace",
    "scale": 2.0, "l1": 1.0, "count": 3} or {"mechanism": "stated", "epsilon": .1, "delta": 1e-7}; and Certificates, which count as their
    epsilon and delta, no better (sotto.Ledger.total() knows their mechanisms). delta: of all together.
    adjacency: of the result, and of events of a scale that name none; sampled steps are add-remove by themselves, which counts twice under
    replace-one where their pair is not known. The result's mechanism is "composition", unless there is one kind of event.

    >>> three = [laplace(2.0, l1=1.0), gaussian(4.0, delta=1e-6), {"mechanism": "stated", "epsilon": .1}]
    >>> compose(three, delta=1e-5).epsilon.upper < .5 + gaussian(4.0, delta=1e-5).epsilon.upper + .1
    True
    """
    from ._certificate import Certificate
    from ._protect import _named
    listed = []
    for i, event in enumerate(events):
        if isinstance(event, Account):
            if not event._event:
                raise invalid(f"events[{i}]: this account does not say what was done (rows_per_person, or of a certificate); state its epsilon and delta")
            listed.append(event._event)
        elif isinstance(event, Certificate):
            if event.epsilon is None:
                raise invalid(f"events[{i}]: this certificate has no epsilon, as its noise was seeded")
            named = "add-remove" if event.adjacency == "zero-out" else event.adjacency  # a replaced record is two of them
            listed.append({"mechanism": "stated", "epsilon": event.epsilon.upper, "delta": event.delta, "adjacency": named})
        else:
            listed.append(dict(event))
        if "noise_multiplier" in listed[-1]:
            listed[-1] = {"adjacency": "replace-one" if listed[-1].get("sampling") == "fixed" else "add-remove", **listed[-1]}
    target = ffi.new("enum sotto_adjacency *")
    run(lib.sotto_adjacency_find, target, c_text("add-remove" if adjacency == "zero-out" else adjacency))
    out = ffi.new("struct sotto_account *")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "events.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"schema": "sotto.events/1", "adjacency": "add-remove" if target[0] == lib.SOTTO_ADD_REMOVE else "replace-one", "events": listed}, f)
        _named(lambda: run(lib.sotto_account_events_file, out, c_text(path), delta, target[0], threads=threads), {path: "events"})
    return _account(out)


def mechanisms() -> dict[str, str]:
    """Names of the mechanisms and a line about each."""
    found: dict[str, str] = {}
    while (name := lib.sotto_mechanism_name(len(found))) != ffi.NULL:
        found[ffi.string(name).decode()] = ffi.string(lib.sotto_mechanism_title(len(found))).decode()
    return found

"""sotto.opacus: Opacus with epsilons that are proved, and with the noise and the samples of the library.

`import sotto.opacus` registers the accountant "sotto" with Opacus (needs torch and opacus)."""

from __future__ import annotations

from collections import Counter
from typing import Any

from opacus.accountants import IAccountant, register_accountant

from ._call import c_text, ffi, fill, lib, run
from ._records import Interval

__all__ = ["Accountant"]


class Accountant(IAccountant):
    """An accountant of Opacus: opacus.PrivacyEngine(accountant="sotto"), get_noise_multiplier(accountant="sotto").

    Opacus tells an accountant noise multiplier and sampling rate of each step and nothing else. So its epsilons are proved for
    Gaussian noise on clipped sums if batches were Poisson-sampled at this rate; `statement` says so. PrivacyEngine of this module
    knows what was sampled."""

    history: list[tuple[float, float, int]]

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Any, Interval] = {}

    @classmethod
    def mechanism(cls) -> str:
        """The name that Opacus knows it by."""
        return "sotto"

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Counts one step."""
        if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
            self.history[-1] = (noise_multiplier, sample_rate, self.history[-1][2] + 1)
        else:
            self.history.append((noise_multiplier, sample_rate, 1))

    def __len__(self) -> int:
        """As in the accountants of Opacus: stretches of equal steps, so 0 before the first step."""
        return len(self.history)

    def get_epsilon(self, delta: float, **_: Any) -> float:
        """Upper end of interval(delta): the guarantee."""
        return self.interval(delta).upper

    def interval(self, delta: float, *, adjacency: str = "add-remove") -> Interval:
        """Epsilon of all steps so far at `delta` in (0, 1); both ends are proved.

        adjacency: "add-remove", as Opacus counts; "zero-out", the same; "replace-one", one record replaced by another.

        >>> a = Accountant()
        >>> a.history = [(1.1, .01, 1000)]
        >>> a.get_epsilon(1e-5).__round__(4)
        1.5154
        """
        steps: Counter[tuple[float, float]] = Counter()
        for noise_multiplier, sample_rate, count in self.history:
            steps[float(noise_multiplier), float(sample_rate)] += count
        key = (frozenset(steps.items()), delta, adjacency)
        if key not in self._known:
            self._known[key] = _interval(steps, delta, adjacency)
        return self._known[key]

    @property
    def statement(self) -> str:
        """What the epsilons hold for, in one line."""
        return ("epsilon of Gaussian noise on sums of clipped gradients, both ends proved, if batches were Poisson-sampled at this rate; "
                "noise: torch (floating-point, from a seed), so of the ideal mechanism")


def _interval(steps: Counter[tuple[float, float]], delta: float, adjacency: str) -> Interval:
    target = ffi.new("enum sotto_adjacency *")
    run(lib.sotto_adjacency_find, target, c_text("add-remove" if adjacency == "zero-out" else adjacency))
    if not steps:
        return Interval(0.0, 0.0)
    if any(noise_multiplier == 0 for noise_multiplier, _ in steps):
        return Interval(float("inf"), float("inf"))
    name = c_text("gaussian")
    events = ffi.new("struct sotto_event[]", len(steps))
    for event, ((noise_multiplier, sample_rate), count) in zip(events, steps.items()):
        fill(event, mechanism=name, count=count, noise_multiplier=noise_multiplier, sample_rate=sample_rate, adjacency=lib.SOTTO_ADD_REMOVE)
    out = ffi.new("struct sotto_account *")
    run(lib.sotto_account_events, out, events, len(steps), delta, target[0])
    return Interval(out.epsilon.lower, out.epsilon.upper)


register_accountant("sotto", Accountant, force=True)

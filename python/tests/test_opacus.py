"""sotto.opacus, the accountant: closed forms, properties, and Opacus' own accountants beside it."""

import math

import pytest

pytest.importorskip("opacus", reason="opacus is not installed")

from opacus.accountants import PRVAccountant, RDPAccountant, create_accountant  # noqa: E402
from opacus.accountants.utils import get_noise_multiplier  # noqa: E402

import sotto  # noqa: E402
import sotto.opacus  # noqa: E402


def accountant(*history):
    a = create_accountant("sotto")
    a.history = list(history)
    return a


def phi(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def one_step(epsilon, sigma, rate):
    """delta of one Poisson-sampled step, the larger of both directions, from the definition."""
    e = math.exp(epsilon)
    removed = 0.0
    if e > 1 - rate:  # (1 - q) N(0) + q N(1) against N(0)
        at = sigma**2 * math.log((e - 1 + rate) / rate) + 0.5
        removed = (1 - rate - e) * phi(-at / sigma) + rate * phi((1 - at) / sigma)
    added = 0.0
    if math.exp(-epsilon) > 1 - rate:
        at = sigma**2 * math.log((math.exp(-epsilon) - 1 + rate) / rate) + 0.5
        added = (1 - e * (1 - rate)) * phi(at / sigma) - e * rate * phi((at - 1) / sigma)
    return max(removed, added)


@pytest.mark.parametrize("sigma, rate", [(1.0, 0.1), (0.7, 0.02), (3.0, 0.5), (1.0, 1.0)])
def test_one_step_is_the_definition(sigma, rate):
    e = accountant((sigma, rate, 1)).interval(1e-5)
    assert one_step(e.upper, sigma, rate) <= 1e-5 * (1 + 1e-9)
    assert one_step(e.lower, sigma, rate) >= 1e-5 * (1 - 1e-9)
    assert e.upper - e.lower < 1e-3


@pytest.mark.parametrize("steps", [1, 10, 100])
def test_all_records_in_every_step(steps):
    """k steps of noise sigma are one of noise sigma / sqrt(k)."""
    a = accountant((10.0, 1.0, steps))
    for adjacency, moved in (("add-remove", 1), ("zero-out", 1), ("replace-one", 2)):
        exact = sotto.account.gaussian(10 / math.sqrt(steps), l2=moved, delta=1e-5).epsilon
        e = a.interval(1e-5, adjacency=adjacency)
        assert e.lower <= exact.upper and exact.lower <= e.upper and e.upper - e.lower < 1e-4


def test_beside_the_others():
    history = (1.26953, 0.05, 80)
    e = accountant(history).interval(1e-5)
    assert e.upper - e.lower < 1e-5 and tuple(e) == tuple(pytest.approx(1.998926, abs=1e-6) for _ in range(2))
    assert e.upper == pytest.approx(sotto.account.dpsgd(noise_multiplier=history[0], sample_rate=history[1], steps=history[2], delta=1e-5).epsilon.upper, abs=1e-5)
    rdp, prv = RDPAccountant(), PRVAccountant()
    rdp.history = prv.history = [history]
    assert e.upper < rdp.get_epsilon(1e-5) and 0 < prv.get_epsilon(1e-5) - e.upper < 0.02
    removed = accountant(history).get_epsilon(1e-6)
    both = accountant(history).interval(1e-6 * (1 + math.exp(removed)), adjacency="replace-one")
    assert accountant(history).get_epsilon(1e-6 * (1 + math.exp(removed))) < both.lower < both.upper < 2 * removed  # at most a group of two


def test_steps():
    a, b = create_accountant("sotto"), accountant((1.2, 0.02, 3), (1.5, 0.02, 1), (1.2, 0.02, 2))
    assert len(a) == 0 and tuple(a.interval(1e-5)) == (0, 0)
    for noise in (1.2, 1.2, 1.2, 1.5, 1.2, 1.2):
        a.step(noise_multiplier=noise, sample_rate=0.02)
    assert a.history == b.history and len(a) == 3
    assert a.interval(1e-5) == accountant((1.5, 0.02, 1), (1.2, 0.02, 5)).interval(1e-5)
    more = accountant((1.5, 0.02, 1), (1.2, 0.02, 6)).interval(1e-5)
    assert more.lower > a.interval(1e-5).upper
    assert "if batches were Poisson-sampled at this rate" in a.statement and "noise: torch" in a.statement


def test_state():
    a = accountant((1.2, 0.02, 3))
    state = a.state_dict()
    assert state["mechanism"] == "sotto" and state["history"] == a.history and state["history"] is not a.history
    b = create_accountant("sotto")
    b.load_state_dict(state)
    assert b.interval(1e-5) == a.interval(1e-5)
    with pytest.raises(ValueError):
        b.load_state_dict({**state, "mechanism": "rdp"})


@pytest.mark.parametrize("target, delta, rate, time", [(2.0, 1e-5, 0.05, {"epochs": 4}), (0.5, 1e-6, 0.01, {"steps": 300})])
def test_noise_multiplier(target, delta, rate, time):
    n = get_noise_multiplier(target_epsilon=target, target_delta=delta, sample_rate=rate, accountant="sotto", **time)
    steps = time.get("steps") or int(time["epochs"] / rate)
    assert target - 0.01 <= accountant((n, rate, steps)).get_epsilon(delta) <= target
    tight = sotto.account.calibrate_dpsgd(epsilon=target, delta=delta, sample_rate=rate, steps=steps).scale
    assert tight <= n


@pytest.mark.parametrize("history, more, text", [((1.0, 1.5, 1), {}, "sample_rate"), ((-1.0, 0.1, 1), {}, "noise_multiplier"),
                                                 ((1.0, 0.1, 1), {"adjacency": "x"}, "adjacency"), ((1.0, 0.1, 1), {"delta": 2}, "delta")])
def test_bad_input(history, more, text):
    with pytest.raises(ValueError, match=text):
        accountant(history).interval(**{"delta": 1e-5, **more})


def test_no_noise():
    assert accountant((0.0, 0.1, 1)).get_epsilon(1e-5) == math.inf

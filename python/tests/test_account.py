"""sotto.account: the same numbers as the program's, and closed forms."""

import json
import math
import os
import subprocess

import pytest

import sotto

program = os.environ.get("SOTTO", "sotto")


def told(*args):
    return json.loads(subprocess.run([program, "account", *args, "--json"], capture_output=True, check=True, text=True).stdout)


def test_closed_forms():
    a = sotto.account.laplace(2.0, l1=1.0)
    assert a.epsilon.lower <= 0.5 <= a.epsilon.upper == pytest.approx(0.5, rel=1e-12) and a.pure_epsilon == pytest.approx(0.5)
    g = sotto.account.gaussian(2.0, l2=1.0, delta=1e-5)
    phi = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))
    for end, sign in ((g.epsilon.upper, -1), (g.epsilon.lower, 1)):
        delta = phi(0.25 - 2 * end) - math.exp(end) * phi(-0.25 - 2 * end)
        assert sign * (delta - 1e-5) >= -1e-15
    assert g.pure_epsilon is None and float(g.epsilon) == g.epsilon.upper
    assert sotto.account.calibrate("laplace", epsilon=1, l1=2).scale == pytest.approx(2)
    assert sotto.account.release("laplace", 2.0, l1=1.0).to_dict() == a.to_dict()


def test_same_numbers_as_the_program():
    a = sotto.account.dpsgd(noise_multiplier=1.1, sample_rate=0.01, steps=1000, delta=1e-5)
    assert (1.515361, 1.515364) == tuple(round(x, 6) for x in a.epsilon)
    assert told("--mechanism", "gaussian", "--noise-multiplier", "1.1", "--sample-rate", "0.01", "--steps", "1000", "--delta", "1e-5") == a.to_dict()
    assert a.other_adjacency == "replace-one" and a.other_epsilon.lower > a.epsilon.upper
    chosen = sotto.account.choose(epsilon=1, delta=1e-5, l1=1, l2=0.2)
    assert [c.mechanism for c in chosen][0] == "gaussian" and all(c.epsilon.upper <= 1 for c in chosen)


def test_calibrated_steps_meet_the_target():
    a = sotto.account.calibrate_dpsgd(epsilon=2, delta=1e-5, sample_rate=0.05, steps=80)
    assert 1.99 < a.epsilon.upper <= 2


def test_composition(tmp_path):
    account = sotto.account
    events = [account.logistic(2.0, l1=1.0, l2=1.0, dimension=10, compose=5), account.dpsgd(noise_multiplier=1.1, sample_rate=0.01, steps=1000, delta=1e-5),
              account.calibrate("gaussian", epsilon=0.5, delta=1e-6, l2=2.0), {"mechanism": "stated", "epsilon": 0.1, "delta": 1e-7, "count": 3}]
    scale = events[2].scale
    written = [{"mechanism": "logistic", "scale": 2, "l1": 1, "l2": 1, "dimension": 10, "count": 5},
               {"mechanism": "gaussian", "noise_multiplier": 1.1, "sample_rate": 0.01, "steps": 1000, "adjacency": "add-remove"}, {"mechanism": "gaussian", "scale": scale, "l2": 2.0}, events[3]]
    (tmp_path / "e.json").write_text(json.dumps({"schema": "sotto.events/1", "adjacency": "replace-one", "events": written}))
    a = account.compose(events, delta=1e-5)
    assert a.to_dict() == account.compose(written, delta=1e-5).to_dict() == told("--events", str(tmp_path / "e.json"), "--delta", "1e-5", "--adjacency", "replace-one")
    assert a.mechanism == "composition" and a.adjacency == "replace-one" and a.epsilon.lower < a.epsilon.upper
    # closed forms: pure releases add up; equal Gaussian releases are one with less noise
    assert account.compose([account.laplace(2.0, l1=1.0), account.laplace(4.0, l1=1.0)], delta=0).epsilon.upper == pytest.approx(0.75)
    both, one = account.compose([account.gaussian(4.0, delta=1e-6)] * 2, delta=1e-5), account.gaussian(4.0 / 2**0.5, delta=1e-5)
    assert both.epsilon.upper == pytest.approx(one.epsilon.upper, rel=1e-3) and both.epsilon.upper >= one.epsilon.lower
    ledger = sotto.Ledger(tmp_path / "l.jsonl", dataset="composed")
    certificates = [sotto.randomise([0, 1], classes=2, epsilon=e, ledger=ledger)[1] for e in (0.25, 0.5)]
    assert account.compose(certificates, delta=0).epsilon.upper == pytest.approx(0.75)
    for bad, text in [([], "0 events"), ([{"mechanism": "x"}], r"events: events\[0\]|mechanism"), ([{"mechanism": "laplace", "scle": 1}], "scle"),
                      ([account.dpsgd(noise_multiplier=4.0, sample_rate=0.01, steps=10, delta=1e-5, rows_per_person=2)], r"events\[0\]: this account does not say"),
                      ([sotto.randomise([0, 1], classes=2, epsilon=1, ledger=ledger, insecure_seed=1)[1]], "seeded")]:
        with pytest.raises(ValueError, match=text) as e:
            account.compose(bad, delta=1e-5)
        assert "/tmp" not in str(e.value)


@pytest.mark.parametrize("change, text", [({"noise_multiplier": -1}, "noise_multiplier"), ({"sample_rate": 2}, "sample_rate"), ({"delta": 0}, "delta"),
                                          ({"adjacency": "x"}, "adjacency"), ({"clipping": "l3"}, "clipping"), ({"noise": "x"}, "x")])
def test_bad_input(change, text):
    with pytest.raises(ValueError, match=text):
        sotto.account.dpsgd(**{**dict(noise_multiplier=1.1, sample_rate=0.01, steps=10, delta=1e-5), **change})

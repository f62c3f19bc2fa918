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


@pytest.mark.parametrize("change, text", [({"noise_multiplier": -1}, "noise_multiplier"), ({"sample_rate": 2}, "sample_rate"), ({"delta": 0}, "delta"),
                                          ({"adjacency": "x"}, "adjacency"), ({"clipping": "l3"}, "clipping"), ({"noise": "x"}, "x")])
def test_bad_input(change, text):
    with pytest.raises(ValueError, match=text):
        sotto.account.dpsgd(**{**dict(noise_multiplier=1.1, sample_rate=0.01, steps=10, delta=1e-5), **change})

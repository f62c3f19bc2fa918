"""Noise for what a test of membership may find: every call that takes an epsilon takes a risk, says what it keeps, and refuses both."""

import math
import pathlib

import numpy as np
import pytest

import sotto

KEPT = "any test of membership: true-positive rate at most 0.02 at false-positive rate 0.01"
rng = np.random.default_rng(0)
x, y = rng.normal(size=(400, 3)).astype("f4"), rng.integers(0, 2, 400)


@pytest.fixture
def ledger():
    return sotto.Ledger(dataset="ours")


def test_release(ledger):
    _, certificate = sotto.release([0.2, 0.7], mechanism="laplace", l1=1, max_tpr=(0.02, 0.01), ledger=ledger)
    assert certificate.scale == pytest.approx(1 / math.log(2), rel=1e-4)
    assert certificate.risk(max_tpr=(0.02, 0.01)) == KEPT + ", if what epsilon rests on holds: the sensitivity stated by the caller"
    assert "0.019 at" not in certificate.risk(max_tpr=(0.019, 0.01))  # more than was asked for is not promised
    _, certificate = sotto.release([0.2, 0.7], mechanism="gaussian", l2=1, delta=1e-5, max_advantage=0.1, ledger=ledger)
    assert "at most 0.1 above the false-positive rate" in certificate.risk(max_advantage=0.1)
    assert sotto.randomise(y, classes=2, max_tpr=(0.02, 0.01), ledger=ledger)[1].risk((0.02, 0.01)) == KEPT


def test_protect(tmp_path, ledger):
    _, certificate = sotto.release_statistic(x, "mean", range=(-3, 3), mechanism="gaussian", delta=1e-6, max_tpr="0.02@0.01", ledger=ledger)
    assert certificate.risk("0.02@0.01") == KEPT
    certificate = sotto.release_records(x, tmp_path / "noisy.npy", clip=1, max_tpr=(0.02, 0.01), ledger=ledger)
    assert certificate.risk((0.02, 0.01)) == KEPT
    with pytest.raises(ValueError, match="labels would be another one"):
        sotto.release_records(x, tmp_path / "n.npy", clip=1, labels=y, classes=2, label_epsilon=1, max_advantage=0.1, ledger=ledger)


def test_training(ledger):
    """The network's steps are over all records: a target of advantage over sampled steps takes 8 s."""
    head = sotto.train_head(x, y, classes=2, trainer="dp-sgd", batch=50, epochs=1, max_tpr=(0.02, 0.01), ledger=ledger)
    assert head.certificate.risk((0.02, 0.01)) == KEPT
    net = sotto.train_network(x, y, classes=2, model="mlp", hidden=8, dp_sgd=True, batch=400, epochs=1, max_advantage=0.1, ledger=ledger)
    assert net.certificate.risk(max_advantage=0.1) == "any test of membership: true-positive rate at most 0.1 above the false-positive rate"


def test_refusals_charge_nothing(ledger):
    for wrong in ({"epsilon": 1, "max_advantage": 0.1}, {"scale": 1, "max_tpr": (0.02, 0.01)}, {"max_tpr": (0.01, 0.02)}, {"max_advantage": 1.0}, {"max_tpr": (0.1, 0.2, 0.3)},
                  {"max_tpr": (0.02, 0.01), "max_advantage": 0.1}):
        with pytest.raises(ValueError):
            sotto.release([0.2], mechanism="laplace", l1=1, ledger=ledger, **wrong)
    with pytest.raises(ValueError, match="give exactly one of noise_multiplier=, epsilon=, max_tpr= and max_advantage="):
        sotto.train_head(x, y, classes=2, trainer="dp-sgd", epsilon=1, max_advantage=0.1, ledger=ledger)
    assert not pathlib.Path(ledger.path).exists()

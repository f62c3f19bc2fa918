"""Talos from Python."""
import numpy as np
import pytest
import sotto
from sotto.lab.talos import Talos

images = np.random.default_rng(0).integers(0, 256, (96, 3, 32, 32), dtype=np.uint8)


def test_an_attribute_is_censored():
    r = sotto.pretrain(images, epochs=2, batch=32, part=Talos(np.arange(96) % 2, lambda_=0.5))
    assert r.pretraining.adversary_loss > 0 and "lambda=0.5" in r.facts["recipe"] and "talos" in r.facts


def test_the_old_argument_works_for_a_release():
    with pytest.warns(DeprecationWarning, match="sotto.lab.talos"):
        r = sotto.pretrain(images, epochs=2, batch=32, talos={"lambda_": 0.5, "attribute": np.arange(96) % 2})
    assert r.pretraining.adversary_loss > 0


def test_bad_ones_are_refused():
    with pytest.raises(ValueError, match="one value for each of 96 images"):
        sotto.pretrain(images, epochs=1, part=Talos(np.arange(3)))
    with pytest.raises(TypeError, match="did you mean 'lambda_'"):
        Talos(np.arange(96), lamda=1)
    with pytest.raises(ValueError, match="at least two values"):
        sotto.pretrain(images, epochs=1, batch=32, part=Talos(np.zeros(96, int)))

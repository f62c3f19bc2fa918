"""Canaries in a training by Opacus: coins that are sealed, bound by the ledger and opened once; a bound that is below the certificate's."""

import os

import numpy as np
import pytest

pytest.importorskip("opacus", reason="opacus is not installed")

import torch  # noqa: E402
from torch.nn.functional import cross_entropy  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

import sotto  # noqa: E402
import sotto.opacus  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Full backward hook is firing")
long = pytest.mark.skipif(not os.environ.get("SOTTO_CHECK_PYTHON"), reason="SOTTO_CHECK_PYTHON is not set: seconds each")


def make(tmp_path, count=200, **options):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(240, 6)).astype(np.float32)
    return sotto.opacus.Canaries(x, (x[:, 0] > 0).astype(int), count=count, classes=3, output=tmp_path / "net.pt", **options)


def train(tmp_path, canaries, noise=4.0, steps=30, scale=1.0, **options):
    torch.manual_seed(0)
    module = torch.nn.Linear(6, 3) if canaries.kind != "dirac" else torch.nn.Sequential(torch.nn.Linear(6, 60), torch.nn.ReLU(), torch.nn.Linear(60, 3))
    ledger = sotto.Ledger(tmp_path / "ledger.jsonl", dataset="canaries")
    engine = sotto.opacus.PrivacyEngine(ledger, canaries=canaries, adjacency=canaries.adjacency, purpose="a test", **options)
    module, optimizer, loader = engine.make_private(module=module, optimizer=torch.optim.SGD(module.parameters(), lr=0.1), noise_multiplier=noise,
                                                    data_loader=DataLoader(canaries.dataset, batch_size=len(canaries.dataset) // 4), max_grad_norm=1.0,
                                                    steps=steps, delta=1e-3)
    while engine.accountant.history == [] or engine.accountant.history[0][2] < steps:
        for x, y in loader:
            optimizer.zero_grad()
            (scale * cross_entropy(module(x), y)).backward()
            optimizer.step()
    return engine, module


@long
def test_white_box(tmp_path):
    canaries = make(tmp_path)
    assert os.stat(tmp_path / "net.pt.coins.json").st_mode & 0o777 == 0o600 and len(canaries.dataset) == 440
    engine, module = train(tmp_path, canaries, noise=0.4)
    c = engine.certificate()
    assert c.to_dict()["purpose"].startswith("a test; 200 canaries (dirac, it or nothing), coins ")
    result = canaries.audit(one_run=20, certificate=c)
    bound = result["scores"].one_run
    assert bound.guesses == 40 and bound.delta == 1e-3 and result.curve.refused is None and not result.curve.contradicted
    assert 0 < bound.lower_bound < c.epsilon.upper and result["scores"].auc.lower > 0.6
    assert canaries.audit(one_run=20, certificate=c).to_dict() == result.to_dict()  # the same question
    with pytest.raises(ValueError, match="opened"):
        canaries.audit(one_run=21, certificate=c)


@long
@pytest.mark.parametrize("weaker", [1, 25])
def test_a_training_with_less_noise_than_its_certificate_is_found(tmp_path, monkeypatch, weaker):
    """Noise that is a 25th of what was charged contradicts the certificate; the right noise does not. Canaries alone."""
    canaries = make(tmp_path)
    step = sotto.opacus._Training._step

    def weak(self, vector):
        before = vector * self.lattice
        step(self, vector)
        vector[:] = before + (vector - before) / weaker

    monkeypatch.setattr(sotto.opacus._Training, "_step", weak)
    engine, _ = train(tmp_path, canaries, noise=10.0, scale=0.0)
    result, epsilon = canaries.audit(one_run=20, certificate=engine.certificate()), engine.certificate().epsilon
    assert (result["scores"].one_run.lower_bound > epsilon.upper) == bool(result.curve.contradicted) == (weaker > 1)


@pytest.mark.parametrize("kind, adjacency", [("dirac", "replace-one"), ("mislabelled", "zero-out"), ("random", "replace-one"), ("in-distribution", "zero-out")])
def test_kinds(tmp_path, kind, adjacency):
    canaries = make(tmp_path, count=100, kind=kind, adjacency=adjacency)
    assert len(canaries.dataset) == (240 if kind in ("mislabelled", "in-distribution") else 340)
    engine, module = train(tmp_path, canaries, steps=8)
    result = canaries.audit(module, one_run=10, certificate=engine.certificate())
    assert result.n_member + result.n_nonmember == 100 and result.curve.refused is None
    assert result["scores"].one_run.lower_bound <= engine.certificate().epsilon.upper


@long
def test_tails_are_nothing(tmp_path):
    """Of canaries by "it or nothing", tails leave no trace: their places have no gradient."""
    canaries = make(tmp_path, count=100, kind="random", insecure_seed=3)
    silent = canaries._silent
    assert 20 < silent.sum() < 80 and not silent[:240].any()
    canaries.dataset.tensors[0][torch.from_numpy(silent)] = 1e6  # whatever their values are
    _, module = train(tmp_path, canaries, steps=4, insecure_seed=1)
    canaries.dataset.tensors[0][torch.from_numpy(silent)] = -7.0
    _, again = train(tmp_path, canaries, steps=4, insecure_seed=1)
    weights = [torch.cat([p.detach().reshape(-1) for p in m.parameters()]) for m in (module, again)]
    assert torch.allclose(*weights, atol=1e-6)
    assert not torch.allclose(weights[0], torch.cat([p.detach().reshape(-1) for p in train(tmp_path, canaries, steps=4, insecure_seed=2)[1].parameters()]), atol=1e-3)


def test_refused(tmp_path):
    for change, text in (({"kind": "x"}, "kind is 'x'"), ({"adjacency": "add-remove"}, "adjacency"), ({"count": 0}, "count"),
                         ({"kind": "mislabelled", "count": 240}, "240"), ({"kind": "clipbkd", "public_rows": np.zeros((9, 2))}, "public_rows has 2")):
        with pytest.raises(ValueError, match=text):
            make(tmp_path, **change)
    canaries = make(tmp_path, count=50)
    with pytest.raises(sotto.SottoError, match="in no step yet"):
        canaries.audit(one_run=5)
    with pytest.raises(ValueError, match="for adjacency 'zero-out'"):
        sotto.opacus.PrivacyEngine(sotto.Ledger(tmp_path / "l", dataset="d"), canaries=canaries, adjacency="replace-one")
    engine, _ = train(tmp_path, canaries, steps=2)
    with pytest.raises(ValueError, match="25"):
        canaries.audit(one_run=26)
    other = sotto.opacus.PrivacyEngine(sotto.Ledger(tmp_path / "ledger.jsonl", dataset="canaries"), canaries=canaries)
    with pytest.raises(ValueError, match="canaries.dataset"):
        module = torch.nn.Linear(6, 3)
        other.make_private(module=module, optimizer=torch.optim.SGD(module.parameters()), data_loader=DataLoader(list(range(9))), noise_multiplier=1.0,
                           max_grad_norm=1.0, steps=2)
    canaries.audit(one_run=5, certificate=engine.certificate())
    with pytest.raises(sotto.SottoError, match="has finished"):
        make(tmp_path, count=50)
    make(tmp_path, count=50, fresh=True)

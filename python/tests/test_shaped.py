"""What shaped the columns travels with arrays, encoders, sets and heads, and meets the records at every door."""

import pickle

import numpy as np
import pytest

import sotto
from sotto._shaped import Shaped, shaped_of

UNKNOWN = "does not depend on these records"
images = np.random.default_rng(3).integers(0, 256, (128, 3, 32, 32), dtype=np.uint8)
y = np.arange(128) % 2


@pytest.fixture(scope="module")
def encoder():
    return sotto.pretrain(images[:64], epochs=1, batch=32, encoder="resnet8", threads=1)


def ledger(tmp_path, name="photos"):
    return sotto.Ledger(tmp_path / f"{name}.jsonl", dataset=name)


def head(x, to, **more):
    return sotto.train_head(x, y[:len(x)], classes=2, trainer="dp-gd", steps=5, epsilon=1, delta=1e-4, ledger=to, **more)


def test_embeddings_say_by_what(tmp_path, encoder):
    x = encoder.embed(images[64:])
    certificate = head(x, ledger(tmp_path)).certificate
    assert certificate.guarantee == "conditional"
    assert certificate.condition == f"the encoder {encoder.sha256[:12]} {UNKNOWN}"


@pytest.mark.parametrize("make", [
    lambda x: x[:32], lambda x: x - x.mean(0), lambda x: np.concatenate([x, x]), lambda x: np.hstack([np.ones((64, 1), "f4"), x]),
    lambda x: np.log(np.abs(x) + 1), lambda x: x.astype("f8"), lambda x: (np.zeros((64, 64), "f4") - x), lambda x: np.stack(list(x)),
    lambda x: x.T.copy().T, lambda x: pickle.loads(pickle.dumps(x)), lambda x: np.einsum("ij,jk->ik", x, np.eye(64)),
    lambda x: np.split(x, 2)[1], lambda x: sotto.Dataset(x, y[:64], dataset="photos").features, lambda x: x @ np.eye(64),
    lambda x: sotto.standardise(np.eye(64), x), lambda x: np.add(np.eye(64), x, out=np.zeros((64, 64))),
    lambda x: np.add(np.eye(64), 1, out=np.array(x, "f8", subok=True)) + x])
def test_what_numpy_makes_of_them_says_so_too(encoder, make):
    x = encoder.embed(images[:64])
    assert {s.what for s in shaped_of(x)} == {"encoder"}
    assert set(shaped_of(x)) <= set(shaped_of(make(x)))


def test_nothing_else_is_shaped(tmp_path):
    fixed = sotto.scatter(images[:64], grid=1)
    random = sotto.Encoder.random(images, "resnet8").embed(images[:64])
    for x in (fixed, random, np.eye(64)):
        assert not isinstance(x, Shaped)
    assert head(fixed, ledger(tmp_path)).certificate.proved


def test_an_encoder_of_a_file_knows_its_rows(tmp_path, encoder, monkeypatch):
    """Rows 0-63 of an import trained it: they are refused, the others are proved; also behind a fine-tuned network and a pickle."""
    import os
    import subprocess
    if "SOTTO" not in os.environ:
        pytest.skip("needs the program")
    monkeypatch.setenv("SOTTO_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    np.save(tmp_path / "x.npy", images)
    np.save(tmp_path / "y.npy", y)
    np.save(tmp_path / "rows.npy", np.arange(64))

    def program(*args):
        subprocess.run([os.environ["SOTTO"], *args], check=True, cwd=tmp_path, stdout=subprocess.DEVNULL)

    program("data", "import", "x.npy:y.npy", "--name", "photos", "--dataset-id", "photos", "--quiet")
    program("pretrain", "--data", "photos", "--indices", "rows.npy", "--encoder", "resnet8", "--epochs", "1", "--batch", "32", "--threads", "1",
            "--quiet", "-o", "e.safetensors")
    loaded = pickle.loads(pickle.dumps(sotto.Encoder.load(tmp_path / "e.safetensors")))
    data = sotto.Dataset.open("photos")
    first, last = data.take(np.arange(64)), data.take(np.arange(64, 128))
    with pytest.raises(sotto.errors.InvalidArgument, match="the encoder e.safetensors was trained on row 0 of 'photos'"):
        head(loaded.embed(first.images), ledger(tmp_path), source=first)
    assert not ledger(tmp_path).entries()
    assert head(loaded.embed(last.images), ledger(tmp_path), source=last).certificate.proved
    with pytest.raises(sotto.errors.InvalidArgument, match="it is not known that they are others"):
        head(loaded.embed(first.images), ledger(tmp_path))  # without source= the rows are unknown
    with pytest.raises(sotto.errors.InvalidArgument, match="the encoder e.safetensors"):
        head(np.eye(64), ledger(tmp_path), encoder=tmp_path / "e.safetensors")


def test_what_is_trained_on_them_says_so(tmp_path, encoder):
    """A head without noise, its file, and its release; records, statistics, sums, choices and networks."""
    x = encoder.embed(images[:64])
    plain = sotto.train_head(x, y[:64], classes=2, trainer="convex", lambda_=.05)
    plain.save(tmp_path / "plain.safetensors")
    for number, of in enumerate((plain, sotto.Head.load(tmp_path / "plain.safetensors"))):
        made = sotto.protect_head(of, tmp_path / f"{number}.safetensors", epsilon=2, delta=1e-5, ledger=ledger(tmp_path, "a"))
        assert UNKNOWN in made.certificate.condition
    to = ledger(tmp_path, "b")
    assert UNKNOWN in sotto.release_records(x, tmp_path / "r.npy", clip=1, epsilon=50, delta=1e-3, ledger=to).condition
    assert UNKNOWN in sotto.release_statistic(x, "mean", range=(0, 1), mechanism="laplace", epsilon=1, ledger=to)[1].condition
    assert UNKNOWN in sotto.release(x.mean(0), mechanism="laplace", l1=1, epsilon=1, ledger=to)[1].condition
    assert UNKNOWN in sotto.select(x.sum(0), l1=1, epsilon=1, ledger=to)[1].condition
    net = sotto.train_network(x, y[:64], classes=2, model="mlp", hidden=[4], epochs=1, batch=32, dp_sgd=True, noise_multiplier=5, delta=1e-3, ledger=to)
    assert UNKNOWN in net.certificate.condition
    data = sotto.Dataset(x, y[:64], classes=2, dataset="b")
    net = sotto.train_network(data, model="mlp", hidden=[4], epochs=1, batch=32, dp_sgd=True, noise_multiplier=5, delta=1e-3, ledger=to)
    assert UNKNOWN in net.certificate.condition


def test_moments_and_canaries(tmp_path):
    x = sotto.standardise(np.eye(64), np.ones((4, 64)) * [[0], [1], [2], [3]])
    assert head(x, ledger(tmp_path)).certificate.condition == "the moments public do not depend on these records"
    made = sotto.train_head(np.eye(64), y[:64], classes=2, trainer="dp-adam", batch=32, epochs=1, epsilon=1, delta=1e-4, canaries=4,
                            canary_kind="clipbkd", canary_public=np.random.default_rng(1).normal(size=(70, 64)), output=tmp_path / "c.safetensors",
                            ledger=ledger(tmp_path))
    assert made.certificate.condition == "the canaries canary_public do not depend on these records"


def test_answers_as_columns(tmp_path):
    """A model without a certificate hands its records on; a certified one was charged for them."""
    x = np.random.default_rng(5).normal(size=(64, 3)).astype("f4")
    plain = sotto.train_head(x, y[:64], classes=2, trainer="convex", lambda_=.05)
    plain.save(tmp_path / "plain.safetensors")
    network = sotto.train_network(x, y[:64], classes=2, model="mlp", hidden=[4], epochs=1, batch=32)
    for number, model in enumerate((plain, sotto.Head.load(tmp_path / "plain.safetensors"), network)):
        for columns in (model.logits(x), model.predict_proba(x), 1.0 * model.predict(x)[:, None]):
            assert {s.what for s in shaped_of(columns)} == {"model"}
        assert UNKNOWN in head(model.logits(x), ledger(tmp_path, f"m{number}")).certificate.condition
    certified = head(x, ledger(tmp_path, "c"))
    assert not shaped_of(certified.logits(x)) and head(certified.logits(x), ledger(tmp_path, "c")).certificate.proved

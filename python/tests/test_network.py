"""Networks: the same weights as the program's, plain, private, on noisy inputs and fine-tuned; refusals; answers."""

import json
import os
import pathlib
import pickle
import subprocess

import numpy as np
import pytest

import sotto

program = os.environ.get("SOTTO", "sotto")
fixed = {"dtype": "f32", "backend": "dnnl", "threads": 1}


def sotto_program(*args):
    done = subprocess.run([program, *map(str, args), "--quiet"], capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def flags(options):
    return [y for k, v in options.items() for y in ("--" + k.rstrip("_").replace("_", "-"), *([] if v is True else [",".join(map(str, v)) if isinstance(v, list) else v]))]


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    x = rng.integers(0, 120, (60, 1, 8, 8), dtype=np.uint8)
    x[:, :, :4] += (y * 120).astype(np.uint8)[:, None, None, None]
    return x, y


@pytest.fixture
def imported(images, tmp_path):
    """The same images as an imported set of the program."""
    np.save(tmp_path / "x.npy", images[0])
    np.save(tmp_path / "y.npy", images[1])
    sotto_program("data", "import", f"{tmp_path}/x.npy:{tmp_path}/y.npy", "--name", "pictures", "--dataset-id", "a")
    return "pictures"


def test_plain_as_the_program(images, tmp_path, imported):
    options = {"model": "cnn", "hidden": [4, 8], "epochs": 20, "batch": 20, "seed": 4, "lr": 0.02, **fixed}
    sotto_program("train", "--data", imported, *flags(options), "-o", tmp_path / "theirs.safetensors")
    net = sotto.train_network(*images, **options, output=tmp_path / "ours.safetensors")
    assert not (tmp_path / "ours.safetensors.checkpoint").exists() and net.certificate is None and net.recipe.model == "cnn"
    theirs = sotto.Network.load(tmp_path / "theirs.safetensors")
    x = images[0]
    z = net.logits(x)
    assert net.sha256 == theirs.sha256 and np.array_equal(z, theirs.logits(x)) and net.training.steps == 60 and net.training.loss > 0
    assert np.array_equal(net.predict(x), z.argmax(1)) and net.score(*images) == np.mean(z.argmax(1) == images[1]) > 0.8
    for same in (x[:, 0], x.transpose(0, 2, 3, 1), sotto.Dataset(x, images[1])):
        assert np.array_equal(net.logits(same), z)
    assert np.allclose(net.logits(x / 255), z, atol=1e-4) and np.allclose(net.predict_proba(x).sum(1), 1, atol=1e-6)
    assert np.array_equal(pickle.loads(pickle.dumps(net)).logits(x), z) and net.parameters == sum(w.size for w in net.weights.values())
    assert "no certificate" in repr(net)


@pytest.mark.parametrize("how", ["dp_sgd", "certify_inputs"])
def test_private_as_the_program(images, tmp_path, imported, how):
    more = {"noise_multiplier": 2, "optimizer": "sgd", "lr": 0.5} if how == "dp_sgd" else {"radius": 4, "input_noise": 3, "label_epsilon": 2}
    options = {how: True, "model": "cnn", "hidden": [4, 8], "epochs": 1, "batch": 60, "delta": 1e-4, "insecure_noise_seed": 5, **more, **fixed}
    sotto_program("train", "--data", imported, *flags(options), "--classes", 2, "-o", tmp_path / "theirs.safetensors")
    ledger = sotto.Ledger(dataset="b", same_people_as=["a"])
    net = sotto.train_network(*images, classes=2, **options, ledger=ledger, output=tmp_path / "ours.safetensors")
    theirs = sotto.Network.load(tmp_path / "theirs.safetensors")
    assert net.sha256 == theirs.sha256 and theirs.certificate is not None
    a, b = (json.loads(pathlib.Path(f"{tmp_path}/{f}.safetensors.certificate.json").read_text()) for f in ("ours", "theirs"))
    assert a["guarantee"] == b["guarantee"] and a["records"] == b["records"] == 60
    assert net.certificate.insecure and sotto.verify(tmp_path / "ours.safetensors", ledger=ledger).guarantee == "none"
    data = sotto.Dataset.open(imported)
    assert data.dataset == "a" and len(data) == 60
    if how == "certify_inputs":
        return
    again = sotto.train_network(data, classes=2, **options, ledger=sotto.Ledger(dataset="a", same_people_as=["b"]))
    assert again.sha256 == net.sha256


def test_private(images, tmp_path):
    x, y = images
    ledger = sotto.Ledger(tmp_path / "l.jsonl", dataset="clinic", budget=(9.0, 1e-3))
    odd = y.astype(int)
    odd[:2] = -1, 17  # no class: counts as nothing, and nothing is said
    net = sotto.train_network(x / 255, odd, classes=2, dp_sgd=True, model="mlp", hidden=[4], noise_multiplier=3, steps=1, batch=60, ledger=ledger, purpose="p",
                              output=tmp_path / "n.safetensors", **fixed)
    c = net.certificate
    assert c.proved and c.delta == 1e-3 and c.path and np.isnan(net.training.loss) and net.inputs == 64
    assert sotto.verify(tmp_path / "n.safetensors", ledger=ledger).proved and sotto.Network.load(tmp_path / "n.safetensors").certificate == c
    assert ledger.entries()[2].purpose == "p" and len(ledger._lines()) == 4  # budget, records, charge, released
    with pytest.raises(sotto.BudgetExceeded):
        sotto.train_network(x, y, classes=2, dp_sgd=True, model="mlp", noise_multiplier=0.2, steps=1, batch=60, ledger=ledger)


@pytest.mark.parametrize("how", [{"dp_sgd": True, "noise_multiplier": 5, "steps": 1}, {"certify_inputs": True, "radius": 2, "input_noise": 5, "epochs": 1, "label_epsilon": 2}])
def test_nothing_that_is_said_depends_on_private_records(images, how, caplog):
    told = []
    for record, label in ((0.5, 1), (np.nan, 2), (1e300, 17), (-np.inf, -1)):
        x, y = images[0] / 255, images[1].astype(int)
        x[0], y[0] = record, label
        caplog.clear()
        net = sotto.train_network(x, y, classes=2, model="mlp", hidden=[4], batch=60, delta=1e-4, ledger=sotto.Ledger(dataset="clinic"), **how, **fixed)
        facts = {k: v for k, v in net.training.to_dict().items() if k not in ("loss", "accuracy", "seconds", "records_per_second", "choice")}  # of noisy inputs: of what was released
        told.append(str((repr(net), net.recipe.to_dict(), facts, {k: v.shape for k, v in net.weights.items()}, [r.getMessage() for r in caplog.records if "opened" not in r.getMessage()])))
    assert len(set(told)) == 1


@pytest.mark.parametrize("change, text", [
    ({"classes": None}, "public classes"), ({"ledger": None}, "ledger="), ({"dp_sgd": False}, "dp_sgd=True"), ({"epsilon": None}, "exactly one"),
    ({"certify_inputs": True}, "cannot be combined"), ({"model": "x"}, "model"), ({"lr": -1}, "lr"), ({"y": None}, "labels"),
    ({"x": np.zeros(3)}, "shape"), ({"y": np.zeros(7, int)}, "60 records"), ({"y": np.zeros(60)}, "dtype float64"), ({"image": (1, 8)}, "image"), ({"output": "/dev/null/nowhere.safetensors"}, "nowhere"),
    ({"from_": "/dev/null/nowhere.safetensors"}, "nowhere")])
def test_bad_input_charges_nothing(images, change, text):
    ledger = sotto.Ledger(dataset="clinic")
    given = {"x": images[0], "y": images[1], "classes": 2, "dp_sgd": True, "model": "mlp", "epsilon": 3, "batch": 30, "ledger": ledger, **change}
    with pytest.raises((ValueError, OSError), match=text):
        sotto.train_network(given.pop("x"), given.pop("y"), **given)
    assert ledger.entries() == []


def test_plain_refuses_what_is_private(images):
    with pytest.raises(ValueError, match="epsilon= needs dp_sgd=True"):
        sotto.train_network(*images, epsilon=1)
    with pytest.raises(TypeError, match="'epoch'; did you mean 'epochs'"):
        sotto.train_network(*images, epoch=1)


def test_fine_tuning(images, tmp_path):
    x, y = np.repeat(np.repeat(np.repeat(images[0], 3, 1), 4, 2), 4, 3), images[1]  # 3x32x32
    encoder = sotto.pretrain(x[:32], epochs=1, batch=16, **fixed)
    encoder.save(tmp_path / "e.safetensors")
    net = sotto.train_network(x, y, from_=tmp_path / "e.safetensors", freeze="all", epochs=1, batch=20, **fixed)
    assert net.inputs == 3 * 32 * 32
    options = {"classes": 2, "dp_sgd": True, "from_": tmp_path / "e.safetensors", "freeze": "all", "noise_multiplier": 3, "steps": 2, "batch": 30, "ledger": sotto.Ledger(dataset="clinic"), **fixed}
    with pytest.raises(ValueError, match="encoder"):  # nothing says which records trained it
        sotto.train_network(x, y, **options)
    c = sotto.train_network(x, y, **options, encoder_by="the test").certificate
    assert c.guarantee == "conditional" and c.condition == "the encoder e.safetensors does not depend on these records"


def test_noise_in_answers(images):
    net = sotto.train_network(*images, model="mlp", hidden=[4], epochs=1, batch=30, radius=5, input_noise=0.5, **fixed)
    x = images[0]
    assert not np.array_equal(net.logits(x), net.logits(x)) and np.array_equal(net.logits(x, seed=3), net.logits(x, seed=3))
    assert net.logits(x, repeats=3, average="softmax", seed=1).shape == (60, 2)
    with pytest.raises(TypeError, match="repeat"):
        net.logits(x, repeat=3)


def test_canaries(images, tmp_path):
    path = tmp_path / "n.safetensors"
    sotto.train_network(*images, classes=2, dp_sgd=True, model="mlp", hidden=[4], noise_multiplier=3, steps=2, batch=30, ledger=sotto.Ledger(dataset="clinic"),
                        canaries=10, canary_kind="dirac", output=path, **fixed)
    found = np.load(f"{path}.canaries.npz")
    assert len(found["white_box"]) == 10 and pathlib.Path(f"{path}.coins.json").exists()

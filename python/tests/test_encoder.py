"""Encoders: pre-training from arrays, embeddings, weights out and in, features without training, attacks on an encoder."""

import os
import pickle
import subprocess

import numpy as np
import pytest

import sotto

program = os.environ.get("SOTTO", "sotto")
rng = np.random.default_rng(5)
images = rng.integers(0, 256, (96, 3, 32, 32), dtype=np.uint8)


@pytest.fixture(scope="module")
def encoder():
    return sotto.pretrain(images, epochs=1, batch=32, seed=3, dtype="f32", backend="dnnl", threads=1)


def test_the_same_as_the_program(encoder, tmp_path):
    np.save(tmp_path / "images.npy", images)
    told = dict(cwd=tmp_path, check=True, capture_output=True)
    common = ["--epochs", "1", "--batch", "32", "--seed", "3", "--dtype", "f32", "--backend", "dnnl", "--threads", "1", "--quiet"]
    subprocess.run([program, "pretrain", "--data", "images.npy", "-o", "e.safetensors", *common], **told)
    loaded = sotto.Encoder.load(tmp_path / "e.safetensors")
    assert loaded.sha256 == encoder.sha256 and loaded.facts["recipe"] == encoder.facts["recipe"] and loaded.pretraining is None
    subprocess.run([program, "embed", "--encoder", "e.safetensors", "--data", "images.npy", "-o", "out.npy"], **told)
    assert np.array_equal(np.load(tmp_path / "out.npy"), encoder.embed(images))


def test_what_it_says_of_itself(encoder):
    assert encoder.width == 128 and encoder.name == "keras-simclr" and encoder.statement == "" and len(encoder.sha256) == 64
    assert encoder.pretraining.steps == 3 and encoder.pretraining.loss > 0 and encoder.facts["data_set"] == "arrays"
    assert len(repr(encoder).splitlines()) == 1


def test_files_bytes_and_pickles(encoder, tmp_path):
    encoder.save(tmp_path / "a.safetensors")
    for other in (sotto.Encoder.load(tmp_path / "a.safetensors"), pickle.loads(pickle.dumps(encoder))):
        assert other == encoder and np.array_equal(other.embed(images[:4]), encoder.embed(images[:4]))
    assert pickle.loads(pickle.dumps(encoder)).pretraining == encoder.pretraining
    with pytest.raises(FileNotFoundError, match="missing"):
        sotto.Encoder.load(tmp_path / "missing")
    with pytest.raises(ValueError, match="encoder in memory"):
        sotto.Encoder._of_bytes(b"nothing of the kind")


def test_layouts_of_images(encoder):
    want = encoder.embed(images[:6])
    assert want.shape == (6, 128) and want.dtype == np.float32
    for same in (images[:6].transpose(0, 2, 3, 1), images[:6].astype(np.int64), images[:6] / 255, list(images[:6]), np.repeat(images[:6], 2, 0)[::2]):
        assert np.array_equal(encoder.embed(same), want)
    with pytest.warns(UserWarning, match="rounded to 1/255"):
        encoder.embed(images[:2] / 255 * 0.999)
    assert encoder.embed(images[:3, 0]).shape == (3, 128)  # grey
    for bad, text in [(images[:, :2], "images have shape"), (images[0, 0], "images have shape"), (images[:1] / 2, "floats must be from 0 to 1"),
                      (np.full((1, 3, 32, 32), 300), "uint8 cannot hold"), (np.full((1, 3, 32, 32), np.nan), "floats must be"),
                      (np.zeros((1, 3, 64, 64), np.uint8), "64")]:
        with pytest.raises(ValueError, match=text):
            encoder.embed(bad)


def test_views(encoder):
    v = encoder.embed_views(images[:4], views=3, seed=1)
    assert v.shape == (4, 3, 128) and np.array_equal(v, encoder.embed_views(images[:4], views=3, seed=1)) and not np.array_equal(v[:, 0], v[:, 1])
    assert encoder.embed_views(images[:2]).shape == (2, 10, 128)
    assert np.array_equal(encoder.embed_views(images[:2], views=3, seed=1), v[:2])
    with pytest.raises(ValueError, match="views"):
        encoder.embed_views(images[:4], views=300)


def test_state_dict():
    a = sotto.Encoder.random(images, "mobilenetv2", seed=4)
    state = a.weights
    assert list(state)[0] == "features.0.0.weight" and "features.1.conv.0.1.running_var" in state
    state["classifier.1.weight"], state["features.0.1.num_batches_tracked"] = np.zeros((10, a.width), np.float32), np.array(3)
    given = dict(model="mobilenetv2", statement="public, by the tests")
    b = sotto.Encoder.from_state_dict(state, **given, normalise="none")
    embedded = a.embed(images[:4])
    assert np.array_equal(embedded, b.embed(images[:4])) and b.facts["provenance"] == "stated by the user: public, by the tests"
    c = sotto.Encoder.from_state_dict(b.weights, **given)
    assert not np.allclose(embedded, c.embed(images[:4])) and list(c.weights) == list(a.weights)  # normalised first
    del state["features.0.0.weight"]
    for change, text in [({"statement": "private"}, "public, by WHO"), ({"model": "vgg"}, "vgg"), ({}, "^state_dict: 1 tensor of mobilenetv2 missing")]:
        with pytest.raises(ValueError, match=text):
            sotto.Encoder.from_state_dict(state, **{**given, **change})
    with pytest.raises(TypeError, match="did you mean 'normalise'"):
        sotto.Encoder.from_state_dict(state, **given, normalize="none")


def test_state_dict_in_torch(encoder):
    torch = pytest.importorskip("torch")
    widths, layers = [3, 128, 128, 128, 128], []
    for a, b in zip(widths, widths[1:]):
        layers += [torch.nn.Conv2d(a, b, 3, 2), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(128, 128), torch.nn.ReLU())
    net.load_state_dict(encoder.state_dict())
    with torch.no_grad():
        want = net(torch.from_numpy(images[:8] / np.float32(255))).numpy()
    assert np.allclose(encoder.embed(torch.from_numpy(images[:8])), want, atol=1e-4)


def test_options():
    assert sotto.pretrain(images, epochs=1, batch=32, name="faces").facts["data_set"] == "faces"
    for change, text in [({"batch": 0}, "batch"), ({"encoder": "vgg", "batch": 32}, "vgg"),
                         ({"batch": 500}, "batch|500"), ({"lr": -1}, "lr must be")]:
        with pytest.raises(ValueError, match=text):
            sotto.pretrain(images, **{"epochs": 1, **change})
    with pytest.raises(TypeError, match="did you mean 'epochs'"):
        sotto.pretrain(images, epoch=1)


def test_checkpoint(tmp_path):
    """A call that was stopped continues where it was."""
    given = dict(epochs=2, batch=32, seed=3, dtype="f32", backend="dnnl", threads=1)
    whole = sotto.pretrain(images, **given)

    def stop(stage, done, total, unit):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sotto.pretrain(images, checkpoint=tmp_path / "c", progress=stop, **given)
    assert (tmp_path / "c").exists()
    assert sotto.pretrain(images, checkpoint=tmp_path / "c", **given).sha256 == whole.sha256


def test_scattering(tmp_path):
    grey = images[:5, 0, :28, :28].copy()
    f = sotto.scatter(grey)
    assert f.shape == (5, 81 * 49) and f.dtype == np.float32 and np.array_equal(f[2:3], sotto.scatter(grey[2:3]))
    assert sotto.scatter(images[:2], grid=2, groups=0).shape == (2, 243 * 4) and sotto.scatter(grey, mirror=True).shape[1] == 81 * 28
    np.save(tmp_path / "g.npy", grey)
    subprocess.run([program, "embed", "--encoder", "scattering", "--data", "g.npy", "-o", "f.npy"], cwd=tmp_path, check=True, capture_output=True)
    assert np.array_equal(np.load(tmp_path / "f.npy").reshape(5, -1), f)
    with pytest.raises(ValueError, match="groups"):
        sotto.scatter(grey, groups=7)


def test_quality_of_embeddings():
    x = rng.normal(size=(60, 3)).astype(np.float32)
    y = np.argmax(x, 1)
    a = sotto.knn_accuracy((x, y), (x, y), k=1)
    assert a == 1.0 and sotto.knn_accuracy((x, y), (x, (y + 1) % 3), k=1) == 0
    s = sotto.standardise(x, x[:30])
    assert np.allclose(s[:30].mean(0), 0, atol=1e-6) and np.allclose(s[:30].std(0), 1, atol=1e-3) and s is not x
    with pytest.raises(ValueError, match="x has 3 columns, but public has 2"):
        sotto.standardise(x, x[:, :2])
    with pytest.raises(ValueError, match="one label for each row"):
        sotto.knn_accuracy((x, y[:3]), (x, y))


def vectors(shift, n=40):
    """Embeddings of views that lie closer together, the smaller the shift."""
    centre = rng.normal(size=(n, 1, 16))
    return (centre + shift * rng.normal(size=(n, 4, 16))).astype(np.float32), centre[:, 0].astype(np.float32)


def test_attack_on_embeddings():
    names = {"member": 0.3, "nonmember": 1.0, "shadow_member": 0.3, "shadow_nonmember": 1.0}
    arrays = {f"{side}_{what}": a for side, shift in names.items() for what, a in zip(("views", "plain"), vectors(shift))}
    r = sotto.attack_encoder(**arrays, bank_plain=vectors(1)[1], shadow_bank_plain=vectors(1)[1], seed=1)
    assert len(r) == 5 and r.scores.shape == (5, 80) and r.encoder.views == 4
    for name, scores in zip(r, r.scores):
        a, b = scores[:40, None], scores[None, 40:]
        assert r[name].auc.estimate == np.mean((a > b) + 0.5 * (a == b))
    assert r.worst.auc.estimate > 0.9
    alone = sotto.attack_encoder(**{k: v for k, v in arrays.items() if not k.startswith("shadow")})
    assert len(alone) == 1 and alone.scores.shape == (1, 80)
    for change, text in [({"member_plain": None}, "None|dtype|together"), ({"member_views": arrays["member_views"][:, :3]}, "views = 3 as in member_views"),
                         ({"temperature": -1}, "temperature"), ({"nonmember_plain": arrays["nonmember_plain"][:, :5]}, "d = 16 as in member_views")]:
        with pytest.raises(ValueError, match=text):
            sotto.attack_encoder(**{**arrays, **change})
    with pytest.raises(ValueError, match="give either encoder and images"):
        sotto.attack_encoder(member=images)


def test_attack_on_an_encoder(encoder):
    shadow = sotto.Encoder.random(images, seed=9)
    parts = dict(member=images[:24], nonmember=images[24:48], shadow_member=images[48:72], shadow_nonmember=images[72:], bank=images[:20])
    r = sotto.attack_encoder(encoder, shadow, views={"views": 3, "seed": 1}, **parts, title="encoder")
    assert len(r) == 5 and r.encoder.views == 3 and r.n_member == 24 and "encoder" in r.html()

"""sotto.attack: functions, modules of PyTorch, classifiers and files under attack in this process; what they answer and what they raise."""

import json
import os
import pickle
import subprocess
import threading

import numpy as np
import pytest

import sotto

program = os.environ.get("SOTTO", "sotto")
rng = np.random.default_rng(3)
x = rng.normal(size=(400, 6)).astype(np.float32)
y = (np.arange(400) % 3).astype(np.int64)
inside, outside, attacker = (x[:100], y[:100]), (x[100:200], y[100:200]), (x[200:], y[200:])


def weights():
    return np.linspace(-1, 1, 18).reshape(6, 3).astype(np.float32)


def logits(rows):
    """Remembers its members: their logits are three times as large."""
    seen = (np.asarray(rows)[:, None] == x[:100]).all(2).any(1)
    return rows @ weights() * (1 + 2 * seen[:, None])


def softmax(z):
    p = np.exp(z - z.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)


def model(rows):
    return softmax(logits(rows))


def area(scores):
    a, b = scores[:100, None], scores[None, 100:]
    return np.mean((a > b) + 0.5 * (a == b))


def test_scores_are_those_of_the_answers():
    r = sotto.attack(model, "ml-leaks-3", member=inside, nonmember=outside)
    assert isinstance(r, sotto.AuditResult) and list(r)[0] == "ml-leaks-3" and r.scores.shape == (200,)
    assert np.allclose(r.scores, model(x[:200]).max(1), atol=1e-6)
    assert r["ml-leaks-3"].auc.estimate == area(r.scores)
    assert r.worst.auc.lower > 0.5  # and by a model without memory nothing is found
    clean = sotto.attack(lambda rows: softmax(rows @ weights()), "ml-leaks-3", member=inside, nonmember=outside)
    assert clean["ml-leaks-3"].auc.lower < 0.5 < clean["ml-leaks-3"].auc.upper


def test_what_is_stated_of_the_answers():
    a = sotto.attack(model, "ml-leaks-3", member=inside, nonmember=outside)
    b = sotto.attack(logits, "ml-leaks-3", member=inside, nonmember=outside, output="logits")
    assert np.allclose(a.scores, b.scores, atol=1e-6)
    with pytest.raises(ValueError, match="does not sum to 1.*\n.*output='logits'"):
        sotto.attack(logits, "ml-leaks-3", member=inside, nonmember=outside)


@pytest.mark.parametrize("name", ["shokri", "ml-leaks-1", "lira", "rmia", "lira-offline"])
def test_shadow_models(name):
    r = sotto.attack(model, name, member=inside, nonmember=outside, attacker=attacker, shadows=4, shadow={"hidden": [8], "epochs": 3, "lr": 1e-2}, seed=2)
    assert r[name].auc.estimate == area(r.scores)
    facts = r.to_dict()["model_attack"]["shadows"]
    assert '"epochs":3' in facts["recipe"] and '"hidden":[8]' in facts["recipe"]


def test_the_same_as_the_program(tmp_path):
    """A function in this process and a command give one answer."""
    for name, array in {"xm": x[:100], "ym": y[:100], "xn": x[100:200], "yn": y[100:200], "xa": x[200:], "ya": y[200:], "w": weights(), "all": x}.items():
        np.save(tmp_path / f"{name}.npy", array)
    (tmp_path / "serve.py").write_text(
        "import io, sys, numpy as np\n"
        "w, x = np.load('w.npy'), np.load('all.npy')\n"
        "while sys.stdin.buffer.peek(1):\n"
        "    np.lib.format.read_magic(sys.stdin.buffer)\n"
        "    shape, _, dtype = np.lib.format.read_array_header_1_0(sys.stdin.buffer)\n"
        "    rows = np.frombuffer(sys.stdin.buffer.read(4 * shape[0] * shape[1]), dtype).reshape(shape)\n"
        "    z = rows @ w * (1 + 2 * (rows[:, None] == x[:100]).all(2).any(1)[:, None])\n"
        "    p = np.exp(z - z.max(1, keepdims=True))\n"
        "    frame = io.BytesIO()\n"
        "    np.save(frame, (p / p.sum(1, keepdims=True)).astype('f4'))\n"
        "    sys.stdout.buffer.write(frame.getvalue())\n"
        "    sys.stdout.flush()\n")
    files = [f"--{o}={f}.npy" for o, f in {"member-features": "xm", "member-labels": "ym", "nonmember-features": "xn", "nonmember-labels": "yn",
                                           "attacker-features": "xa", "attacker-labels": "ya"}.items()]
    told = subprocess.run([program, "attack", "ml-leaks-1", "--target-command", "python3 serve.py", "--classes", "3", *files, "--hidden", "8", "--epochs", "3",
                           "--seed", "2", "--json"], capture_output=True, check=True, cwd=tmp_path)
    r = sotto.attack(lambda rows: model(rows).astype("f4"), "ml-leaks-1", member=inside, nonmember=outside, attacker=attacker, classes=3,
                     shadow={"hidden": 8, "epochs": 3}, seed=2)
    assert json.loads(told.stdout)["attacks"] == r.to_dict()["attacks"]


def test_labels_only():
    asked = []

    def decide(rows):
        asked.append(len(rows))
        return logits(rows).argmax(1)

    r = sotto.attack(decide, "noise", member=inside, nonmember=outside, attacker=attacker, output="labels", classes=3, queries=8, shadow={"epochs": 2})
    assert r["noise"].auc.estimate == area(r.scores) and max(asked) <= 1024
    with pytest.raises(ValueError, match="give classes="):
        sotto.attack(decide, "noise", member=inside, nonmember=outside, attacker=attacker, output="labels")
    with pytest.raises(ValueError, match="answered label 3; classes are 0 to 2"):
        sotto.attack(lambda rows: decide(rows) + 1, "noise", member=inside, nonmember=outside, attacker=attacker, output="labels", classes=3)


class Forest:
    """As a classifier of scikit-learn, with names for classes."""
    classes_ = np.array(["b", "a", "c"])

    def predict_proba(self, rows):
        return model(rows)


def test_classifier():
    names = Forest.classes_[y]
    r = sotto.attack(Forest(), "ml-leaks-3", member=(x[:100], names[:100]), nonmember=(x[100:200], names[100:200]))
    assert r.to_dict()["attacks"] == sotto.attack(model, "ml-leaks-3", member=inside, nonmember=outside).to_dict()["attacks"]
    with pytest.raises(ValueError, match="not among the model's classes_"):
        sotto.attack(Forest(), "ml-leaks-3", member=(x[:100], np.full(100, "z")), nonmember=outside)


def test_exceptions_and_thread():
    class Mine(Exception):
        pass

    raised, count = Mine("x"), 0

    def breaks(rows):
        nonlocal count
        assert threading.current_thread() is threading.main_thread()
        count += 1
        if count > 3:
            raise raised
        return model(rows)

    with pytest.raises(Mine) as e:
        sotto.attack(breaks, "ml-leaks-3", member=inside, nonmember=outside, query_batch=50)
    assert e.value is raised and count == 4 and not getattr(raised, "__notes__", [])


def test_rows_are_the_callers_to_keep():
    kept = []

    def keeps(rows):
        kept.append(rows)
        return model(rows)

    sotto.attack(keeps, "ml-leaks-3", member=inside, nonmember=outside)
    assert any(np.array_equal(k[:5], x[:5]) for k in kept)


def test_shapes_and_images():
    images = x.reshape(400, 1, 2, 3)
    shapes = set()

    def of_images(rows):
        shapes.add(rows.shape[1:])
        return model(rows.reshape(len(rows), -1))

    r = sotto.attack(of_images, "augmentation", member=(images[:100], y[:100]), nonmember=(images[100:200], y[100:200]), attacker=(images[200:], y[200:]), shadow={"epochs": 1})
    assert shapes == {(1, 2, 3)} and r["augmentation"].auc


def test_budget():
    with pytest.raises(sotto.BudgetExceeded):
        sotto.attack(model, "ml-leaks-3", member=inside, nonmember=outside, budget=150)


@pytest.mark.parametrize("change, text", [
    ({"member": x}, "member must be a pair"), ({"member": (x[:10], y[:9])}, "member: 10 records, but 9 labels"),
    ({"nonmember": (x[:, :5], y)}, r"nonmember: records have shape \(400, 5\); expected \(n, 6\)"),
    ({"member": (y, y)}, "member: records have shape"), ({"member": (x[:100], y[:100] + 5)}, "label|class"),
    ({"shadow": {"widths": 3}}, None), ({"shadow": {"epochs": 0.5}}, "epochs"), ({"output": "softmax"}, "output must be"),
    ({"image": (3, 2, 2)}, "image must be"), ({"query_batch": 0}, "query_batch"), ({"classes": 1}, "classes must be at least 2"),
    ({"classes": 4}, "answered 3 classes; expected 4"), ({"fpr": 2.0}, "fpr"), ({"shadows": 4, "confidence": 3}, "confidence"),
])
def test_bad_input(change, text):
    with pytest.raises(ValueError if text else TypeError, match=text):
        sotto.attack(model, "ml-leaks-3", **{"member": inside, "nonmember": outside, **change})


def test_bad_models_and_names():
    for bad, text in [(3, "must be a function"), (lambda rows: model(rows)[:, 0], r"answered shape \(1,\) to 1 rows"), ("missing.safetensors", "missing.safetensors")]:
        with pytest.raises(sotto.SottoError, match=text):
            sotto.attack(bad, "ml-leaks-3", member=inside, nonmember=outside)
    with pytest.raises(ValueError, match="lira"):
        sotto.attack(model, "liar", member=inside, nonmember=outside)
    for given, text in [({}, r"in Python: attacker=\(x, y\)"), ({"attacker": attacker}, r"in Python: shadow=\{'hidden'")]:
        with pytest.raises(ValueError, match=text):
            sotto.attack(model, "lira-offline", member=inside, nonmember=outside, **given)
    with pytest.raises(TypeError, match="did you mean 'shadows'"):
        sotto.attack(model, "lira", member=inside, nonmember=outside, shadow_s=4)
    assert "lira" in sotto.attacks() and len(sotto.attacks()) > 15


def test_parts(tmp_path):
    given = dict(member=inside, nonmember=outside, attacker=attacker, shadows=4, cache=tmp_path, shadow={"epochs": 2})
    part = sotto.attack(model, "lira", shard=(0, 2), **given)
    assert part.pending == 1 and part.scores is None
    whole = sotto.attack(model, "lira", shard=(1, 2), **given)
    assert whole.scores is not None and whole.to_dict()["attacks"] == sotto.attack(model, "lira", **given).to_dict()["attacks"]


def test_report_says_how(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    r = sotto.attack(model, "ml-leaks-3", member=inside, nonmember=outside, seed=7, title="My model")
    page = open(r.save(tmp_path / "a")).read()
    assert "sotto.attack(model, &#39;ml-leaks-3&#39;" in page.replace("'", "&#39;") and "seed=7" in page and "My model" in page
    again = pickle.loads(pickle.dumps(r))
    assert np.array_equal(again.scores, r.scores) and again.html() == r.html()


def test_torch_module():
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Dropout(0.5), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    net[1].eval()
    before = [m.training for m in net.modules()]
    r = sotto.attack(net, "ml-leaks-3", member=(torch.from_numpy(x[:100]), torch.from_numpy(y[:100])), nonmember=outside)
    assert [m.training for m in net.modules()] == before and all(p.grad is None for p in net.parameters())
    with torch.no_grad():
        want = torch.softmax(net.eval()(torch.from_numpy(x[:200])), 1).max(1).values.numpy()
    assert np.allclose(r.scores, want, atol=1e-6)
    assert np.allclose(sotto.attack(net.double(), "ml-leaks-3", member=inside, nonmember=outside).scores, want, atol=1e-6)
    asleep = torch.nn.Sequential(net, torch.nn.Softmax(1))
    with pytest.raises(ValueError, match="look like probabilities"):
        sotto.attack(asleep, "ml-leaks-3", member=inside, nonmember=outside)
    assert np.allclose(sotto.attack(asleep, "ml-leaks-3", member=inside, nonmember=outside, output="probabilities").scores, want, atol=1e-6)
    narrow = torch.nn.Linear(5, 3)
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        sotto.attack(narrow, "ml-leaks-3", member=inside, nonmember=outside)
    assert narrow.training


def test_sklearn_classifier():
    ensemble = pytest.importorskip("sklearn.ensemble")
    forest = ensemble.RandomForestClassifier(10, random_state=1).fit(*inside)
    r = sotto.attack(forest, "ml-leaks-3", member=inside, nonmember=outside)
    assert np.allclose(r.scores, forest.predict_proba(x[:200]).max(1), atol=1e-6) and r.worst.auc.lower > 0.6


def test_intermediate_models(tmp_path):
    given = {"member": inside, "nonmember": outside, "attacker": attacker, "snapshots": tmp_path / "all"}
    net = sotto.train_network(*inside, model="mlp", hidden=8, epochs=4, batch=20, dtype="f32", backend="ref", snapshot_every=1, snapshots=tmp_path / "all")
    assert sorted(p.name for p in (tmp_path / "all").iterdir()) == [f"epoch-{e:06}.safetensors" for e in (1, 2, 3)]
    r = sotto.attack(net, "loss-trajectory", **given, cache=tmp_path / "c")
    assert r.scores.shape == (200,) and "by its own intermediate models" in r["loss-trajectory"].title
    with pytest.raises(ValueError, match="snapshots= needs cache=") as error:
        sotto.attack(net, "loss-trajectory", **given)
    assert error.value.key == "snapshots"


def test_models_of_sotto(tmp_path):
    """Weights in sight: the head, its file, and answers alone."""
    head = sotto.train_head(*inside, classes=3, hidden=[16], epochs=200, lr=1e-2)
    path = head.save(tmp_path / "head.safetensors")
    given = dict(member=inside, nonmember=outside, attacker=attacker)
    r = sotto.attack(head, "gradient-norm", **given, shadow={"epochs": 5}, mismatch=True)
    assert r.to_dict()["attacks"] == sotto.attack(path, "gradient-norm", **given, shadow={"epochs": 5}, mismatch=True).to_dict()["attacks"]
    a, b = (sotto.attack(m, "ml-leaks-3", **given).scores for m in (head, head.predict_proba))
    assert np.allclose(a, b, atol=1e-6)
    with pytest.raises(ValueError, match="needs the weights.*\n.*a Head, a Network or a path"):
        sotto.attack(head.predict_proba, "gradient-norm", **given, shadow={"epochs": 5})

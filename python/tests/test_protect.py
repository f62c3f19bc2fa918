"""Releases with a proved sensitivity: the same bits as the program's; refusals name parameters and charge nothing."""

import json
import os
import pathlib
import pickle
import subprocess

import numpy as np
import pytest

import sotto

program = os.environ.get("SOTTO", "sotto")


def sotto_program(*args):
    done = subprocess.run([program, *map(str, args), "--quiet"], capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def same_claims(certificate, path):
    a, b = certificate.to_dict(), json.loads(pathlib.Path(f"{path}.certificate.json").read_text())
    return all(a.get(k) == b.get(k) for k in ("guarantee", "mechanism", "scale", "sensitivity", "records", "condition"))


@pytest.fixture
def ledger():
    return sotto.Ledger(dataset="ours")


def test_head_as_the_program(tmp_path, ledger):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(400, 3)).astype("f4"), rng.integers(0, 2, 400)
    head = sotto.train_head(x, y, classes=2, trainer="convex", lambda_=0.05)
    assert head.certificate is None
    head.save(tmp_path / "h.safetensors")
    sotto_program("protect", "--head", tmp_path / "h.safetensors", "--epsilon", 1, "--delta", 1e-5, "--dataset-id", "theirs", "--insecure-noise-seed", 4, "-o", tmp_path / "p.safetensors")
    ours = sotto.protect_head(head, tmp_path / "o.safetensors", epsilon=1, delta=1e-5, ledger=ledger, insecure_seed=4)
    theirs = sotto.Head.load(tmp_path / "p.safetensors")
    assert all(np.array_equal(a, b) for a, b in zip(ours.weights.values(), theirs.weights.values())) and same_claims(ours.certificate, tmp_path / "p.safetensors")
    proved = sotto.protect_head(head, tmp_path / "o2.safetensors", epsilon=1, delta=1e-5, ledger=ledger).certificate
    assert proved.proved and sotto.verify(tmp_path / "o2.safetensors", ledger=ledger).proved
    again = pickle.loads(pickle.dumps(sotto.Head.load(tmp_path / "o2.safetensors")))
    again.save(tmp_path / "o3.safetensors")
    assert sotto.verify(tmp_path / "o3.safetensors", ledger=ledger).proved
    r = sotto.audit(again.logits(x[:200]), again.logits(x[200:]), member_labels=y[:200], nonmember_labels=y[200:], claim=again.certificate)
    assert "proved" in r.html(certificate=tmp_path / "o2.safetensors", ledger=ledger)
    plain = sotto.train_head(x, y)
    lines = len(ledger._lines())
    with pytest.raises(ValueError, match="sensitivity=, l1="):
        sotto.protect_head(plain, tmp_path / "q.safetensors", epsilon=1, delta=1e-5, ledger=ledger)
    with pytest.raises(ValueError, match="exactly one"):
        sotto.protect_head(head, tmp_path / "q.safetensors", ledger=ledger)
    with pytest.raises(OSError, match="nowhere"):
        sotto.protect_head(head, "/dev/null/nowhere.safetensors", epsilon=1, delta=1e-5, ledger=ledger)
    assert len(ledger._lines()) == lines and not (tmp_path / "q.safetensors").exists()
    stated = sotto.protect_head(plain, tmp_path / "q.safetensors", epsilon=1, delta=1e-5, l2=0.1, ledger=ledger).certificate
    assert stated.guarantee == "conditional" and "sensitivity" in stated.condition


def test_sampled_sensitivity_as_the_program(tmp_path, ledger):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)).astype("f4"), rng.integers(0, 2, 60)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    sotto_program("sensitivity", "--features", tmp_path / "x.npy", "--labels", tmp_path / "y.npy", "--epochs", 2, "--pairs", 12, "-o", tmp_path / "s.json")
    s, theirs = sotto.sample_sensitivity(x, y, pairs=12, epochs=2), sotto.Sensitivity.load(tmp_path / "s.json")
    assert not s.proved and (s.l1, s.l2, s.linf, s.pairs) == (theirs.l1, theirs.l2, theirs.linf, 12) and s.recipe_hash == theirs.recipe_hash
    head = sotto.train_head(x, y, epochs=2)
    c = sotto.protect_head(head, tmp_path / "p.safetensors", sensitivity=s, epsilon=1, delta=1e-4, ledger=ledger).certificate
    assert c.guarantee == "conditional" and not c.proved and c.measured and c.sensitivity.source == "sampled"
    assert "<th>measured</th><td>the sensitivity" in c._repr_html_() and sotto.verify(tmp_path / "p.safetensors", ledger=ledger).measured
    with pytest.raises(ValueError, match="another head"):
        sotto.protect_head(sotto.train_head(x, y, epochs=3), tmp_path / "q.safetensors", sensitivity=s, epsilon=1, delta=1e-4, ledger=ledger)
    with pytest.raises(ValueError, match="convex"):
        sotto.prove_sensitivity(head)
    s.save(tmp_path / "ours.json")
    assert sotto.Sensitivity.load(tmp_path / "ours.json").to_dict() == s.to_dict()


@pytest.mark.parametrize("statistic, options, values", [
    ("mean", {"mechanism": "gaussian", "range": (0, 1), "epsilon": 1, "delta": 1e-6}, lambda r: r.normal(size=(50, 4))),
    ("chi-square-genotypes", {"mechanism": "permute-and-flip", "choices": 2, "epsilon": 1}, lambda r: r.integers(0, 3, (50, 6))),
    ("median", {"mechanism": "smooth-median", "range": (0, 100), "epsilon": 1}, lambda r: r.uniform(0, 100, (50, 1))),
    ("most-frequent", {"mechanism": "propose-test-release", "classes": 3, "epsilon": 2, "delta": 1e-4}, lambda r: np.r_[np.zeros(40), np.ones(10)].astype(int))])
def test_statistic_as_the_program(tmp_path, ledger, statistic, options, values):
    x, cases = values(np.random.default_rng(1)), np.arange(50) % 2
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "cases.npy", cases)
    of_cases = {"cases": cases} if statistic.startswith("chi") else {}
    flags = [y for k, v in options.items() for y in ("--" + k, "{},{}".format(*v) if k == "range" else v)] + (["--cases", tmp_path / "cases.npy"] if of_cases else [])
    sotto_program("protect", "--table", tmp_path / "x.npy", "--statistic", statistic, *flags, "--dataset-id", "theirs", "--insecure-noise-seed", 4, "-o", tmp_path / "p.npy")
    released, certificate = sotto.release_statistic(x, statistic, **options, **of_cases, ledger=ledger, insecure_seed=4)
    assert np.array_equal(released, np.load(tmp_path / "p.npy")) and same_claims(certificate, tmp_path / "p.npy")
    certificate = sotto.release_statistic(x, statistic, **options, **of_cases, ledger=ledger)[1]
    assert certificate.proved and certificate.path is None
    with pytest.raises(ValueError) as e:
        sotto.release_statistic(x, statistic, **{**options, "mechanism": "x"}, **of_cases, ledger=ledger)
    assert "/tmp" not in str(e.value)


def test_records_as_the_program(tmp_path, ledger):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(30, 4)).astype("f4"), rng.integers(0, 3, 30)
    x[3] = np.nan  # counts as zeros, and nothing is said
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    sotto_program("protect", "--records", tmp_path / "x.npy", "--clip", 1, "--epsilon", 40, "--delta", 1e-4, "--labels", tmp_path / "y.npy", "--label-epsilon", 3, "--classes", 3,
                  "--dataset-id", "theirs", "--insecure-noise-seed", 4, "-o", tmp_path / "p.npy")
    certificate = sotto.release_records(x, tmp_path / "o.npy", clip=1, epsilon=40, delta=1e-4, labels=y, label_epsilon=3, classes=3, ledger=ledger, insecure_seed=4)
    assert np.array_equal(np.load(tmp_path / "o.npy"), np.load(tmp_path / "p.npy")) and np.array_equal(np.load(tmp_path / "o.labels.npy"), np.load(tmp_path / "p.labels.npy"))
    assert same_claims(certificate, tmp_path / "p.npy") and certificate.path == f"{tmp_path}/o.npy.certificate.json"
    lines = len(ledger._lines())
    for change, text in ({"labels": None}, "together"), ({"classes": None}, "classes=K"), ({"clip": -1}, "clip"), ({"epsilon": None}, "exactly one"), ({"output": "/dev/null/nowhere.npy"}, "nowhere"):
        given = {"x": x, "output": tmp_path / "q.npy", "clip": 1, "epsilon": 40, "labels": y, "label_epsilon": 3, "classes": 3, "ledger": ledger, **change}
        with pytest.raises((ValueError, OSError), match=text):
            sotto.release_records(given.pop("x"), given.pop("output"), **given)
    with pytest.raises(TypeError, match="'purpos'"):
        sotto.release_records(x, tmp_path / "q.npy", clip=1, epsilon=40, ledger=ledger, purpos="x")
    assert len(ledger._lines()) == lines and not (tmp_path / "q.npy").exists()


def test_comparison(tmp_path):
    rng = np.random.default_rng(1)
    results = {}
    for name, shift in (("plain", 1.0), ("private", 0.0)):
        results[name] = sotto.audit(scores=np.r_[rng.normal(shift, 1, 300), rng.normal(0, 1, 300)], membership=np.r_[np.ones(300), np.zeros(300)].astype(int))
        results[name].save(tmp_path / name)
    c = sotto.compare(results, title="Two")
    told = json.loads(sotto_program("compare", "--model", f"plain={tmp_path}/plain/result.json", "--model", f"private={tmp_path}/private/result.json", "--title", "Two", "-o", tmp_path / "theirs", "--json"))
    assert c.names == ["plain", "private"] and c.to_dict() == told
    assert sotto.compare({n: [tmp_path / n / "result.json"] for n in results}, title="Two").to_dict() == c.to_dict()
    assert pathlib.Path(c.save(tmp_path / "both")).read_text() == c.html() and "plain" in str(c) and c.show()._repr_html_().startswith("<iframe")
    with pytest.raises(ValueError, match="expected 2"):
        sotto.compare({"plain": results["plain"]})
    with pytest.raises(ValueError, match="certificates has .other."):
        sotto.compare(results, certificates={"other": tmp_path / "a.safetensors"})
    assert told["winner"] == "private" and told["attacks"] == ["scores"] and "Nothing here is proved" in c.html()

"""sotto.audit: the same document as the program's, bit for bit; the result object; bad input."""

import json
import os
import pathlib
import pickle
import subprocess

import numpy as np
import pytest

import sotto

examples = pathlib.Path(__file__).parents[2] / "examples" / "audit"
names = ["member-logits", "nonmember-logits", "member-labels", "nonmember-labels"]
program = os.environ.get("SOTTO", "sotto")


def arrays():
    return {n.replace("-", "_"): np.load(examples / f"{n}.npy") for n in names}


@pytest.fixture(scope="module")
def result():
    return sotto.audit(**arrays(), fpr=[0.01, 0.1], claim=(1.0, 1e-5), seed=1, most_vulnerable=5)


def test_same_document_as_the_program(result):
    files = [x for n in names for x in (f"--{n}", examples / f"{n}.npy")]
    told = subprocess.run([program, "audit", *files, "--fpr", "0.01,0.1", "--claim", "eps=1,delta=1e-5", "--most-vulnerable", "5", "--json"], capture_output=True, check=False)
    assert json.loads(told.stdout) == result.to_dict()


def test_attributes(result):
    assert isinstance(result, sotto.AuditResult) and len(result) == len(list(result)) == 5
    loss = result["loss"]
    assert isinstance(loss.auc, sotto.Estimate) and 0.6 < loss.auc.lower < loss.auc.estimate < loss.auc.upper < 0.7
    # AUC by its definition, in NumPy
    x, y = -np.log(softmax(arrays(), "member")), -np.log(softmax(arrays(), "nonmember"))
    assert loss.auc.estimate == np.mean((x[:, None] < y) + 0.5 * (x[:, None] == y))
    assert loss.tpr(0.1).estimate <= 1
    with pytest.raises(KeyError, match="0.01, 0.1"):
        loss.tpr(0.5)
    assert result.worst is max(result.values(), key=lambda a: a.auc.estimate)
    assert result.claim.contradicted in (0, 1) and result.claim.epsilon == 1
    assert loss.roc.dtype.names == ("fpr", "tpr") and loss.roc["tpr"][-1] == 1
    assert [c.name for c in result.checks][0] == "duplicates" and result.checks[0].level == "ok"
    with pytest.raises(AttributeError):
        loss.name = "x"


def softmax(a, side):
    z = a[side + "_logits"].astype(float)
    p = np.exp(z - z.max(1, keepdims=True))
    return (p / p.sum(1, keepdims=True))[np.arange(len(z)), a[side + "_labels"]]


def test_save_load_pickle(result, tmp_path):
    page = result.save(tmp_path / "audit1")
    assert pathlib.Path(page).read_text() == result.html()
    assert sorted(p.name for p in (tmp_path / "audit1").iterdir()) == ["MODEL_CARD.md", "attacks.csv", "report.html", "report.json", "result.json"]
    for other in (sotto.AuditResult.load(tmp_path / "audit1"), pickle.loads(pickle.dumps(result))):
        assert other.to_dict() == result.to_dict()
    assert "<table>" in result._repr_html_() and str(tmp_path) in result._repr_html_()
    assert len(repr(result).splitlines()) <= 8


def test_gates(result):
    result.check("auc<0.2", "claim>1")
    with pytest.raises(sotto.GateFailed, match="auc>0.6") as e:
        result.check("auc>0.6")
    assert e.value.result is result and e.value.status == "EGATE"


def test_scores_and_types():
    rng = np.random.default_rng(1)
    s, m = rng.normal(size=200), np.arange(200) % 2
    a = sotto.audit(scores=s, membership=m)
    assert a.to_dict() == sotto.audit(scores=list(s), membership=m.astype(bool)).to_dict()
    b = arrays()
    wide = sotto.audit(**b)
    for change in (np.asfortranarray, lambda x: x.astype(x.dtype.newbyteorder(">")), lambda x: np.repeat(x, 2, 0)[::2]):
        assert sotto.audit(**{k: change(v) for k, v in b.items()}).to_dict() == wide.to_dict()
    narrow = sotto.audit(**{k: v.astype(np.float32) if "logits" in k else v for k, v in b.items()})
    assert narrow.worst.auc.estimate == pytest.approx(wide.worst.auc.estimate, abs=1e-3)


@pytest.mark.parametrize("change, text", [
    ({"member_logits": np.zeros((3, 2))}, "nonmember_logits has 10 of classes, but member_logits has 2"),
    ({"member_labels": np.zeros(3)}, "member_labels has 3 of member, but member_logits has 500"),
    ({"member_labels": np.full(500, 0.5)}, "member_labels: value 0 is .*0.5.*, which int64 cannot hold"),
    ({"member_logits": [["a"]]}, "member_logits has dtype <U1"),
    ({"member_logits": np.zeros(3)}, "member_logits has 1 dimensions"),
    ({"fpr": 2}, "fpr"), ({"confidence": 0}, "confidence"), ({"bootstrap": 5}, "bootstrap|draws"), ({"bootstrap": 1.5}, "whole number"),
    ({"member_losses": np.zeros(500)}, "losses"), ({"scores": [1.0]}, "membership must be given|given together"),
])
def test_bad_input(change, text):
    with pytest.raises(ValueError, match=text) as e:
        sotto.audit(**{**arrays(), **change})
    assert isinstance(e.value, sotto.SottoError) and e.value.status in ("EINVAL", "EUSAGE")


def test_unknown_parameter():
    with pytest.raises(TypeError, match="did you mean 'confidence'"):
        sotto.audit(**arrays(), confidense=0.9)

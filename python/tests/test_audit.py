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


def test_save_load_pickle(result, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    page = result.save(tmp_path / "audit1")
    assert pathlib.Path(page).read_text() == result.html()
    assert sorted(p.name for p in (tmp_path / "audit1").iterdir()) == ["MODEL_CARD.md", "attacks.csv", "report.html", "report.json", "result.json"]
    for other in (sotto.AuditResult.load(tmp_path / "audit1"), pickle.loads(pickle.dumps(result))):
        assert other.to_dict() == result.to_dict()
    assert "<table>" in result._repr_html_() and str(tmp_path) in result._repr_html_()
    assert len(repr(result).splitlines()) <= 8


def test_a_frame_has_one_row_for_each_attack(result):
    pytest.importorskip("pandas")
    frame = result.to_dataframe()
    assert list(frame["attack"]) == list(result) and frame["attack"].is_unique
    for rate in result.worst.rates:
        tpr = float("nan") if rate.refused else result.worst.tpr(rate.fpr).estimate
        np.testing.assert_equal(float(frame.set_index("attack")[f"tpr@{rate.fpr:g}"][result.worst.name]), tpr)


class Axes:
    """What plot() draws, without matplotlib."""

    def __init__(self):
        self.drawn, self.labels, self.facts = [], [], {}

    def plot(self, x, y, label=None, **_):
        self.drawn.append((np.asarray(x), np.asarray(y)))
        self.labels += [label] if label else []

    def stairs(self, values, edges, label=None, **_):
        self.plot(values, edges, label)

    def set(self, **facts):
        self.facts.update(facts)

    def legend(self, **_):
        pass


def test_plots_of_curves_and_of_scores(result):
    axes = Axes()
    assert result.plot(axes) is axes and len(axes.labels) == len(result)
    axes = Axes()
    result.plot(axes, kind="scores", attack="loss")
    (members, edges), (others, _) = axes.drawn
    assert axes.labels == ["members", "non-members"] and axes.facts["xlabel"] == "score of loss"
    assert abs(members.sum() - 1) < 1e-12 and abs(others.sum() - 1) < 1e-12 and len(edges) == len(members) + 1
    # members have the smaller loss: their scores lie higher
    middle = (edges[1:] + edges[:-1]) / 2
    assert (members * middle).sum() > (others * middle).sum()
    for wrong in ({"kind": "pie"}, {"attack": "none"}):
        with pytest.raises(ValueError, match="expected"):
            result.plot(Axes(), **wrong)


def test_gates(result):
    result.check("auc<0.2", "claim>1")
    with pytest.raises(sotto.GateFailed, match="auc>0.6") as e:
        result.check("auc>0.6")
    assert e.value.result is result and e.value.status == "EGATE"


def test_verdict(result):
    assert result.verdict["kind"] == "contradicted" and result.verdict["by"] == "claim" and not result.verdict["swapped"] and result.verdict["text"] in repr(result)
    rng = np.random.default_rng(4)
    scores, membership = np.concatenate([rng.normal(size=500), rng.normal(size=500) + 1.1]), np.repeat([1, 0], 500)
    turned = sotto.audit(scores=scores, membership=membership, claim=(.1, 0.0))
    assert turned.verdict["kind"] == "contradicted" and turned.verdict["swapped"]
    for rule in ("auc>0.6", "advantage>0.2", "epsilon>0", "lint>0", "claim>0"):
        with pytest.raises(sotto.GateFailed):
            turned.check(rule)
    with pytest.raises(sotto.GateFailed, match="are members and non-members swapped"):
        sotto.audit(scores=scores, membership=membership).check("auc>0.9")
    same = sotto.audit(scores=rng.normal(size=1000), membership=membership)
    assert same.verdict["kind"] == "not-detected"
    same.check("auc>0.9")


def test_references_of_another_kind():
    rng = np.random.default_rng(5)
    logits, references, y = rng.normal(size=(200, 3)), rng.normal(size=(4, 200, 3)), rng.integers(0, 3, 200)
    def soft(z):
        return np.exp(z) / np.exp(z).sum(-1, keepdims=True)
    given = {"member_labels": y[:100], "nonmember_labels": y[100:], "ref_membership": rng.integers(0, 2, (4, 200))}
    a = sotto.audit(member_logits=logits[:100], nonmember_logits=logits[100:], ref_logits=references, **given)
    b = sotto.audit(member_probabilities=soft(logits[:100]), nonmember_probabilities=soft(logits[100:]), ref_logits=references, **given)
    assert a["lira"].auc.estimate == pytest.approx(b["lira"].auc.estimate, abs=1e-3)
    with pytest.raises(ValueError, match="either ref_logits= or ref_probabilities="):
        sotto.audit(member_logits=logits[:100], nonmember_logits=logits[100:], ref_logits=references, ref_probabilities=soft(references), **given)


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
    ({"member_logits": np.zeros((3, 2))}, r"nonmember_logits: has shape \(500, 10\); expected \(m, classes\), classes = 2 as in member_logits"),
    ({"member_labels": np.zeros(3)}, r"member_labels: has shape \(3\); expected \(n\), n = 500 as in member_logits"),
    ({"member_labels": np.full(500, 0.5)}, "member_labels: contains fractions, or numbers that i8 cannot hold; labels must be whole numbers"),
    ({"member_logits": [["a"]]}, "member_logits has dtype <U1"),
    ({"member_logits": np.zeros(3)}, r"member_logits: has shape \(3\); expected \(n, classes\)"),
    ({"fpr": 2}, "fpr"), ({"confidence": 0}, "confidence"), ({"bootstrap": 5}, "bootstrap|draws"), ({"bootstrap": 1.5}, "whole number"),
    ({"member_losses": np.zeros(500)}, "losses"), ({"scores": [1.0]}, "scores= needs membership=|membership= needs scores="),
])
def test_bad_input(change, text):
    with pytest.raises(ValueError, match=text) as e:
        sotto.audit(**{**arrays(), **change})
    assert isinstance(e.value, sotto.SottoError) and e.value.status in ("EINVAL", "EUSAGE")


def test_unknown_parameter():
    with pytest.raises(TypeError, match="did you mean 'confidence'"):
        sotto.audit(**arrays(), confidense=0.9)


def compared(tmp_path, arrays, *options):
    """The program's document and ours."""
    for name, a in arrays.items():
        np.save(tmp_path / f"{name}.npy", a)
    files = [f"--{n.replace('_', '-')}={tmp_path / n}.npy" for n in arrays]
    told = subprocess.run([program, "audit", *files, *options, "--json"], capture_output=True, check=False)
    return json.loads(told.stdout)


def test_generative_model(tmp_path):
    rng = np.random.default_rng(2)
    images = rng.random((120, 1, 4, 4), np.float32)
    copies = np.clip(images[:30] + rng.normal(0, 0.01, (30, 1, 4, 4)), 0, 1).astype(np.float32)  # a generator that repeats its members
    arrays = {"member_features": images[:40], "nonmember_features": images[40:80], "generated": np.concatenate([copies, images[80:]]),
              "reference_generated": rng.random((50, 1, 4, 4), np.float32), "attacker_features": images[80:],
              "member_discriminator_scores": rng.normal(1, 1, 40), "nonmember_discriminator_scores": rng.normal(0, 1, 40)}
    r = sotto.audit(**arrays, seed=1, most_vulnerable=10)
    assert compared(tmp_path, arrays, "--seed", "1") == r.to_dict()
    assert max(a.auc.estimate for a in r.values() if a.generative and a.generative.access == "samples") > 0.8
    for change, text in [({"generated": None}, "reference_generated= needs generated="), ({"member_features": None, "nonmember_features": None}, "generated= needs member_features="),
                         ({"member_discriminator_scores": None}, "given together"), ({"generated": np.zeros((3, 5))}, "features = 16 as in member_features")]:
        with pytest.raises(ValueError, match=text):
            sotto.audit(**{**arrays, **change})


def test_texts_of_a_language_model(tmp_path):
    rng = np.random.default_rng(4)
    member, lengths = np.arange(60) % 2, rng.integers(3, 9, 60)
    logprobs = -rng.exponential(2 - .8 * member[:, None], (60, 8))
    logprobs[np.arange(8) >= lengths[:, None]] = np.nan
    arrays = {"token_logprobs": logprobs, "membership": member, "token_mean": -rng.exponential(2, (60, 8)), "token_deviation": rng.random((60, 8)) + .5,
              "reference_token_logprobs": -rng.exponential(2, (60, 5)), "lowercase_token_logprobs": -rng.exponential(2, (60, 7)).astype(np.float32),
              "compressed_bytes": rng.integers(20, 40, 60), "neighbour_losses": rng.exponential(2, (60, 3))}
    r = sotto.audit(**arrays)
    assert compared(tmp_path, arrays) == r.to_dict()
    assert {"token-loss", "zlib", "min-k", "min-k-plus", "lowercase", "neighbourhood", "reference-ratio"} <= set(r) and r["token-loss"].auc.lower > .6
    full = {**arrays, "token_logprobs": np.nan_to_num(logprobs, nan=-1.)}
    assert sotto.audit(**full, token_lengths=lengths).to_dict() == r.to_dict()
    assert compared(tmp_path, {**full, "token_lengths": lengths}) == r.to_dict()
    for change, text in [({"membership": None}, "token_logprobs= needs membership="), ({"token_logprobs": None}, "token_mean= needs token_logprobs="),
                         ({"member_losses": [1.0], "nonmember_losses": [2.0]}, "either token_logprobs= or member_losses="), ({"scores": np.zeros(60)}, "either token_logprobs= or scores="),
                         ({"compressed_bytes": np.ones(3)}, r"compressed_bytes: has shape \(3\); expected \(N\), N = 60 as in token_logprobs"),
                         ({"token_mean": np.zeros((60, 3))}, r"token_mean: has shape \(60, 3\); expected \(N, T\), T = 8 as in token_logprobs"),
                         ({"token_lengths": np.full(60, 9)}, "row 0 is 9; expected 1 to 8"), ({"token_lengths": [1]}, r"token_lengths: has shape \(1\)"),
                         ({"token_logprobs": np.full((60, 8), np.nan)}, "no token")]:
        with pytest.raises(ValueError, match=text):
            sotto.audit(**{**arrays, **change})


def test_defaults_are_the_program_s(tmp_path):
    """The same arrays without any option, where intervals depend on a seed."""
    assert compared(tmp_path, arrays()) == sotto.audit(**arrays()).to_dict()
    rng = np.random.default_rng(5)
    coins = {"scores": rng.normal(size=300), "membership": rng.integers(0, 2, 300)}
    assert compared(tmp_path, coins, "--coins", "inclusion") == sotto.audit(**coins, coins="inclusion").to_dict()
    assert sotto.audit(**arrays(), seed=2).to_dict() != sotto.audit(**arrays()).to_dict()  # so the seed decides something


def test_attribute_inference(tmp_path):
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 300)
    features = rng.normal(size=(300, 5)) + a[:, None]
    arrays = {"features": features, "attribute": a, "attribute_labels": rng.integers(0, 3, 300), "attribute_outputs": rng.random((300, 3)),
              "attribute_known": rng.random((300, 2))}
    r = sotto.audit(**arrays, attribute_depth=3, seed=1)
    assert compared(tmp_path, arrays, "--attribute-depth", "3", "--seed", "1") == r.to_dict()
    assert r.attribute.attack.balanced_accuracy.lower > 0.6 and r.attribute.gain.lower > 0 and len(r) == 0
    split = {"features": features[:200], "attribute": a[:200], "attribute_test_features": features[200:], "attribute_test": a[200:]}
    assert compared(tmp_path, split, "--seed", "1") == sotto.audit(**split, seed=1).to_dict()
    for given, text in [({"features": features}, "features= needs attribute="), ({**split, "attribute_test": None}, "given together"),
                        ({**split, "attribute_known": features}, "either attribute_test= or attribute_known="), ({**arrays, "attribute": a[:5]}, r"attribute: has shape \(5\); expected \(n\), n = 300 as in features"),
                        ({**arrays, "attribute_depth": 1}, "attribute_depth must be at least 3")]:
        with pytest.raises(ValueError, match=text):
            sotto.audit(**given)
    with pytest.raises(ValueError):
        sotto.audit()

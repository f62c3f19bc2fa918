import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn is missing or older than 1.6")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

import sotto  # noqa: E402
from sotto import PrivacyLeakWarning  # noqa: E402
from sotto import sklearn as sk  # noqa: E402
from sotto.sklearn import DPClassifier, PublicScaler  # noqa: E402

FIT_TWICE = {name: "noise of the operating system: two fits differ"
             for name in ("check_fit_idempotent", "check_supervised_y_2d", "check_classifier_data_not_an_array")}


@pytest.fixture(autouse=True)
def fresh():
    sk._spent.clear()
    sk._told.clear()


@pytest.fixture
def blobs():
    g = np.random.default_rng(1)
    y = np.arange(600) % 3
    return g.normal(0, .3, (600, 4)) + np.eye(4)[y], np.array(["ant", "bee", "cat"])[y]


def failed(model, expected=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(model, expected_failed_checks=expected, on_fail=None)
    return {r["check_name"] for r in results if r["status"] == "failed"}, {r["check_name"] for r in results if r["status"] == "xfail"}


def test_check_estimator_seeded():
    assert failed(DPClassifier(steps=8, random_state=0)) == (set(), set())


class Unseeded(DPClassifier):
    """check_estimator sets random_state before each check; here it has no effect."""

    def _seed(self):
        return None


def test_check_estimator_with_real_noise():
    assert failed(Unseeded(steps=8), FIT_TWICE) == (set(), set(FIT_TWICE))


def test_proved_where_all_is_public(blobs, tmp_path):
    x, y = blobs
    ledger = sotto.Ledger(tmp_path / "a.jsonl", dataset="insects")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = DPClassifier(2.0, classes=["cat", "bee", "ant", "dog"], data_norm=2.0, ledger=ledger).fit(x, y)
    assert model.certificate_.proved and 1.99 < model.epsilon_ <= 2 and model.classes_.tolist() == ["ant", "bee", "cat", "dog"]
    assert model.score(x, y) > .9 and model.coef_.shape == (4, 4)
    assert 1.99 < float(ledger.total(1e-5).proved) <= 2
    assert np.allclose(model.predict_proba(x).sum(1), 1)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(x) == model.predict(x)).all() and again.certificate_ == model.certificate_
    assert clone(model).ledger.path == ledger.path


@pytest.mark.parametrize("given, said", [({}, "classes and data_norm were read off"), ({"classes": 3, "data_norm": 2.0}, "dataset= or ledger="),
                                         ({"data_norm": 2.0, "dataset": "d"}, "classes was read off"), ({"classes": 3, "dataset": "d"}, "data_norm")])
def test_what_is_missing_is_named_and_nothing_is_proved(blobs, home, given, said):
    x, y = blobs
    with pytest.warns(PrivacyLeakWarning, match=said):
        model = DPClassifier(**given).fit(x, np.unique(y, return_inverse=True)[1])
    assert model.epsilon_ is None and not model.certificate_.proved and model.certificate_.guarantee == "conditional"
    assert not list(home.rglob("*.jsonl"))


def test_a_label_that_is_no_class_counts_as_nothing(blobs):
    x, y = blobs
    with pytest.warns(PrivacyLeakWarning):
        model = DPClassifier(classes=["ant", "bee"], data_norm=2.0).fit(x, y)
    assert set(model.predict(x)) <= {"ant", "bee"}


def test_seeded_noise_is_no_privacy_and_says_so_once(blobs):
    x, y = blobs
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        a, b = (DPClassifier(random_state=7, classes=["ant", "bee", "cat"], data_norm=2.0).fit(x, y) for _ in range(2))
    assert a.certificate_.insecure and a.epsilon_ is None and (a.coef_ == b.coef_).all()
    assert sum("random_state seeds" in str(w.message) for w in heard) == 1
    assert a.__sklearn_tags__().non_deterministic is False and DPClassifier().__sklearn_tags__().non_deterministic


def test_every_fit_of_a_grid_is_charged(blobs, tmp_path):
    x, y = blobs
    ledger = sotto.Ledger(tmp_path / "grid.jsonl", dataset="grid")
    model = DPClassifier(.5, classes=["ant", "bee", "cat"], data_norm=2.0, ledger=ledger, steps=20)
    GridSearchCV(model, {"max_grad_norm": [.5, 1.0]}, cv=2).fit(x, y)
    assert sum(e.event == "reserve" for e in ledger.entries()) == 5
    assert float(ledger.total(1e-5).proved) > 1


def test_without_a_ledger_the_sum_is_warned_about(blobs):
    x, y = blobs
    model = DPClassifier(.5, classes=["ant", "bee", "cat"], data_norm=2.0, steps=20)
    with pytest.warns(PrivacyLeakWarning, match="without dataset"):
        model.fit(x, y)
    with warnings.catch_warnings(), pytest.warns(PrivacyLeakWarning, match="2 fits of this process .* together they cost epsilon 1 at delta 2e-05"):
        warnings.filterwarnings("ignore", "without dataset")
        model.fit(x[::-1], y[::-1])


def test_a_duplicate_is_no_second_fit(blobs):
    x, y = np.concatenate([blobs[0], blobs[0]]) + 3, np.concatenate([blobs[1], blobs[1]])
    model = DPClassifier(.5, classes=["ant", "bee", "cat"], data_norm=2.0, steps=20)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(x, y)
    assert not [w for w in said if "fits of this process" in str(w.message)]


@pytest.mark.parametrize("options, text", [({"trainer": "adam"}, "adds no noise"), ({"data_norm": -1.0}, "data_norm"), ({"bounds": (1, 0)}, "bounds"),
                                           ({"epsilon": -1.0}, "epsilon")])
def test_bad_parameters(blobs, options, text):
    with pytest.warns(PrivacyLeakWarning) if "epsilon" in options or "trainer" in options else warnings.catch_warnings():
        with pytest.raises(ValueError, match=text):
            DPClassifier(**options).fit(*blobs)


def test_delta_above_one_over_n_warns(blobs):
    with warnings.catch_warnings(), pytest.warns(PrivacyLeakWarning, match="not below 1 / 600"):
        warnings.filterwarnings("ignore", "classes and")
        DPClassifier(delta=.01).fit(*blobs)


@pytest.mark.parametrize("options", [{"trainer": "dp-sgd", "learning_rate": .5}, {"hidden": (8,), "learning_rate": .05}, {"trainer": "covariance"},
                                     {"delta": 0.0}, {"delta": 0.0, "trainer": "covariance", "epsilon": 20.0}])
def test_other_trainers(blobs, options):
    x, y = blobs
    model = DPClassifier(**{"epsilon": 8.0, "classes": ["ant", "bee", "cat"], "data_norm": 2.0, **options})
    with pytest.warns(PrivacyLeakWarning):
        model.fit(x, y)
    assert model.score(x, y) > .8 and hasattr(model, "coef_") == ("hidden" not in options)


def test_pure_epsilon_is_by_objective_perturbation(blobs, tmp_path):
    x, y = blobs
    ledger = sotto.Ledger(tmp_path / "blobs.jsonl", dataset="blobs")
    model = DPClassifier(4.0, delta=0, classes=["ant", "bee", "cat"], data_norm=2.0, ledger=ledger).fit(x, y)
    assert model.certificate_.mechanism == "objective-perturbation" and model.epsilon_ <= 4 and model.score(x, y) > .8


def test_bounds_and_scaler(blobs):
    x, y = blobs
    with pytest.warns(PrivacyLeakWarning, match="dataset"):
        model = DPClassifier(8.0, classes=["ant", "bee", "cat"], bounds=(-2, 3), steps=100).fit(x, y)
    assert model.score(x, y) > .9
    assert np.allclose(x @ model.coef_.T + model.intercept_, model.decision_function(x))  # these lie within bounds and norm
    assert PublicScaler([[0, 1], [2, 3]]).fit_transform([[1, 5], [-1, 2]]).tolist() == [[.5, 1], [0, .5]]
    with pytest.raises(ValueError, match="exactly one of"):
        PublicScaler().fit(x)
    with pytest.warns(PrivacyLeakWarning):
        assert make_pipeline(PublicScaler(bounds=(-2, 3)), DPClassifier(8.0)).fit(x, y).score(x, y) > .9

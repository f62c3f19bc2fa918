import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn is missing or older than 1.6")
from sklearn.base import clone  # noqa: E402
from sklearn.compose import make_column_transformer  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline, make_union  # noqa: E402
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

import sotto  # noqa: E402
from sotto import PrivacyLeakWarning  # noqa: E402
from sotto import sklearn as sk  # noqa: E402
from sotto.sklearn import DPClassifier, DPScaler, PublicScaler  # noqa: E402

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


def test_a_regression_target_has_no_classes(blobs, home):
    x, _ = blobs
    values = np.arange(len(x)) % 200
    with pytest.raises(ValueError, match="y has 200 different values, as a regression target has") as refused:
        DPClassifier(3.0, data_norm=1.0).fit(x, values)
    assert "classes=" in str(refused.value) and "numpy.digitize" in str(refused.value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        DPClassifier(3.0, data_norm=1.0).fit(x, np.digitize(values, [50, 100]))  # as the error says
        DPClassifier(3.0, data_norm=1.0, classes=200).fit(x, values)


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


@pytest.mark.parametrize("trainer, rate", [("dp-gd", None), ("dp-sgd", 5)])
@pytest.mark.filterwarnings("ignore::sotto.PrivacyLeakWarning")
def test_public_class_weights_find_a_rare_class(trainer, rate):
    rng = np.random.default_rng(5)
    y = np.r_[np.zeros(1800, int), np.ones(200, int)]
    x = rng.normal(0, 1, (2000, 3)) + y[:, None]
    found = [DPClassifier(8, classes=[0, 1], bounds=(-4, 6), trainer=trainer, learning_rate=rate, class_weight=weight, random_state=1).fit(x, y).predict(x)[y == 1].mean()
             for weight in (None, {0: 1}, {1: 9})]  # seeded: the same noise for all
    assert found[0] == found[1] and found[2] > found[0] + .2, found
    for wrong in ("balanced", {2: 1}, {1: 0}, {1: float("nan")}):
        with pytest.raises(ValueError, match="class_weight"):
            DPClassifier(8, classes=[0, 1], bounds=(-4, 5), class_weight=wrong, dataset="none").fit(x, y)
    with pytest.raises(ValueError, match="balance cannot be given for trainer objective"):
        DPClassifier(8, 0, classes=[0, 1], bounds=(-4, 5), class_weight={1: 9}, dataset="none").fit(x, y)


def test_masked_arrays_are_refused(blobs):
    x, y = np.ma.masked_array(blobs[0], False), blobs[1]
    for model in (DPClassifier(data_norm=2.0, classes=["ant", "bee", "cat"]), DPClassifier(), PublicScaler(bounds=(0, 1))):
        with pytest.raises(ValueError, match="X is a masked array"):
            model.fit(x, y)


@pytest.mark.parametrize("folds", [2, 8])
@pytest.mark.parametrize("steps", [False, True])
def test_a_search_beyond_the_budget_ends_with_it(blobs, tmp_path, folds, steps):
    x, y = blobs
    ledger = sotto.Ledger(tmp_path / "grid.jsonl", dataset="grid", budget=(1.1, 1e-5))
    model = DPClassifier(.5, classes=["ant", "bee", "cat"], data_norm=2.0, ledger=ledger, steps=20)
    grid = {"max_grad_norm": [.5, 1.0]}
    if steps:
        model, grid = make_pipeline(PublicScaler(bounds=(-5, 5)), model), {"dpclassifier__max_grad_norm": [.5, 1.0]}
    with warnings.catch_warnings(), pytest.raises(sotto.BudgetExceeded):
        warnings.simplefilter("ignore")
        for _ in range(3):
            GridSearchCV(model, grid, cv=folds).fit(x, y)
    assert 3 <= sum(e.event == "reserve" for e in ledger.entries()) < 3 * (2 * folds + 1)
    clone(model)  # said once, and no trap for those who come later


def test_a_fit_beyond_the_budget_is_no_trap_for_clones(blobs, tmp_path):
    x, y = blobs
    ledger = sotto.Ledger(tmp_path / "one.jsonl", dataset="one", budget=(.1, 1e-5))
    model = DPClassifier(.5, classes=["ant", "bee", "cat"], data_norm=2.0, ledger=ledger, steps=20)
    for again in (model, clone(model)):
        with pytest.raises(sotto.BudgetExceeded):
            again.fit(x, y)
    clone(model), pickle.dumps(model)


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


# ---- what stands before the estimator
def behind(tmp_path, *steps, **more):
    """Condition of the certificate, and the ledger."""
    ledger = sotto.Ledger(tmp_path / "steps.jsonl", dataset="steps")
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(400, 3)) * [1, 10, 100], rng.integers(0, 2, 400)
    for i, step in enumerate(steps):
        if isinstance(step, type):
            steps = (*steps[:i], step(1.0, bounds=(-400, 400), ledger=ledger), *steps[i + 1:])
    model = DPClassifier(1.0, 1e-4, classes=[0, 1], data_norm=2.0, steps=5, ledger=ledger, **more)
    made = make_pipeline(*steps, model).fit(x, y)
    return made[-1].certificate_, ledger


def test_a_fitted_step_before_it_is_a_condition(tmp_path):
    certificate, _ = behind(tmp_path, StandardScaler())
    assert certificate.guarantee == "conditional"
    assert certificate.condition == "the step standardscaler (StandardScaler) does not depend on these records"
    certificate, _ = behind(tmp_path, PublicScaler(bounds=(-400, 400)), PCA(2))
    assert certificate.condition == "the step pca (PCA) does not depend on these records"
    certificate, _ = behind(tmp_path, StandardScaler(), PublicScaler(bounds=(-4, 4)))  # what comes last does not undo it
    assert "StandardScaler" in certificate.condition
    certificate, _ = behind(tmp_path, make_pipeline(StandardScaler()))
    assert certificate.condition == "the step standardscaler (StandardScaler) does not depend on these records"
    certificate, _ = behind(tmp_path, make_union(PublicScaler(bounds=(-400, 400)), PCA(2)))
    assert certificate.condition == "the step pca (PCA) does not depend on these records"
    certificate, _ = behind(tmp_path, PublicScaler(np.random.default_rng(1).normal(size=(20, 3))))
    assert certificate.condition == "the scaler PublicScaler does not depend on these records"


def test_scalers_that_are_proved(tmp_path):
    for step in (PublicScaler(bounds=(-400, 400)), PublicScaler(mean=0, scale=[1, 10, 100]), "passthrough"):
        assert behind(tmp_path, step)[0].proved
    bins = OneHotEncoder(categories=[[-1.0, 1.0]] * 3, handle_unknown="ignore", sparse_output=False)
    assert behind(tmp_path, make_column_transformer((PublicScaler(bounds=(-400, 400)), [0, 1]), (bins, [0, 1, 2])))[0].proved
    assert not behind(tmp_path, make_union(PublicScaler(bounds=(-400, 400)), OneHotEncoder(handle_unknown="ignore", sparse_output=False)))[0].proved
    assert behind(tmp_path, FunctionTransformer(np.tanh), public_steps=True)[0].proved
    assert not behind(tmp_path, FunctionTransformer(np.tanh))[0].proved


def test_a_private_scaler_is_charged_to_the_same_ledger(tmp_path):
    certificate, ledger = behind(tmp_path, DPScaler)
    assert certificate.proved
    purposes = [e.purpose for e in ledger.entries() if e.event in ("release", "reserve")]
    assert purposes[0] == "moments of DPScaler" and len(purposes) == 2
    assert 1 < float(ledger.total(1e-3).proved) <= 2.01


def test_moments_of_a_private_scaler():
    """Its moments are those of the records, its noise is that of the account (the deviation of 40 fits, within 6 standard errors of it: a
    false alarm in 1e-8 of the runs), and a record moves none of them by more than its bounds."""
    import tempfile
    rng = np.random.default_rng(5)
    x = rng.uniform(20, 60, (20000, 1))
    with tempfile.TemporaryDirectory() as folder:
        ledger = sotto.Ledger(f"{folder}/m.jsonl", dataset="m")
        fits = [DPScaler(1.0, bounds=(0, 100), ledger=ledger).fit(x) for _ in range(40)]
        scale = fits[0].certificate_.scale * 100
        means = np.array([f.mean_[0] for f in fits])
        assert abs(means.mean() - x.mean()) < 6 * scale / 40**.5
        assert abs(means.std() / scale - 1) < 6 / 80**.5
        assert abs(np.mean([f.scale_[0] for f in fits]) - x.std()) < .5
        odd = np.array([[np.nan], [np.inf], [-1e300], [50.0]] * 50)
        moments = DPScaler(1e6, 1e-5, bounds=(0, 100), ledger=ledger).fit(odd)  # nearly no noise: 50, 100, 0, 50
        assert abs(moments.mean_[0] - 50) < .1 and abs(moments.scale_[0] - 100 * .125**.5) < .1
        assert moments.transform([[np.nan]])[0, 0] == pytest.approx(0, abs=.01)


def test_a_search_hands_on_rows_and_a_selection_of_columns_does_not(tmp_path):
    from sklearn.feature_selection import RFE
    ledger = sotto.Ledger(tmp_path / "s.jsonl", dataset="s")
    rng = np.random.default_rng(7)
    x, y = rng.uniform(size=(200, 3)), rng.integers(0, 2, 200)
    model = DPClassifier(1.0, 1e-4, classes=[0, 1], data_norm=2.0, steps=5, ledger=ledger)
    found = GridSearchCV(make_pipeline(PublicScaler(bounds=(0, 1)), model), {"dpclassifier__steps": [5]}, cv=2).fit(x, y)
    assert found.best_estimator_[-1].certificate_.proved
    assert "the step RFE does not depend" in RFE(model, n_features_to_select=2).fit(x, y).estimator_.certificate_.condition


def test_private_scaler_refuses_what_is_missing(tmp_path):
    for scaler in (DPScaler(bounds=(0, 1)), DPScaler(dataset="x"), DPScaler(bounds=(0, 1), dataset="x", smallest=0)):
        with pytest.raises(ValueError):
            scaler.fit([[1.0], [2.0]])
    for scaler in (PublicScaler(), PublicScaler(bounds=(0, 1), mean=0), PublicScaler(mean=0, scale=0)):
        with pytest.raises(ValueError):
            scaler.fit([[1.0], [2.0]])


def test_columns_of_text_are_refused_before_a_charge(blobs, tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is missing")
    x, y = blobs
    ledger = sotto.Ledger(tmp_path / "text.jsonl", dataset="text")
    frame = pandas.DataFrame(x, columns=[f"c{j}" for j in range(x.shape[1])])
    model = DPClassifier(2.0, classes=["cat", "bee", "ant", "dog"], data_norm=2.0, steps=4, ledger=ledger)
    for text in (frame.assign(c1="Rome"), frame.assign(c1=pandas.Categorical(["Rome"] * len(x)))):
        with pytest.raises(ValueError, match=r"column 'c1' of X has no numbers; expected numbers: encode"):
            model.fit(text, y)
    with pytest.raises(ValueError, match="X has no numbers"):
        model.fit(x.astype(str), y)
    assert ledger.entries() == []
    assert model.fit(frame.assign(c1=frame.c1.astype("float32")), y).certificate_.proved

"""Neighbours: sets of private records that differ in one of them, or in their order, must look alike in all but numbers that have noise:
exceptions, warnings, log lines, output, names and sizes of files."""

import contextlib
import logging
import os
import pickle
import warnings

import numpy as np
import pytest

import sotto

long = pytest.mark.skipif(not os.environ.get("SOTTO_CHECK_PYTHON"), reason="SOTTO_CHECK_PYTHON is not set: seconds each")
N, D = 120, 4
BIG = np.finfo(np.float64).max


def neighbours(labels, odd_labels):
    """(name, x, y): one record is changed, or the order."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(N, D)), list(np.array(labels)[np.arange(N) % len(labels)].tolist())
    yield "as it is", x, y
    for value in (np.nan, np.inf, -np.inf, 1e300, -BIG, 5e-324, 0.0, 2.0**53 + 2):
        changed = x.copy()
        changed[7] = value
        yield f"record {value}", changed, y
    changed = x.copy()
    changed[7, 2] = np.nan
    yield "one NaN", changed, y
    for label in odd_labels:
        yield f"label {label!r}", x, y[:7] + [label] + y[8:]
    changed = x.copy()
    changed[7] = x[8]
    yield "a repeated row", changed, y[:7] + [y[8]] + y[8:]
    yield "another order", x[::-1].copy(), y[::-1]


@pytest.fixture
def told(tmp_path, monkeypatch, caplog, capfd):
    """told(call, number): what a call shows in a folder of its own. The text has that folder's name taken out."""
    caplog.set_level(logging.DEBUG)

    def told(call, number):
        folder = tmp_path / f"{number:03}"
        folder.mkdir()
        monkeypatch.setenv("XDG_DATA_HOME", str(folder / "home"))
        monkeypatch.chdir(folder)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                outcome = call()
            except Exception as e:
                outcome = type(e).__name__, str(e)
        said = [(w.category.__name__, str(w.message)) for w in heard], [(r.levelname, r.getMessage()) for r in caplog.records], capfd.readouterr()
        caplog.clear()
        files = sorted((os.path.relpath(os.path.join(at, f), folder), os.path.getsize(os.path.join(at, f))) for at, _, names in os.walk(folder) for f in names)
        return repr((outcome, said, files)).replace(str(folder), "FOLDER")

    return told


def alike(told, call, sets, outcome):
    """All sets are told alike, and the first one's outcome is `outcome`."""
    all_told = {name: told(lambda: call(x, y), k) for k, (name, x, y) in enumerate(sets)}
    assert len(all_told) > 10
    first = all_told["as it is"]
    assert outcome in first, first
    assert not {name: t for name, t in all_told.items() if t != first}, first


@pytest.mark.parametrize("slip", [
    lambda x: warnings.warn("a NaN"), lambda x: logging.getLogger("sotto").debug("a NaN"), lambda x: print("a NaN"), lambda x: 1 / 0,
    lambda x: open("nan", "w").close(), lambda x: np.save("x", np.unique(x))])
def test_a_slip_is_seen(told, slip):
    """A control: what a call shows for the records with a NaN alone."""
    def call(x, y):
        np.save("x", np.zeros(N * D))
        if np.isnan(x).any():
            slip(x)

    with pytest.raises(AssertionError):
        alike(told, call, neighbours([0, 1], []), "None")


# ---- scikit-learn
TEXTS = ["ant", "bee", "cat"], ["zebra", "", None, 3, np.nan, ("ant",)]
NUMBERS = [0, 1, 2], [np.nan, 1.5, -1, 17, 2**60, np.inf]


@pytest.mark.parametrize("options, labels, odd, form", [
    *(({"data_norm": 2.0}, *labels, form) for labels in (TEXTS, NUMBERS) for form in ("arrays", "lists", "objects")),
    ({"bounds": (-2, 3), "trainer": "dp-sgd", "epochs": 1}, *NUMBERS, "arrays"), ({"data_norm": 2.0, "delta": 0.0}, *NUMBERS, "arrays"),
    ({"bounds": (-2, 3), "scaler": True}, *TEXTS, "arrays")])
def test_dp_classifier(told, options, labels, odd, form):
    pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn is missing or older than 1.6")
    from sklearn.pipeline import make_pipeline
    from sotto.sklearn import DPClassifier, PublicScaler
    make = {"arrays": (np.array, lambda y: np.array(y, object if any(isinstance(v, tuple) or v is None for v in y) else None)),
            "lists": (np.ndarray.tolist, list), "objects": (lambda x: x.astype(object), lambda y: np.array(y + [None], object)[:-1])}[form]
    options = dict(options)
    scaler = options.pop("scaler", False)

    def fit(x, y):
        model = DPClassifier(1.0, classes=labels, ledger=sotto.Ledger("clinic.jsonl", dataset="clinic"), steps=4, **options)
        whole = make_pipeline(PublicScaler(bounds=(-2, 3)), model) if scaler else model
        whole.fit(make[0](x), make[1](y))
        with open("model.pickle", "wb") as f:
            pickle.dump({k: v for k, v in model.__dict__.items() if k.endswith("_") and k != "certificate_"}, f)
        model.certificate_.save("model.certificate.json", "model.pickle")
        return model.certificate_.proved, model.epsilon_, model.classes_, model.n_features_in_, np.shape(model.coef_), np.isfinite(model.coef_).all()

    alike(told, fit, neighbours(labels, odd), "(True, ")


def test_dp_classifier_odd_cells(told):
    """Cells that are no numbers, in arrays of objects."""
    pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn is missing or older than 1.6")
    from sotto.sklearn import DPClassifier

    def fit(x, y):
        return DPClassifier(1.0, classes=2, data_norm=2.0, ledger=sotto.Ledger("clinic.jsonl", dataset="clinic"), steps=4).fit(x, y).certificate_.proved

    rng, sets = np.random.default_rng(1), []
    y = np.arange(40) % 2
    for cell in (1.0, None, "secret", [1, 2], 10**400, 1j, np.datetime64("2020-01-01")):
        x = rng.normal(size=(40, 3)).astype(object)
        x[7, 1] = cell
        sets.append(x)
    all_told = {told(lambda x=x: fit(x, y), k) for k, x in enumerate(sets)}
    assert len(all_told) == 1 and all_told.pop().startswith("(True")


@pytest.mark.parametrize("x", [["secret", "b"], np.array([["secret"], ["b"]])[:, :, None], np.array([[271 + 1j], [2]]), [[["secret"]], [["b"]]], None])
def test_refusals_of_shapes_and_types_print_no_cell(x):
    pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn is missing or older than 1.6")
    from sotto.sklearn import DPClassifier
    with pytest.raises((ValueError, TypeError)) as e:
        DPClassifier(1.0, classes=2, data_norm=2.0).fit(x, [0, 1])
    assert "secret" not in str(e.value) and "271" not in str(e.value)


def test_one_odd_record_changes_no_other():
    """What the others add is the same, to the bit, whatever stands beside them: with seeded noise the weights are."""
    pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn is missing or older than 1.6")
    from sotto.sklearn import DPClassifier
    weights = []
    for x, y in (([[1, 2], [3, 4], [5, "x"]], [0, 1, 0]), ([[1, 2], [3, 4], [5, None]], [0, 1, 0]), ([[1, 2], [3, 4], [1, 2]], [0, 1, "a"]),
                 ([[1, 2], [3, 4], [1e300, np.nan]], [0, 1, np.nan])):
        with pytest.warns(sotto.PrivacyLeakWarning):
            weights.append(DPClassifier(1.0, classes=2, data_norm=2.0, steps=4, random_state=1).fit(x, y).coef_)
    assert all(np.array_equal(w, weights[0]) for w in weights)


# ---- Opacus
@pytest.mark.parametrize("options", [{}, *(pytest.param(o, marks=long) for o in ({"poisson_sampling": False}, {"grad_sample_mode": "ew"}, {"parts": 8}))])
def test_opacus_engine(told, options):
    pytest.importorskip("opacus", reason="opacus is not installed")
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    import sotto.opacus
    parts = options.get("parts")
    options = {k: v for k, v in options.items() if k != "parts"}

    def train(x, y):
        torch.manual_seed(0)
        module = torch.nn.Sequential(torch.nn.Linear(D, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
        with np.errstate(all="ignore"):
            data = TensorDataset(torch.from_numpy(x.astype(np.float32)), torch.tensor(y, dtype=torch.float32)[:, None])
        engine = sotto.opacus.PrivacyEngine(sotto.Ledger("clinic.jsonl", dataset="clinic"), insecure_seed=1)
        made = engine.make_private(module=module, optimizer=torch.optim.Adam(module.parameters(), .1), noise_multiplier=2.0, max_grad_norm=1.0, epochs=2,
                                   data_loader=DataLoader(data, batch_size=30, shuffle=True), delta=1e-4, **options)
        steps = 0
        for _ in range(2):
            with sotto.opacus.BatchMemoryManager(data_loader=made[2], max_physical_batch_size=parts, optimizer=made[1]) if parts else contextlib.nullcontext(made[2]) as loader:
                for records, labels in loader:
                    made[1].zero_grad()
                    torch.nn.functional.mse_loss(made[0](records), labels).backward()
                    made[1].step()
                    steps += 1
        torch.save(made[0].state_dict(), "net.pt")
        engine.save_checkpoint(path="checkpoint.pt", module=made[0], optimizer=made[1])
        engine.certificate().save("net.pt.certificate.json", "net.pt")
        finite = all(p.isfinite().all() for p in made[0].parameters())
        return steps, finite, engine.get_epsilon(1e-4), engine.certificate().condition

    sets = list(neighbours([0, 1], [np.nan, np.inf, -BIG, 1e38, 0.5, -1, 17]))
    alike(told, train, sets, ", True, ")

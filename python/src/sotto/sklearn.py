"""Private classifiers for scikit-learn: DPClassifier, and scalers that may stand before it: PublicScaler, by declared bounds, means and
deviations, and DPScaler, by a charged release of the moments."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._validation import _fit_and_score
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d, validate_data

from ._call import ffi, fill, invalid, lib, run, struct, table, unmasked
from ._certificate import Certificate
from ._head import Head
from ._ledger import Ledger, charge, spend_of
from ._protect import release_statistic
from ._shaped import Shaping, provenance, shape, shaped_of
from .errors import BudgetExceeded, PrivacyLeakWarning

__all__ = ["DPClassifier", "DPScaler", "PublicScaler"]

_CONVERGES = ("dp-gd",)  # linear trainers with steps on all records
_BATCHES = ("dp-sgd", "dp-adam")
_spent: dict[int, tuple[int, float, float]] = {}  # hash of a record: fits, epsilon, delta of what was charged to no ledger
_told: set[str] = set()


def _range(bounds: Any, columns: int) -> tuple[Any, Any]:
    low, high = (np.broadcast_to(np.asarray(b, np.float64), (columns,)) for b in bounds)
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
        raise invalid("bounds must be (low, high), numbers or one per feature, finite and low < high")
    return low, high


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except Exception:  # of any object
        return float("nan")


def _refuse_text(X: Any) -> None:
    """The types of columns are public: a column of text would make every record one that counts as nothing."""
    columns = X.dtypes.items() if hasattr(X, "iloc") and hasattr(getattr(X, "dtypes", None), "items") else ()
    text = [str(name) for name, dtype in columns if getattr(dtype, "kind", "f") not in "biuf"]
    if text or getattr(getattr(X, "dtype", None), "kind", "f") in "US":
        what = f"column {text[0]!r} of X has" if text else "X has"
        raise ValueError(f"{what} no numbers; expected numbers: encode categories by a public list of them (OneHotEncoder(categories=[...])), or leave the column out")


def _quiet_features(estimator: Any, X: Any, reset: bool = True) -> Any:
    """(n, features) float64. What is refused depends on type and shape alone; a cell that is no number is NaN."""
    validate_data(estimator, unmasked(X, "X"), skip_check_array=True, reset=reset)
    _refuse_text(X)
    with np.errstate(all="ignore"):
        if hasattr(X, "to_numpy"):
            X = X.to_numpy()
        elif not hasattr(X, "dtype"):
            X = np.array(X, object)
        if X.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        if X.dtype.kind in "OUS":
            X = np.array([[_number(cell) for cell in row] for row in X.tolist()], np.float64).reshape(X.shape) if X.ndim == 2 else np.zeros(X.shape)
        return check_array(X, dtype=np.float64, ensure_all_finite=False, estimator=estimator)


def _quiet_labels(y: Any) -> list[Any]:
    """(n) objects, likewise."""
    if y is None:
        raise ValueError("DPClassifier requires y to be passed, but the target y is None")
    return list(column_or_1d(y if hasattr(y, "dtype") else np.array(y, object), warn=True).tolist())


def _class_of(number: dict[Any, int], label: Any) -> int:
    """-1: none."""
    try:
        return number.get(label, -1)
    except Exception:  # such as a list, which has no hash
        return -1


class PublicScaler(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Scales each feature by what is declared, from bounds to [0, 1] (values beyond them are clipped) or by mean and scale. fit() looks at
    nothing but the number of columns, so it may stand before DPClassifier in a Pipeline; NaN passes. (StandardScaler or MinMaxScaler there
    make the guarantee conditional: their moments and extremes are read off the private records.)

    public_X: PUBLIC records; their extremes are the bounds, and what DPClassifier certifies behind them is conditional on that.
    bounds: (low, high), numbers or one per feature. mean, scale: likewise, (x - mean) / scale. Give one of the three.

    >>> PublicScaler(bounds=(0, [10, 100])).fit_transform([[5, 25], [20, 50]]).tolist()
    [[0.5, 0.25], [1.0, 0.5]]
    >>> PublicScaler(mean=[5, 0], scale=5).fit_transform([[5, 25], [20, 50]]).tolist()
    [[0.0, 5.0], [3.0, 10.0]]
    """

    def __init__(self, public_X: Any = None, *, bounds: Any = None, mean: Any = None, scale: Any = None) -> None:
        self.public_X = public_X
        self.bounds = bounds
        self.mean = mean
        self.scale = scale

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None) -> PublicScaler:
        X = _quiet_features(self, X)
        moments = self.mean is not None or self.scale is not None
        if (self.public_X is not None) + (self.bounds is not None) + moments != 1:
            raise invalid("PublicScaler: give exactly one of public_X=, bounds=, and mean= with scale=")
        if moments:
            low = np.broadcast_to(np.asarray(0.0 if self.mean is None else self.mean, np.float64), (X.shape[1],))
            scale = np.broadcast_to(np.asarray(1.0 if self.scale is None else self.scale, np.float64), (X.shape[1],))
            if not (np.isfinite(low).all() and np.isfinite(scale).all() and (scale > 0).all()):
                raise invalid("mean and scale must be numbers or one per feature, finite, and scale > 0")
            self.low_, self.high_ = low, low + scale
        elif self.bounds is None:
            public = check_array(self.public_X, dtype=np.float64)
            low = public.min(0)
            self.low_, self.high_ = _range((low, np.where(public.max(0) > low, public.max(0), low + 1)), X.shape[1])
        else:
            self.low_, self.high_ = _range(self.bounds, X.shape[1])
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        X = _quiet_features(self, X, reset=False)
        if self.mean is not None or self.scale is not None:
            return (X - self.low_) / (self.high_ - self.low_)
        return (np.clip(X, self.low_, self.high_) - self.low_) / (self.high_ - self.low_)

    def _shapings(self) -> tuple[Shaping, ...]:
        return () if self.public_X is None else (Shaping("scaler", "PublicScaler"), *shaped_of(self.public_X))


class _Charged(BaseEstimator):  # type: ignore[misc]
    """An estimator whose fit() charges a ledger. Searches and cross-validation keep the error of a fit to themselves and go on. So a fit of
    theirs that the budget refuses is told to what was cloned for it, and the next clone raises it."""

    def __sklearn_clone__(self) -> Any:
        refused = self.__dict__.setdefault("_refused", [])
        if refused:
            raise refused.pop()
        clone = super().__sklearn_clone__()
        clone._refused = refused
        return clone

    def _told_of_refusal(self, error: BudgetExceeded) -> BudgetExceeded:
        """The same error."""
        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_code is not _fit_and_score.__code__:
            frame = frame.f_back
        if frame is not None:
            self.__dict__.setdefault("_refused", []).append(error)
        return error


class DPScaler(TransformerMixin, _Charged):  # type: ignore[misc]
    """Scales each feature to mean 0 and deviation 1, by moments that fit() releases privately: one charge of the ledger, for the means of
    all columns and of their squares. It may stand before DPClassifier, which is charged to the same ledger besides.

    epsilon, delta: the guarantee of one fit; delta 0: pure, by Laplace noise. bounds: (low, high), numbers or one per feature, PUBLIC:
    values are clipped to them; a cell that is no number counts as the middle. ledger, dataset: as of DPClassifier; one of them is needed.
    smallest: the least deviation, as a share of the bounds' width: noise alone may tell less.

    mean_, scale_ (deviations), certificate_, epsilon_.

    >>> import numpy as np
    >>> ages = np.random.default_rng(1).integers(20, 60, (5000, 2))
    >>> scaler = DPScaler(1.0, bounds=(0, 100), ledger=sotto.Ledger(folder / "scaled.jsonl", dataset="scaled")).fit(ages)
    >>> scaler.certificate_.proved, bool(np.abs(scaler.transform(ages).mean(0)).max() < .1)
    (True, True)
    """

    def __init__(self, epsilon: float = 1.0, delta: float = 1e-5, *, bounds: Any = None, ledger: Any = None, dataset: str | None = None,
                 smallest: float = .01) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.ledger = ledger
        self.dataset = dataset
        self.smallest = smallest

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        return tags

    def _place(self, X: Any) -> Any:
        """Shares of the bounds' width, from 0 to 1, each from its own cell."""
        z = (np.clip(X, self.low_, self.high_) - self.low_) / (self.high_ - self.low_)
        return np.where(np.isnan(z), .5, z)

    def fit(self, X: Any, y: Any = None) -> DPScaler:
        """Releases and charges."""
        by = (*_fitted_before(self), *shaped_of(X))
        X = _quiet_features(self, X)
        if self.bounds is None or (self.ledger is None and self.dataset is None):
            raise invalid("DPScaler: give bounds=, which are public, and ledger= or dataset=, which its release is charged to")
        self.low_, self.high_ = _range(self.bounds, X.shape[1])
        if not 0 < self.smallest <= 1:
            raise invalid(f"smallest must be above 0 and at most 1 (got {self.smallest!r})")
        z = self._place(X)
        try:
            moments, self.certificate_ = release_statistic(
                shape(np.hstack([z, z * z]), by), "mean", range=(0, 1), mechanism="gaussian" if self.delta > 0 else "laplace", epsilon=self.epsilon,
                delta=self.delta, ledger=_ledger_of(self.ledger, self.dataset), purpose="moments of DPScaler", progress=False)
        except BudgetExceeded as error:
            raise self._told_of_refusal(error)
        mean, square = np.split(np.asarray(moments, np.float64).ravel(), 2)
        deviation = np.sqrt(np.maximum(square - mean**2, self.smallest**2))
        wide = self.high_ - self.low_
        self.mean_, self.scale_ = self.low_ + mean * wide, deviation * wide
        interval = self.certificate_.epsilon
        self.epsilon_ = float(interval) if self.certificate_.proved and interval is not None else None
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        X = self._place(_quiet_features(self, X, reset=False))
        return (self.low_ + X * (self.high_ - self.low_) - self.mean_) / self.scale_


def _ledger_of(ledger: Any, dataset: str | None) -> Ledger:
    made = ledger if isinstance(ledger, Ledger) else Ledger(ledger, dataset=dataset)
    if dataset is not None and made.dataset != dataset:
        raise invalid(f"ledger is that of data set {made.dataset!r}, not of {dataset!r}")
    return made


def _learns(name: str, step: Any) -> list[Shaping]:
    """What a step, or one in it, learns from records without charging it: [] where everything is declared, or was released."""
    if isinstance(step, PublicScaler):
        return list(step._shapings())
    if isinstance(step, (Pipeline, FeatureUnion, ColumnTransformer)):
        inner = step.steps if isinstance(step, Pipeline) else step.transformer_list if isinstance(step, FeatureUnion) else step.transformers
        more = [("remainder", step.remainder)] if isinstance(step, ColumnTransformer) else []
        return [s for part in (*inner, *more) for s in _learns(part[0], part[1])]
    if isinstance(step, (OneHotEncoder, OrdinalEncoder)) and not isinstance(step.categories, str):
        grouped = step.min_frequency is not None or step.max_categories is not None
        if not grouped and getattr(step, "drop", None) is None:
            return []  # categories were declared
    if step is None or isinstance(step, (str, DPScaler)):
        return []  # "passthrough", "drop"
    return [Shaping("step", f"{name} ({type(step).__name__})"[:127])]


def _fitted_before(estimator: Any) -> tuple[Shaping, ...]:
    """The estimators that are being fitted around this one and hand it what they made of the records: steps of a Pipeline, selections of
    columns, stacks. A search over parameters hands it rows as they are. What was done to X before any fit() cannot be seen here."""
    found: list[Shaping] = []
    frame, seen = sys._getframe(1), {id(estimator)}
    while frame is not None:
        around = frame.f_locals.get("self")
        if isinstance(around, BaseEstimator) and id(around) not in seen and not isinstance(around, BaseSearchCV):
            seen.add(id(around))
            if isinstance(around, Pipeline):
                for name, step in around.steps:
                    if step is estimator or id(step) in seen:
                        break
                    found.extend(_learns(name, step))
            elif not isinstance(around, (PublicScaler, DPScaler, ColumnTransformer, FeatureUnion)):
                found.append(Shaping("step", type(around).__name__))
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(found)


_MOST_CLASSES_READ = 50  # off the records; more are given as classes=


class DPClassifier(ClassifierMixin, _Charged):  # type: ignore[misc]
    """A private softmax classifier. Protected are the records of fit(), features and labels together.

    epsilon, delta: the guarantee of one fit. delta 0: pure ("objective", or trainers on second moments).
    classes: all labels that may occur, or their number; PUBLIC.
    bounds: (low, high), numbers or one per feature, PUBLIC: features are scaled from them to [0, 1].
    data_norm: PUBLIC; records with a larger L2 norm (behind bounds) are scaled down to it. None with bounds: sqrt(features).
    trainer: "auto": "dp-gd" for linear classifiers, whose steps and rate follow a public rule, so that there is nothing to tune;
        at delta 0 "objective", likewise; "dp-adam" with hidden layers. Or any private trainer of sotto.train_head().
    steps: of "dp-gd". hidden, epochs, batch_size, learning_rate (None: .01, of "dp-sgd" 0.5 / max_grad_norm): of "dp-sgd" and "dp-adam". max_grad_norm: of all three.
    class_weight: {label: weight}, PUBLIC: how much a record of a class counts in the loss; a label that is left out counts 1. Not of
        "objective" and of trainers on second moments. "balanced" would count the private labels, and is refused.
    dataset: identity of the private records (sotto.Ledger). ledger: sotto.Ledger or path; None: the ledger of `dataset`.
    random_state: None: noise of the operating system. A number: SEEDED noise, for tests: no privacy, and the certificate says so.

    With classes, and bounds or data_norm, fit() refuses and says nothing that depends on what the records hold: one with another label,
    or whose features are not finite numbers, counts as nothing.
    Without classes, without bounds and data_norm, or without dataset and ledger, fit() reads them off the records or charges nothing:
    it then warns (PrivacyLeakWarning) and nothing is proved: epsilon_ is None, certificate_.proved is False, and epsilon stands as
    conditional. Features are never scaled or centred by the records without noise. Behind a step of a Pipeline that is fitted on the
    records (StandardScaler, PCA, a selection of columns) the certificate is conditional on that step; PublicScaler and DPScaler are none.
    public_steps: True states that the steps before it learn nothing from private records, such as a FunctionTransformer of single cells.
    Each fit is a release: GridSearchCV and cross_val_score charge the ledger each time. Where the budget is used up in the middle of one,
    in this process, it ends with BudgetExceeded. Fits without a ledger on the same records warn with their sum. There is no partial_fit.

    classes_, coef_, intercept_ (linear; on features clipped as stated), n_features_in_, certificate_, epsilon_ (upper end or None).

    >>> import numpy as np
    >>> x, y = np.eye(4)[[0, 1, 2, 3] * 100], [0, 0, 1, 1] * 100
    >>> ledger = sotto.Ledger(folder / "four.jsonl", dataset="four")
    >>> model = DPClassifier(3.0, classes=[0, 1], data_norm=1.0, ledger=ledger).fit(x, y)
    >>> model.certificate_.proved, round(model.epsilon_, 3), model.score(x, y) > .9
    (True, 3.0, True)
    """

    def __init__(self, epsilon: float = 1.0, delta: float = 1e-5, *, classes: Any = None, data_norm: float | None = None, bounds: Any = None,
                 trainer: str = "auto", hidden: Any = (), steps: int = 500, epochs: int = 20, batch_size: int = 256,
                 learning_rate: float | None = None, max_grad_norm: float = 1.0, class_weight: Any = None, adjacency: str = "replace-one", ledger: Any = None,
                 dataset: str | None = None, public_steps: bool = False, random_state: Any = None, verbose: int = 0) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.data_norm = data_norm
        self.bounds = bounds
        self.trainer = trainer
        self.hidden = hidden
        self.steps = steps
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.max_grad_norm = max_grad_norm
        self.class_weight = class_weight
        self.adjacency = adjacency
        self.ledger = ledger
        self.dataset = dataset
        self.public_steps = public_steps
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        tags.classifier_tags.poor_score = True
        tags.input_tags.allow_nan = self._quiet()
        return tags

    # ---- training
    def fit(self, X: Any, y: Any) -> DPClassifier:
        """Trains and charges. X (n, features); y (n)."""
        shaped = (*(() if self.public_steps else _fitted_before(self)), *shaped_of(X))
        if self._quiet():
            X, y = _quiet_features(self, X), _quiet_labels(y)
            check_consistent_length(X, y)
        else:
            X, y = validate_data(self, unmasked(X, "X"), y, dtype=np.float64)
            check_classification_targets(y)
        missing = []
        if self.classes is None:
            missing.append("classes")
            self.classes_ = np.unique(y)
            if len(self.classes_) < 2:
                raise ValueError(f"the labels are of one class, {self.classes_[0]!r}; expected at least 2, or classes=")
            if len(self.classes_) > _MOST_CLASSES_READ:
                raise ValueError(f"y has {len(self.classes_)} different values, as a regression target has; expected at most {_MOST_CLASSES_READ} "
                                 "classes; if they are classes, give them all as classes=, and else the ranges that you want to tell apart "
                                 "(numpy.digitize)")
        else:
            self.classes_ = np.unique(np.arange(self.classes) if np.ndim(self.classes) == 0 else np.asarray(self.classes))
        self._place_by(X, missing)
        if self.dataset is None and self.ledger is None:
            missing.append("dataset")
        if self.delta >= 1 / len(X):
            warnings.warn(f"delta {self.delta:g} is not below 1 / {len(X)}, one over the number of records: such a guarantee allows a record "
                          "to be published as it is", PrivacyLeakWarning, stacklevel=2)
        number = {label: k for k, label in enumerate(self.classes_.tolist())}
        labels = np.array([_class_of(number, label) for label in (y if isinstance(y, list) else y.tolist())], np.int64)
        x = np.ascontiguousarray(self._place(X) / self._norm, np.float32)
        if missing:
            self._warn(missing)
        try:
            head, self.certificate_ = self._train(x, labels, missing, shaped)
        except BudgetExceeded as error:
            raise self._told_of_refusal(error)
        interval = self.certificate_.epsilon
        self.epsilon_ = float(interval) if self.certificate_.proved and interval is not None else None
        if missing and interval is not None:
            self._add_up(x, labels, float(interval))
        self._take(head)
        return self

    def _rate(self) -> float:
        if self.learning_rate is not None:
            return self.learning_rate
        return 0 if self.trainer == "dp-sgd" else .01  # 0: by the head's own rule

    def _quiet(self) -> bool:
        """Whether nothing is read off the records."""
        return self.classes is not None and (self.data_norm is not None or self.bounds is not None)

    def _warn(self, missing: list[str]) -> None:
        read = [m for m in missing if m != "dataset"]
        text = f"{' and '.join(read)} {'was' if len(read) == 1 else 'were'} read off the private records" if read else ""
        if "dataset" in missing:
            text += f"{'; ' if text else ''}without dataset= or ledger= nothing is charged"
        warnings.warn(f"{text}: epsilon is not proved (epsilon_ is None). Give {', '.join(m + '=' for m in missing)}", PrivacyLeakWarning,
                      stacklevel=3)

    def _place_by(self, X: Any, missing: list[str]) -> None:
        """What _place() does to a record."""
        d = X.shape[1]
        bounds: tuple[Any, Any] = (np.zeros(d), np.ones(d)) if self.bounds is None else _range(self.bounds, d)
        self._low, self._high = bounds
        norm = self.data_norm
        if norm is None and self.bounds is not None:
            norm = np.sqrt(d)
        elif norm is None:
            missing.append("data_norm")
            norm = np.linalg.norm(X, axis=1).max() or 1.0
        if not (np.isfinite(norm) and norm > 0):
            raise invalid(f"data_norm must be finite and > 0 (got {norm!r})")
        self._norm = float(norm)

    def _place(self, X: Any) -> Any:
        tiny = np.finfo(np.float64).tiny
        with np.errstate(all="ignore"):
            if self.bounds is not None:
                X = (np.clip(X, self._low, self._high) - self._low) / (self._high - self._low)
            largest = np.maximum(np.abs(X).max(1, keepdims=True), tiny)
            size = largest * np.linalg.norm(X / largest, axis=1, keepdims=True)
            return X * np.minimum(1, self._norm / np.maximum(size, tiny))

    def _balance(self) -> list[int] | None:
        """Whole numbers, the largest 10^6."""
        given = self.class_weight
        if given is None:
            return None
        if not isinstance(given, dict):
            raise invalid(f"class_weight is {given!r}; expected a dict of public weights, such as {{0: 1, 1: 4}}: they are not counted off the private labels")
        unknown = [label for label in given if label not in self.classes_.tolist()]
        weights = np.array([given.get(label, 1) for label in self.classes_.tolist()], np.float64)
        if unknown or not (np.isfinite(weights).all() and (weights > 0).all()):
            raise invalid(f"class_weight has {f'the label {unknown[0]!r}, which is no class' if unknown else 'a weight that is not above 0'}; "
                          "expected classes and their weights, above 0 and finite")
        return [max(1, round(1e6 * w)) for w in weights / weights.max()]

    def _options(self, n: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Of recipe and guarantee, as struct sotto_head_recipe and struct sotto_head_privacy name them."""
        trainer = self.trainer
        if trainer == "auto":
            trainer = "dp-adam" if self.hidden else "dp-gd" if self.delta > 0 else "objective"
        if not lib.sotto_head_trainer_private(str(trainer).encode()):
            raise invalid(f"trainer {trainer!r} adds no noise; expected auto or a private trainer of sotto.train_head()")
        recipe: dict[str, Any] = {"trainer": trainer, "hidden": tuple(self.hidden) or None}
        if trainer in _BATCHES:
            recipe.update(epochs=self.epochs, batch=min(self.batch_size, n), lr=self._rate(), max_grad_norm=self.max_grad_norm)
        else:
            recipe.update(clip=1.0)
        recipe.update(balance=self._balance())
        if trainer in _CONVERGES:
            recipe.update(steps=self.steps, max_grad_norm=self.max_grad_norm)
        if self.delta == 0 and trainer not in _BATCHES + _CONVERGES + ("objective",):
            recipe.update(noise="laplace")
        guarantee = {"epsilon": self.epsilon, "delta": self.delta, "adjacency": self.adjacency}
        return {k: v for k, v in recipe.items() if v is not None}, guarantee

    def _seed(self) -> int | None:
        if self.random_state is None:
            return None
        if "seed" not in _told:
            _told.add("seed")
            warnings.warn("random_state seeds the noise: whoever knows the seed can take it off, so nothing is guaranteed. Leave random_state "
                          "None outside of tests", PrivacyLeakWarning, stacklevel=4)
        return int(check_random_state(self.random_state).randint(1, 2**31 - 1))

    def _train(self, x: Any, labels: Any, missing: list[str], shaped: tuple[Shaping, ...]) -> tuple[Head, Certificate]:
        recipe_options, guarantee = self._options(len(x))
        seed = self._seed()
        options, rows = table("head_privacy"), table("head_recipe")
        recipe = rows.set(struct("head_recipe"), rows.take(recipe_options))
        privacy = options.set(struct("head_privacy", classes_by="classes=" if self.classes is not None else "the private labels"),
                              options.take(guarantee))
        request = struct("head_release_request", x=x, y=labels, n=len(x), d=x.shape[1], classes=len(self.classes_), recipe=recipe)
        out = ffi.new("struct sotto_head_release_result *")

        def finish() -> tuple[Head, Certificate]:
            made = Certificate(out.certificate)
            return Head(out.head, made), made

        if not missing:
            ledger = _ledger_of(self.ledger, self.dataset)
            given = {} if seed is None else {"insecure_noise_seed": seed}
            fill(request, privacy=fill(privacy, spend=spend_of(ledger, given, shaped=shaped)))
            return charge(ledger, finish, lib.sotto_head_release, out, request, progress=bool(self.verbose) or None)
        read = [m for m in missing if m != "dataset"]
        condition = " and ".join([f"{m} being public" for m in read] + ["this fit being the only release"] * ("dataset" in missing))
        with tempfile.TemporaryDirectory() as folder:  # as a public set: one that is registered nowhere
            spend = struct("spend", dataset_id="no ledger", ledger=os.path.join(folder, "none.jsonl"), condition=condition,
                           provenance=provenance(None, shaped), source=struct("source_records", public_set=1), insecure=int(seed is not None),
                           insecure_seed=seed or 0)
            fill(request, privacy=fill(privacy, spend=spend))
            run(lib.sotto_head_release, out, request, progress=bool(self.verbose) or None)
            return finish()

    def _add_up(self, x: Any, labels: Any, epsilon: float) -> None:
        """Fits of this process that were charged to no ledger, record by record: the worst one is warned about."""
        worst = (0, 0.0, 0.0)
        for key in {hash((row.tobytes(), int(label))) for row, label in zip(x, labels)}:  # a duplicate is no second fit
            fits, e, d = _spent.get(key, (0, 0.0, 0.0))
            _spent[key] = (fits + 1, e + epsilon, d + self.delta)
            worst = max(worst, _spent[key])
        if worst[0] > 1:
            warnings.warn(f"{worst[0]} fits of this process on the same records were charged to no ledger; together they cost epsilon "
                          f"{worst[1]:g} at delta {worst[2]:g} (the sum), not {epsilon:g}. Give dataset=", PrivacyLeakWarning, stacklevel=4)

    def _take(self, head: Head) -> None:
        """The weights, on records as _place() leaves them; of a linear head in units of X."""
        state = {k: np.asarray(v, np.float64) for k, v in head.weights.items()}
        names = sorted({int(k.split(".")[0]) for k in state})
        self._layers = [(state[f"{i}.weight"], state[f"{i}.bias"]) for i in names]
        self._layers[0] = (self._layers[0][0] / self._norm, self._layers[0][1])
        for name in ("coef_", "intercept_"):
            self.__dict__.pop(name, None)
        if len(names) == 1:
            w, b = self._layers[0]
            if len(self.classes_) == 2:
                w, b = w[1:] - w[:1], b[1:] - b[:1]
            wide = self._high - self._low
            self.coef_, self.intercept_ = w / wide, b - (w / wide) @ self._low

    # ---- answers
    def _logits(self, X: Any) -> Any:
        check_is_fitted(self)
        z = self._place(validate_data(self, X, dtype=np.float64, reset=False))
        for i, (w, b) in enumerate(self._layers):
            z = (np.maximum(z, 0) if i else z) @ w.T + b
        return z

    def decision_function(self, X: Any) -> Any:
        """(n, classes) logits; of two classes (n): their difference."""
        z = self._logits(X)
        return z[:, 1] - z[:, 0] if len(self.classes_) == 2 else z

    def predict_proba(self, X: Any) -> Any:
        """(n, classes)"""
        z = self._logits(X)
        z = np.exp(z - z.max(1, keepdims=True))
        return z / z.sum(1, keepdims=True)

    def predict(self, X: Any) -> Any:
        """(n), of classes_"""
        z = self._logits(X)
        return self.classes_[z.argmax(1)]

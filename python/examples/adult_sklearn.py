# %% [markdown]
# # A private classifier on a table, in scikit-learn
#
# Bounds and categories are declared, so the certificate is proved. Runs in seconds on the made-up table examples/people.csv, which has the
# columns of UCI Adult.

# %% The table: what may occur in it is declared, never read off the records
import pathlib
import tempfile

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

import sotto
from sotto.sklearn import DPClassifier, PublicScaler

path = pathlib.Path(__file__).parents[2] / "examples" / "people.csv"
columns = "age workclass fnlwgt education education-num marital occupation relationship race sex gain loss hours country income".split()
rows = [line.replace('"', "").split(", ") for line in pathlib.Path(path).read_text().splitlines()]
table = np.array([row for row in rows if len(row) == len(columns)], object)  # a few lines are damaged
bounds = {"age": (17, 90), "education-num": (1, 16), "gain": (0, 100000), "loss": (0, 5000), "hours": (1, 99)}
categories = {"sex": ["Female", "Male"],
              "relationship": ["Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife"]}
numbers, names = [columns.index(c) for c in bounds], [columns.index(c) for c in categories]
low, high = np.array(list(bounds.values())).T


def to_numbers(cells):
    """A cell that is no number counts as 0, which the scaler clips to its bounds."""
    return np.vectorize(lambda cell: float(cell) if cell.replace(".", "", 1).isdigit() else 0.0)(cells)


# %% A pipeline of which no step looks at private records before the noise
scale_numbers = make_pipeline(FunctionTransformer(to_numbers), PublicScaler(bounds=(low, high)))
scale = make_column_transformer((scale_numbers, numbers),
                                (OneHotEncoder(categories=list(categories.values()), handle_unknown="ignore"), names), sparse_threshold=0)
norm = (len(numbers) + len(names)) ** .5  # no record can be larger
x, x_test, y, y_test = train_test_split(table, table[:, -1], test_size=.25, random_state=0)

# %% Trained, charged, certified
with tempfile.TemporaryDirectory() as folder:  # your ledger stays: Ledger(dataset="people")
    ledger = sotto.Ledger(pathlib.Path(folder) / "people.jsonl", dataset="people")
    # public_steps: to_numbers takes each cell by itself, which only its author knows; without it the certificate is conditional on that step
    model = make_pipeline(scale, DPClassifier(epsilon=3, delta=1e-5, classes=["<=50K", ">50K"], data_norm=norm, ledger=ledger, public_steps=True))
    model.fit(x, y)
    print(f"accuracy {model.score(x_test, y_test):.3f} on {len(y_test)} records, most frequent class {max(np.mean(y_test == c) for c in set(y_test)):.3f}")
    print(model[-1].certificate_.statement)
    print("spent so far:", ledger.total(1e-5).together)

"""Which unit of sampling and clipping learns better: persons or records? A made-up table of 1,000 persons with 10 rows each, epsilon 1 for a person.

Rows of 20 numbers, 4 classes by a random linear rule with Gumbel noise. "unlike": every row is drawn anew; "copied": a person's rows are one row.
`choose` tries 48 settings of each unit on tables 1 and 2; `measure` compares the best ones on tables that were not used before, each one twice.

usage: PYTHONPATH=FOLDER persons.py choose | measure COUNT      (FOLDER: where the package was built)"""
import itertools
import os
import sys
import tempfile

import numpy as np

import sotto

PERSONS, ROWS, INPUTS, CLASSES, TEST = 1000, 10, 20, 4, 2000
# trainer, norm, epochs, rate of sampling, learning rate, as `choose` found them
BEST = {("unlike", "person"): ("dp-adam", 0.1, 20, 0.2, 0.08), ("unlike", "record"): ("dp-sgd", 0.1, 20, 0.05, 5.0),
        ("copied", "person"): ("dp-adam", 0.1, 20, 0.05, 0.08), ("copied", "record"): ("dp-adam", 0.1, 20, 0.05, 0.08)}


def table(seed, kind):
    random = np.random.default_rng(seed)
    weights = random.normal(size=(INPUTS, CLASSES))

    def rows(persons):
        drawn = 1 if kind == "copied" else ROWS
        x = random.normal(size=(persons, drawn, INPUTS))
        y = (x @ weights + random.gumbel(size=(persons, drawn, CLASSES))).argmax(-1)
        x, y = (np.repeat(a, ROWS // drawn, 1) for a in (x, y))
        return (x / np.sqrt(INPUTS)).reshape(-1, INPUTS).astype(np.float32), y.reshape(-1)

    return *rows(PERSONS), *rows(TEST)


def accuracy(seed, kind, unit, trainer, norm, epochs, rate, lr):
    x, y, tested, answers = table(seed, kind)
    units = PERSONS if unit == "person" else len(x)
    with tempfile.TemporaryDirectory() as folder:
        ledger = sotto.Ledger(os.path.join(folder, "ledger.jsonl"), dataset=f"{kind}-{unit}-{seed}-{os.path.basename(folder)}", rows_per_person=ROWS)
        head = sotto.train_head(x, y, groups=np.repeat(np.arange(PERSONS), ROWS) if unit == "person" else None, classes=CLASSES, trainer=trainer,
                                epsilon=1, delta=1e-5, batch=int(units * rate), epochs=epochs, max_grad_norm=norm, lr=lr, ledger=ledger)
    assert float(head.certificate.epsilon) <= 1
    return head.score(tested, answers)


def choose():
    for kind, unit in BEST:
        found = []
        for trainer, norm, epochs, rate, times in itertools.product(("dp-sgd", "dp-adam"), (0.1, 0.3, 1), (5, 20), (0.05, 0.2), (1, 4)):
            how = trainer, norm, epochs, rate, times * (0.5 / norm if trainer == "dp-sgd" else 0.02)
            found.append((float(np.mean([accuracy(seed, kind, unit, *how) for seed in (1, 2)])), how))
        print(kind, unit, *sorted(found, reverse=True)[:3], flush=True)


def measure(count):
    for kind in ("unlike", "copied"):
        pairs = np.array([[accuracy(seed, kind, unit, *BEST[kind, unit]) for unit in ("person", "record")] for seed in range(101, 101 + count)])
        gain = pairs[:, 0] - pairs[:, 1]
        print(f"{kind}: person {pairs[:, 0].mean():.4f}, record {pairs[:, 1].mean():.4f}, gain {gain.mean():+.4f} "
              f"+- {1.96 * gain.std(ddof=1) / np.sqrt(count):.4f} ({count} tables, normal interval of 95 %)", flush=True)


if __name__ == "__main__":
    os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp()
    choose() if sys.argv[1:] == ["choose"] else measure(int(sys.argv[2]))

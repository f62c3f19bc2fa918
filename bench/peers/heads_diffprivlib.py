#!/usr/bin/env python3
"""Private linear classifiers beside diffprivlib's LogisticRegression, on Adult and scikit-learn's digits.

    bench/peers/setup --sklearn
    bench/peers/.venv-sklearn/bin/python bench/peers/heads_diffprivlib.py diffprivlib --adult adult.data.xz >> scores.jsonl
    python3 bench/peers/heads_diffprivlib.py sotto --adult adult.data.xz >> scores.jsonl     # where sotto and scikit-learn are
    python3 bench/peers/heads_diffprivlib.py table scores.jsonl

Both get the same records, features, norm bound and classes, and both are accounted for one replaced record. Features are
scaled by declared bounds, never by what the records hold. A seed is a split; scores of a seed are paired. diffprivlib's C is
the best of five in HINDSIGHT, by its mean on the test records, cell by cell: no public tuning can do better. sotto's
classifier runs as it is, tuned nowhere.
"""

import argparse
import json
import math
import sys
import warnings

import numpy as np

EPSILONS = (0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0)
STRENGTHS = (0.001, 0.01, 0.1, 1.0, 10.0)
# Declared: for each column of adult.data a range, or None for categories. Each record has norm sqrt(14) at most.
ADULT = [(17, 90), None, (0, 1500000), None, (1, 16), None, None, None, None, None, (0, 100000), (0, 5000), (1, 99), None]


def adult(path):
    import lzma
    with lzma.open(path, "rt") as file:
        rows = [line.strip().split(", ") for line in file if line.strip()]
    parts = []
    for i, bounds in enumerate(ADULT):
        column = [row[i] for row in rows]
        if bounds:
            low, high = bounds
            parts.append(((np.array(column, float) - low) / (high - low)).clip(0, 1)[:, None])
        else:  # the list of categories is in the data's description
            names = sorted(set(column))
            parts.append((np.array(column)[:, None] == names).astype(float))
    return np.hstack(parts), np.array([row[14] == ">50K" for row in rows], int)


def digits():
    from sklearn.datasets import load_digits
    x, y = load_digits(return_X_y=True)
    return x / 16, y


def sets(options):
    """(name, x, y, records that train, norm bound, classes, delta)"""
    x, y = digits()
    yield "digits", x, y, 1400, 5.0, 10, 1e-5
    if options.adult:
        x, y = adult(options.adult)
        yield "adult", x, y, 26048, math.sqrt(14), 2, 1e-6


def scores_of_diffprivlib(train, test, norm, classes, delta, epsilon, seed):
    from diffprivlib.models import LogisticRegression
    for c in STRENGTHS:
        model = LogisticRegression(epsilon=epsilon, data_norm=norm, C=c, max_iter=200, random_state=seed)
        yield f"C={c:g}", model.fit(*train).score(*test)


def scores_of_sotto(train, test, norm, classes, delta, epsilon, seed):
    from sotto.sklearn import DPClassifier
    for name, options in (("auto", {"delta": delta}), ("pure", {"delta": 0.0})):
        model = DPClassifier(epsilon, classes=range(classes), data_norm=norm, **options)
        yield name, model.fit(*train).score(*test)


def measure(scores, who, options):
    warnings.filterwarnings("ignore")
    for name, x, y, count, norm, classes, delta in sets(options):
        for seed in range(options.first, options.first + options.seeds):
            order = np.random.default_rng(seed).permutation(len(y))
            train, test = order[:count], order[count:]
            for epsilon in EPSILONS:
                for how, score in scores((x[train], y[train]), (x[test], y[test]), norm, classes, delta, epsilon, seed):
                    print(json.dumps({"set": name, "who": who, "how": how, "epsilon": epsilon, "seed": seed,
                                      "accuracy": score}), flush=True)


def interval(values):
    """Mean and its 95 % t interval over seeds."""
    from scipy.stats import t
    mean, half = np.mean(values), t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values))
    return mean, mean - half, mean + half


def table(path):
    from scipy.stats import ttest_1samp
    found = {}
    with open(path) as file:
        for row in map(json.loads, file):
            found.setdefault((row["set"], row["epsilon"]), {}).setdefault((row["who"], row["how"]), {})[row["seed"]] = row["accuracy"]
    worse = 0
    for (name, epsilon), cell in sorted(found.items()):
        theirs = max((v for k, v in cell.items() if k[0] == "diffprivlib"), key=lambda v: np.mean(list(v.values())))
        best = next(k[1] for k, v in cell.items() if v is theirs)
        line = f"{name:7}{epsilon:5g}   diffprivlib ({best}) " + "{:.3f} [{:.3f}, {:.3f}]".format(*interval(list(theirs.values())))
        for (who, how), ours in sorted(cell.items()):
            if who != "sotto":
                continue
            seeds = sorted(set(ours) & set(theirs))
            difference = [ours[s] - theirs[s] for s in seeds]
            p = ttest_1samp(difference, 0, alternative="less").pvalue if np.std(difference) > 0 else float(np.mean(difference) >= 0)
            worse += p < 1e-3
            line += f"   {how} " + "{:.3f} [{:.3f}, {:.3f}]".format(*interval([ours[s] for s in seeds]))
            line += f" (difference {np.mean(difference):+.3f}, p of worse {p:.2g})"
        print(line)
    print(f"cells significantly worse than diffprivlib at level 1e-3: {worse}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("diffprivlib", "sotto", "table"))
    parser.add_argument("scores", nargs="?", help="table: the file of scores")
    parser.add_argument("--adult", help="adult.data.xz; without it: digits alone")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=100, help="first seed")
    options = parser.parse_args()
    if options.what == "table":
        table(options.scores)
    else:
        measure(scores_of_diffprivlib if options.what == "diffprivlib" else scores_of_sotto, options.what, options)


if __name__ == "__main__":
    sys.exit(main())

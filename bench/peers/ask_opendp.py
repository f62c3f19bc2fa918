#!/usr/bin/env python3
"""Statistics of a table beside OpenDP and diffprivlib: 30 queries on Adult, at one epsilon, delta and unit.

    bench/peers/setup --ask
    bench/peers/.venv-ask/bin/python bench/peers/ask_opendp.py sotto --adult adult.data.xz >> errors.jsonl    # SOTTO=the program
    bench/peers/.venv-ask/bin/python bench/peers/ask_opendp.py opendp --adult adult.data.xz >> errors.jsonl
    bench/peers/.venv-ask/bin/python bench/peers/ask_opendp.py diffprivlib --adult adult.data.xz >> errors.jsonl
    bench/peers/.venv-ask/bin/python bench/peers/ask_opendp.py table errors.jsonl

The unit is one replaced record, and the number of rows is public, for all three. Each query has an equal share of the budget: that share is the best one
for the geometric mean of errors. Bounds and categories are those of one schema, and are not read off the rows. Where a peer
has several ways to answer a query, all of them are measured and the best one in HINDSIGHT stands for it, query by query.
OpenDP: zCDP, converted by its own curve (delta > 0), or pure; its own maps, at a symmetric distance of 2. "by-hand" takes
sqrt 2 instead of its 2 for the L2 norm of disjoint counts, which its user would have to prove. diffprivlib: its tools, pure;
tools that hold for an added record get half of the share. Its tools have no Gaussian noise: "vector" is its GaussianAnalytic
on one vector of all answers, whose sensitivities its user would have to prove. The answers of both are moved to what is possible.

The error of a query is the root mean square over draws and over its cells; that of quartiles is their distance in ranks, one in a
thousand at least.
"""

import argparse
import csv
import itertools
import json
import lzma
import math
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np

NUMBERS = {"age": (17, 90), "fnlwgt": (0, 1500000), "education-num": (1, 16), "capital-gain": (0, 10000), "capital-loss": (0, 2000), "hours-per-week": (1, 80)}
CATEGORIES = {
    "workclass": "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
    "education": "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters 1st-4th 10th Doctorate 5th-6th Preschool",
    "marital-status": "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse",
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
    "income": "<=50K >50K",
}
CATEGORIES = {name: words.split() for name, words in CATEGORIES.items()}
COLUMNS = ("age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain capital-loss "
           "hours-per-week native-country income").split()
EDGES = [17, 25, 35, 45, 55, 65, 75, 90]
# kind, columns; of a count: its text and what it means
QUERIES = [
    *(("mean", (x,)) for x in ("age", "education-num", "hours-per-week", "capital-gain")),
    *(("variance", (x,)) for x in ("age", "hours-per-week")),
    *(("histogram", (x,)) for x in ("workclass", "marital-status", "relationship", "race", "education", "age")),
    *(("crosstab", x) for x in (("sex", "income"), ("race", "sex"), ("relationship", "income"), ("education", "income"))),
    *(("by", x) for x in (("hours-per-week", "sex"), ("hours-per-week", "marital-status"), ("age", "workclass"), ("education-num", "race"),
                          ("age", "education"), ("capital-gain", "relationship"))),
    ("count", ("age >= 65", lambda t: t["age"] >= 65)),
    ("count", ("hours-per-week > 40 and sex = Female", lambda t: (t["hours-per-week"] > 40) & (t["sex"] == 0))),
    ("count", ("capital-gain > 0", lambda t: t["capital-gain"] > 0)),
    *(("covariance", x) for x in (("age", "hours-per-week"), ("education-num", "hours-per-week"))),
    *(("quartiles", (x,)) for x in ("age", "hours-per-week", "fnlwgt")),
]
SHARES = (0.25, 0.5, 0.75)
SPLITS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)  # of a query's budget, for the first of two things that it asks
LEAST = 0.001  # error of quartiles in shares of the ranks: with ties some ways are never wrong
SETTINGS = ((0.1, 0.0), (1.0, 0.0), (0.1, 1e-6), (1.0, 1e-6))


def text_of(kind, what):
    texts = {"by": "mean {0} by {1}", "crosstab": "crosstab {0} x {1}", "count": "count where {0}", "covariance": "covariance {0}, {1}",
             "quartiles": "quantile {0} .25 .5 .75", "histogram": "histogram {0}" + (f" {EDGES}" if what[0] == "age" else "")}
    return texts.get(kind, kind + " {0}").format(*what)


def read(path):
    """Rows, and columns: numbers within their bounds; categories by their place in the schema's list, -1: not in it."""
    with lzma.open(path, "rt") as file:
        rows = [line.strip().split(", ") for line in file if line.strip()]
    table = {}
    for name, column in zip(COLUMNS, zip(*rows)):
        if name in NUMBERS:
            table[name] = np.array(column, float).clip(*NUMBERS[name])
        elif name in CATEGORIES:
            table[name] = np.array([CATEGORIES[name].index(x) if x in CATEGORIES[name] else -1 for x in column])
    return rows, table


class Truth:
    """A query, what is exact about it (numbers as shares of their bounds), and the mean squared error of an answer."""

    def __init__(self, kind, what, table):
        self.kind, self.what, self.text, self.n = kind, what, text_of(kind, what), len(table["age"])
        self.x = [(table[c] - NUMBERS[c][0]) / (NUMBERS[c][1] - NUMBERS[c][0]) for c in what if c in NUMBERS] if kind != "count" else []
        if kind == "mean":
            self.value = self.x[0].mean()
        elif kind in ("variance", "covariance"):
            self.value = np.mean(self.x[0] * self.x[-1]) - self.x[0].mean() * self.x[-1].mean()
        elif kind == "count":
            self.holds = what[1](table)
            self.value = self.holds.sum()
        elif kind in ("histogram", "crosstab"):
            self.cells = len(EDGES) - 1 if what == ("age",) else math.prod(len(CATEGORIES[c]) for c in what)
            code = np.digitize(table["age"], EDGES[1:-1]) if what == ("age",) else table[what[0]]
            if kind == "crosstab":
                second = table[what[1]]
                code = np.where((code < 0) | (second < 0), -1, code * len(CATEGORIES[what[1]]) + second)
            self.code = code
            self.value = np.bincount(code[code >= 0], minlength=self.cells)
        elif kind == "by":
            self.cells, self.code = len(CATEGORIES[what[1]]), table[what[1]]
            known = self.code >= 0
            self.value_n = np.bincount(self.code[known], minlength=self.cells)
            self.centred = np.bincount(self.code[known], self.x[0][known] - 0.5, self.cells)
            self.value = 0.5 + self.centred / self.value_n
        else:
            self.sorted, self.bounds = np.sort(table[what[0]]), NUMBERS[what[0]]
            low, high = self.bounds
            self.edges = low + np.arange(high - low + 1.0) if high - low <= 1024 else low + (high - low) * np.arange(1, 1025) / 1024

    def error(self, answer):
        """Units: the range of a number, all records of a count, ranks of a quantile. No answer is the middle of the range."""
        answer = np.asarray(answer, float)
        if self.kind == "quartiles":
            rank = np.array(SHARES) * self.n
            below, upto = np.searchsorted(self.sorted, answer, "left"), np.searchsorted(self.sorted, answer, "right")
            off = np.maximum(0, np.maximum(rank - upto, below - rank)) / self.n
            return max(float(np.mean(off**2)), LEAST**2)
        if self.kind in ("histogram", "crosstab", "count"):
            return float(np.mean(((answer.clip(0, self.n) - self.value) / self.n)**2))
        low, high = {"variance": (0, 0.25), "covariance": (-0.25, 0.25)}.get(self.kind, (0, 1))
        return float(np.mean((np.where(np.isnan(answer), 0.5, answer).clip(low, high) - self.value)**2))


# ---- sotto ----

def schema():
    lines = ["schema: sotto.schema/1", "columns:"]
    for name in COLUMNS:
        if name in NUMBERS:
            low, high = NUMBERS[name]
            lines.append(f"  - {{name: {name}, type: number, bounds: [{low}, {high}], fill: {(low + high) // 2}}}")
        elif name in CATEGORIES:
            words = ", ".join(f"'{word}'" for word in CATEGORIES[name])
            kind = "type: label, classes" if name == "income" else "type: category, categories"
            lines.append(f"  - {{name: {name}, {kind}: [{words}]}}")
        else:
            lines.append(f"  - {{name: {name}, type: ignore}}")
    return "\n".join(lines) + "\n"


def value_of(query, rows):
    """The answer of one query, in its units, from the rows of sotto.answers/1."""
    values = [math.nan if row["value"] is None else row["value"] for row in rows]
    if query.kind == "quartiles" or query.kind == "count":
        return values if query.kind == "quartiles" else values[0]
    if query.kind in ("histogram", "crosstab", "by"):
        keys = query.what[1:] if query.kind == "by" else query.what
        if query.what == ("age",):
            values = values[:query.cells]
        else:
            place = {tuple(row["keys"][k] for k in keys): value for row, value in zip(rows, values)}
            names = [(a,) for a in CATEGORIES[keys[0]]]
            if len(keys) == 2:
                names = [(a, b) for (a,) in names for b in CATEGORIES[keys[1]]]
            values = [place[name] for name in names]
        if query.kind != "by":
            return values
    ranges = [NUMBERS[c] for c in query.what if c in NUMBERS]
    if query.kind == "variance":
        ranges *= 2
    width = math.prod(high - low for low, high in ranges)
    return (np.array(values) - (ranges[0][0] if query.kind in ("mean", "by") else 0)) / width


def sotto(queries, rows, epsilon, delta, draws, first):
    """(way, query, error) of the program as it is, one process and one ledger a draw."""
    program = os.environ.get("SOTTO", "sotto")
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)
        with open(at("table.csv"), "w", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *rows])
        with open(at("schema.yaml"), "w") as file:
            file.write(schema())
        with open(at("queries"), "w") as file:
            file.writelines(query.text + "\n" for query in queries)
        for seed in range(first, first + draws):
            subprocess.run([program, "ask", at("table.csv"), "--queries", at("queries"), "--schema", at("schema.yaml"), "--dataset-id", f"census-{seed}",
                            "--epsilon", repr(epsilon), "--delta", repr(delta), "--insecure-noise-seed", str(seed),
                            "-o", at("a.json"), "--quiet", "--threads", "1"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env={**os.environ, "XDG_DATA_HOME": folder})
            with open(at("a.json")) as file:
                answers = json.load(file)["answers"]
            texts = list(dict.fromkeys(a["query"] for a in answers))
            assert len(texts) == len(queries)
            for query, text in zip(queries, texts):
                yield "ask", query, query.error(value_of(query, [a for a in answers if a["query"] == text]))


# ---- ways that both peers share: noise(value, sensitivity, share of the query's budget) ----

def of_moments(query, noise, split):
    """Second moments about the middle of the ranges, which move less: 1/4 for a square, 1/2 for a product."""
    x, y = query.x[0] - 0.5, query.x[-1] - 0.5
    if query.kind == "variance":
        mean = noise(x, -0.5, 0.5, 1 - split)
        return noise(x * x, 0, 0.25, split) - mean * mean
    return noise(x * y, -0.25, 0.25, split) - noise(x, -0.5, 0.5, (1 - split) / 2) * noise(y, -0.5, 0.5, (1 - split) / 2)


def ways_of_quartiles(one, other):
    """Each quartile by one of two ways, so that the best is that of each quartile."""
    for which in itertools.product((0, 1), repeat=len(SHARES)):
        yield f"quartiles {which}", [pair[k] for pair, k in zip(zip(one, other), which)]


def of_groups(sums, counts):
    return 0.5 + sums / np.maximum(1, counts)


# ---- OpenDP ----

class OpenDP:
    def __init__(self, queries, epsilon, delta):
        import opendp.prelude as dp
        dp.enable_features("contrib", "idealized-numerics")
        self.dp, self.gaussian, self.n = dp, delta > 0, queries[0].n
        self.share = epsilon / len(queries)
        if self.gaussian:
            vector = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
            spent = lambda scale: dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*vector, scale=scale)).map(1.0).epsilon(delta)
            unit = dp.binary_search(lambda scale: spent(scale) <= epsilon, bounds=(0.01, 1e4))
            self.share = 0.5 / unit**2 / len(queries)  # rho
        self.scales = {}

    def vector(self, values, sensitivity, part=1.0):
        """Noise in whole or real numbers that move by sensitivity together."""
        dp, values = self.dp, np.asarray(values)
        whole = values.dtype.kind in "iub"
        kind, distance = (int if whole else float), (self.dp.l2_distance if self.gaussian else self.dp.l1_distance)
        key = kind, sensitivity, part
        if key not in self.scales:
            domain = dp.vector_domain(dp.atom_domain(T=int)) if whole else dp.vector_domain(dp.atom_domain(T=float, nan=False))
            if self.gaussian:
                make, distance = dp.m.make_gaussian, dp.l2_distance(T=float)
            else:
                make, distance = dp.m.make_laplace, dp.l1_distance(T=kind)
            moved = float(sensitivity) if self.gaussian or not whole else int(sensitivity)
            scale = moved / math.sqrt(2 * self.share * part) if self.gaussian else moved / (self.share * part)
            measure = make(domain, distance, scale=scale)
            assert measure.map(moved) <= self.share * part * (1 + 1e-6)
            self.scales[key] = measure
        return np.array(self.scales[key](values.tolist()))

    def mean(self, x, low, high, part=1.0):
        """Of as many numbers as are public: make_mean's own map."""
        key = "mean", low, high
        if key not in self.scales:
            dp = self.dp
            domain = dp.vector_domain(dp.atom_domain(bounds=(float(low), float(high)), nan=False), size=self.n)
            self.scales[key] = dp.t.make_mean(domain, dp.symmetric_distance()).map(2)
        return self.vector([x.mean()], self.scales[key], part)[0]

    def counts(self, query, part, by_hand):
        key = "counts", query.cells
        if key not in self.scales:
            dp = self.dp
            domain = dp.vector_domain(dp.atom_domain(T=int))
            made = dp.t.make_count_by_categories(domain, dp.symmetric_distance(), categories=list(range(query.cells)), null_category=True,
                                                 MO="L2Distance<f64>" if self.gaussian else "L1Distance<int>")
            self.scales[key] = made.map(2)
        return self.vector(query.value_n if query.kind == "by" else query.value, math.sqrt(2) if by_hand and self.gaussian else self.scales[key], part)

    def quartiles(self, query):
        """Of each quartile the edge chosen among edges, and that above the middle chosen among middles: with ties either may be the better way."""
        dp, step, answers = self.dp, query.edges[1] - query.edges[0], []
        for share in SHARES:
            for back in (0, step / 2):
                key = "quartile", query.what[0], share, back
                if key not in self.scales:
                    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=self.n)
                    measure = dp.zero_concentrated_divergence() if self.gaussian else dp.max_divergence()
                    score = dp.t.make_quantile_score_candidates(domain, dp.symmetric_distance(), (query.edges - back).tolist(), share)
                    space = score.output_domain, score.output_metric, measure
                    spent = lambda s, space=space, moved=score.map(2): dp.m.make_noisy_max(*space, scale=s, negate=True).map(moved)
                    scale = dp.binary_search(lambda s, spent=spent: spent(s) <= self.share / len(SHARES), bounds=(1e-3, 1e12))
                    self.scales[key] = score(query.sorted.tolist()), dp.m.make_noisy_max(*space, scale=scale, negate=True)
                scores, choose = self.scales[key]
                answers.append(query.edges[choose(scores)])
        return ways_of_quartiles(answers[0::2], answers[1::2])

    def ways(self, query):
        """(way, answer)"""
        if query.kind == "mean":
            yield "sized mean", self.mean(query.x[0], 0, 1)
        elif query.kind == "count":
            yield "sized mean of an indicator", self.n * self.mean(query.holds.astype(float), 0, 1)
        elif query.kind in ("variance", "covariance"):
            for split in SPLITS:
                yield f"moments {split}", of_moments(query, self.mean, split)
            if query.kind == "variance":
                dp = self.dp
                domain = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False), size=self.n)
                yield "sized variance", self.vector([query.value], dp.t.make_variance(domain, dp.symmetric_distance()).map(2))[0]
        elif query.kind == "quartiles":
            yield from self.quartiles(query)
        elif query.kind == "by":
            for split in SPLITS:
                sums = self.vector(query.centred, 1.0, split)  # two records of half a width
                yield f"centred sums {split}", of_groups(sums, self.counts(query, 1 - split, False))
                if self.gaussian:
                    yield f"by-hand: centred sums {split}", of_groups(sums, self.counts(query, 1 - split, True))
        else:
            yield "counts", self.counts(query, 1.0, False)
            if self.gaussian:
                yield "by-hand: counts", self.counts(query, 1.0, True)


# ---- diffprivlib ----

class Diffprivlib:
    def __init__(self, queries, epsilon, delta, seed):
        from diffprivlib import mechanisms, tools
        self.tools, self.gaussian, self.n, self.random = tools, delta > 0, queries[0].n, np.random.RandomState(seed)
        self.share = epsilon / len(queries)
        if self.gaussian:
            self.scale = mechanisms.GaussianAnalytic(epsilon=epsilon, delta=delta, sensitivity=math.sqrt(len(queries)))._scale

    def normal(self, value, sensitivity, part=1.0):
        return value + self.random.normal(size=np.shape(value)) * sensitivity * self.scale / math.sqrt(part)

    def mean(self, x, low, high, part=1.0):
        if self.gaussian:
            return self.normal(x.mean(), (high - low) / self.n, part)
        return self.tools.mean(x, epsilon=self.share * part, bounds=(low, high), random_state=self.random)

    def counts(self, query, part=1.0):
        if self.gaussian:
            return self.normal(query.value_n if query.kind == "by" else query.value, math.sqrt(2), part)
        known = query.code[query.code >= 0]  # half of the share: a replaced record leaves one cell and enters another
        return self.tools.histogram(known, epsilon=self.share * part / 2, bins=np.arange(query.cells + 1) - 0.5, range=(-0.5, query.cells - 0.5),
                                    random_state=self.random)[0]

    def sums(self, query, part):
        if self.gaussian:
            return self.normal(query.centred, 1.0, part)
        # records of other groups count as the middle: half a width in two groups, or a width in one
        return np.array([self.tools.sum(np.where(query.code == g, query.x[0] - 0.5, 0), epsilon=self.share * part, bounds=(-0.5, 0.5),
                                        random_state=self.random) for g in range(query.cells)])

    def ways(self, query):
        if query.kind == "mean":
            yield "mean", self.mean(query.x[0], 0, 1)
        elif query.kind == "count":
            if self.gaussian:
                yield "count", self.normal(query.value, 1.0)
            else:
                yield "count_nonzero", self.tools.count_nonzero(query.holds, epsilon=self.share, random_state=self.random)
                yield "mean of an indicator", self.n * self.mean(query.holds.astype(float), 0, 1)
        elif query.kind in ("variance", "covariance"):
            for split in SPLITS:
                yield f"moments {split}", of_moments(query, self.mean, split)
            if self.gaussian:
                yield "one number", self.normal(query.value, 1 / self.n)
            elif query.kind == "variance":
                yield "var", self.tools.var(query.x[0], epsilon=self.share, bounds=(0, 1), random_state=self.random)
        elif query.kind == "by":
            for split in SPLITS:
                yield f"centred sums {split}", of_groups(self.sums(query, split), self.counts(query, 1 - split))
        elif query.kind != "quartiles":
            yield "counts", self.counts(query)
        elif not self.gaussian:
            answer = self.tools.quantile(query.sorted, SHARES, epsilon=self.share, bounds=query.bounds, random_state=self.random)
            yield "quantile", answer
            yield from ways_of_quartiles(np.floor(answer), np.ceil(answer))


def measure(who, options):
    warnings.filterwarnings("ignore")
    rows, table = read(options.adult)
    queries = [Truth(kind, what, table) for kind, what in QUERIES]
    asked = [query for query in queries if options.kind in (None, query.kind)]  # the budget stays that of all
    for epsilon, delta in SETTINGS:
        if who == "sotto":
            found = sotto(queries, rows, epsilon, delta, options.draws, options.first)
        else:
            peer = OpenDP(queries, epsilon, delta) if who == "opendp" else Diffprivlib(queries, epsilon, delta, options.first)
            found = ((way, query, query.error(answer)) for _ in range(options.draws) for query in asked for way, answer in peer.ways(query))
        errors = {}
        for way, query, error in found:
            errors.setdefault((way, query), []).append(error)
        for (way, query), squares in errors.items():
            print(json.dumps({"who": who, "how": way, "epsilon": epsilon, "delta": delta, "kind": query.kind, "query": query.text,
                              "squares": squares}), flush=True)


# ---- table ----

def root(squares):
    return math.sqrt(np.mean(squares))


def best(ways, by_hand=True):
    return min((squares for way, squares in ways.items() if by_hand or not way.startswith("by-hand")), key=np.mean)


def intervals(pairs, times=2000):
    """Geometric mean of ratios, its 95 % interval over draws for these queries, and that for other queries like them."""
    random = np.random.default_rng(1)
    redrawn = np.array([[np.log(np.mean(s[random.integers(0, len(s), len(s))])) / 2 for _ in range(times)] for pair in pairs for s in pair])
    logs = redrawn[0::2] - redrawn[1::2]
    chosen = random.integers(0, len(pairs), (times, len(pairs)))
    other = logs[chosen.T, np.arange(times)].mean(0)
    spread = np.exp(np.percentile(logs.mean(0), (2.5, 97.5))), np.exp(np.percentile(other, (2.5, 97.5)))
    return math.exp(np.mean([math.log(root(a) / root(b)) for a, b in pairs])), *spread


def table(path):
    found = {}
    with open(path) as file:
        for row in map(json.loads, file):
            queries = found.setdefault((row["epsilon"], row["delta"]), {})
            queries.setdefault((row["kind"], row["query"]), {}).setdefault(row["who"], {})[row["how"]] = np.array(row["squares"])
    for (epsilon, delta), queries in sorted(found.items(), key=lambda item: (item[0][1], item[0][0])):
        print(f"\nepsilon {epsilon:g}, delta {delta:g}\n")
        by_hand = [("OpenDP, by hand", "opendp", True)] * (delta > 0)
        peers = [("OpenDP", "opendp", False), *by_hand, ("diffprivlib" + ", vector" * (delta > 0), "diffprivlib", True)]
        peers = [peer for peer in peers if any(peer[1] in ways for ways in queries.values())]
        kinds = list(dict.fromkeys(kind for kind, _ in queries))
        print("| ratio of errors, sotto / peer | queries | geometric mean | over draws | other queries |", *(f" {kind} |" for kind in kinds), sep="")
        print("|---|---|---|---|---|" + "---|" * len(kinds))
        for name, who, by_hand in peers:
            pairs = {q: (best(w["sotto"]), best(w[who], by_hand)) for q, w in queries.items() if who in w}
            mean, draws, others = intervals(list(pairs.values()))
            row = [name, str(len(pairs)), f"{mean:.3f}", f"[{draws[0]:.3f}, {draws[1]:.3f}]", f"[{others[0]:.2f}, {others[1]:.2f}]"]
            for kind in kinds:
                logs = [math.log(root(a) / root(b)) for (k, _), (a, b) in pairs.items() if k == kind]
                row.append(f"{math.exp(np.mean(logs)):.2f}" if logs else "")
            print("| " + " | ".join(row) + " |")
        print("\n| query | sotto |", *(f" {name} | ratio |" for name, _, _ in peers), sep="")
        print("|---|---|" + "---|---|" * len(peers))
        for (_, text), ways in queries.items():
            ours = root(best(ways["sotto"]))
            cells = [f"{root(best(ways[who], hand)):.2e} | {ours / root(best(ways[who], hand)):.2f}" if who in ways else " | " for _, who, hand in peers]
            print(f"| {text} | {ours:.2e} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sotto", "opendp", "diffprivlib", "table"))
    parser.add_argument("errors", nargs="?", help="table: the file of errors")
    parser.add_argument("--adult", help="adult.data.xz")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--kind", help="measure the peers on this kind of query alone")
    parser.add_argument("--first", type=int, default=1, help="first seed")
    options = parser.parse_args()
    if options.what == "table":
        table(options.errors)
    else:
        measure(options.what, options)


if __name__ == "__main__":
    sys.exit(main())

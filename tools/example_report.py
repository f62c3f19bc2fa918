#!/usr/bin/env python3
"""Writes tests/golden/report_example.json: a made-up "sotto.report/1" document with every member, for tests and for looking at the page.

usage: tools/example_report.py build/release/sotto > tests/golden/report_example.json
The audits in it come from `sotto audit` on simulated logits, so the schema cannot drift from the code. Needs numpy and scipy.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

def audit(n, m, margin_member, margin_other, seed):
    g = np.random.default_rng(seed)
    sides = []
    for count, margin in ((n, margin_member), (m, margin_other)):
        y = g.integers(0, 10, count)
        z = 2 * g.standard_normal((count, 10))
        z[np.arange(count), y] += margin
        sides.append((np.ascontiguousarray(z, np.float32), np.ascontiguousarray(y, np.int64)))
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.argv[1], "audit", "--json", "--quiet", "--seed", str(seed)]
        for name, side in zip(("member", "nonmember"), sides):
            for kind, array in zip(("logits", "labels"), side):
                path = os.path.join(folder, f"{name}-{kind}.npy")
                np.save(path, array)
                command += [f"--{name}-{kind}", path]
        out = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    for a in out["attacks"]:
        a["roc"] = [[float(f"{x:.5g}") for x in p] for p in a["roc"][::3] + [[1, 1]]]
    return out


def canaries(n, mu, seed):
    """An audit of n coins by answers N(coin mu, 1), and what a test of the certificate's curve said."""
    g = np.random.default_rng(seed)
    coin = g.integers(0, 2, n)
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/s.npy", g.standard_normal(n) + mu * coin)
        np.save(f"{folder}/m.npy", coin)
        out = json.loads(subprocess.run([sys.argv[1], "audit", "--scores", f"{folder}/s.npy", "--membership", f"{folder}/m.npy", "--one-run", "20",
                                         "--delta", "1e-5", "--json", "--quiet"], check=True, stdout=subprocess.PIPE).stdout)
    out["attacks"][0]["roc"] = out["attacks"][0]["roc"][::9] + [[1, 1]]
    out["curve"] = {"of": "logistic noise of scale .93, one release", "adjacency": "replace-one", "contradicted": False, "p_value": .62, "confidence": .95,
                    "attack": "scores", "attacks": 1, "assumption": "a fair coin of its own chose each record out of two"}
    return {"count": n, "kind": "random", "access": "black-box", "audit": out}


def estimate(k, n):
    from scipy.stats import beta
    return {"estimate": k / n, "lower": float(beta.ppf(.025, k, n - k + 1)), "upper": float(beta.ppf(.975, k + 1, n - k)), "n": n}


def sampled(l1, epsilon):
    return {"sensitivity": {"source": "sampled", "l1": l1, "l2": l1 / 90, "pairs": 10},
            "conditional": {"epsilon": {"lower": epsilon * .999, "upper": epsilon}, "delta": 0, "accountant": "closed form, L1",
                            "adjacency": "replace-one", "assumptions": [{"text": "noise is exact logistic; here drawn in double", "met": True}]}}


plain_mlp, plain_linear = estimate(7110, 10000), estimate(6530, 10000)
rows = [{"name": "mlp", "title": "MLP head, 512 hidden units, 500 records", "group": "mlp", "protected": False, "records": 500,
         "hidden": [512], "parameters": 138250, "measured": audit(500, 10000, 6.4, 4.6, 1),
         "utility": {"accuracy": plain_mlp, "train_accuracy": .97, "chance": .1}}]
for i, (scale, accuracy, member, other, epsilon) in enumerate(
        ((.01, 7050, 6.2, 4.6, 48211.), (.03, 6420, 5.2, 4.4, 16070.), (.3, 1130, .9, .88, 1607.))):
    rows.append({"name": f"mlp-logistic-{scale}", "title": f"MLP head with logistic noise, scale {scale}", "group": "mlp",
                 "protected": True, "evaluation": True, "records": 500, "hidden": [512], "mechanism": "logistic", "scale": scale,
                 **sampled(epsilon * scale, epsilon), "measured": audit(500, 10000, member, other, 2 + i),
                 "measured_draws": {"attack": "loss", "draws": 20, "mean": .6, "lowest": .58, "highest": .62},
                 "utility": {"accuracy": estimate(accuracy, 10000), "train_accuracy": None, "chance": .1,
                             "unprotected_accuracy": plain_mlp,
                             "draws": {"count": 20, "mean": accuracy / 1e4, "lowest": accuracy / 1e4 - .02, "highest": accuracy / 1e4 + .02}},
                 "notes": ["the noise of this row was drawn to measure, not to release"]})
rows.append({"name": "linear", "title": "Linear head, 10,000 records", "group": "linear", "protected": False, "records": 10000,
             "hidden": [], "parameters": 1290, "measured": audit(10000, 10000, 4.03, 4, 9),
             "utility": {"accuracy": plain_linear, "train_accuracy": .66, "chance": .1}})
for epsilon, scale, accuracy, seed in ((1, .93, 5900, 11), (2, .47, 6210, 12)):
    rows.append({"name": f"linear-logistic-{epsilon}", "title": f"Linear head with logistic noise, epsilon {epsilon}", "group": "linear",
                 "protected": True, "evaluation": False, "records": 10000, "hidden": [], "mechanism": "logistic", "scale": scale,
                 "sensitivity": {"source": "proved", "l1": None, "l2": .024, "note": "convex training with clipped rows"},
                 "proved": {"epsilon": {"lower": epsilon * .9999, "upper": float(epsilon)}, "delta": 1e-5, "accountant": "L2 theorem",
                            "adjacency": "replace-one",
                            "assumptions": [{"text": "every embedding row has L2 norm at most 1", "met": True},
                                            {"text": "training is strongly convex and has converged to the stated tolerance", "met": True}]},
                 "measured": audit(10000, 10000, 3.5, 3.5, seed), "canaries": canaries(1000, 1, seed),
                 "utility": {"accuracy": estimate(accuracy, 10000), "chance": .1, "unprotected_accuracy": plain_linear}})

epochs = range(1, 11)
def mean(x, width=.02):
    return {"mean": x, "lower": x - width, "upper": x + width}


def sweep(case, title, mechanism, norms, cost, holds=True):
    points = []
    for epsilon in (.1, 1, 10):
        loss, leak = cost / (cost + epsilon), .06 * epsilon / (cost + epsilon)
        points.append({"epsilon": epsilon, "holds": holds or epsilon < 8.4, "implied_epsilon": epsilon * (1 if holds or epsilon < 8.4 else 1.04),
                       "delta": 1e-5, "scale": cost / epsilon, "standard_deviation": 1.8 * cost / epsilon, "ceiling": .5 + epsilon / (8 + 2 * epsilon), "accuracy": mean(.7 * (1 - loss)),
                       "utility_loss": mean(loss), "attacks": {a: {"auc": mean(.5 + f * leak), "balanced_accuracy": mean(.5 + .8 * f * leak),
                                                                   "tpr_at_fpr": {"0.01": mean(.01 + f * leak, .002), "0.001": None}}
                                                               for a, f in (("loss", 1), ("lira", 1.6))}})
    return {"case": case, "title": title, "mechanism": mechanism, "norms": norms, "l1": .6, "l2": .04, "draws": 20, "points": points}


sweeps = [sweep("linear", "Linear head, 10,000 records", "logistic", "entrywise", 3), sweep("linear", "Linear head, 10,000 records", "logistic", "paper", .3),
          sweep("linear", "Linear head, 10,000 records", "gaussian-classical", "entrywise", .5, False),
          sweep("mlp", "MLP head, 512 hidden units, 500 records", "laplace", "entrywise", 9)]
for row in (rows[0], rows[-1]):
    row["utility"]["classes"] = [{"class": c, "estimate": e, "lower": round(e - .02, 3), "upper": round(e + .02, 3), "n": 1000}
                                 for c, e in enumerate([.81, .96, .62, .8, .7, .88, .31, .86, .92, .95])]
document = {
    "schema": "sotto.report/1", "title": "Example: a head that leaks, and what noise does to it",
    "run": {"name": "example", "version": "0.1.0", "created": "2026-01-31T12:00:00Z", "isa": "v4", "dtype": "f32", "backend": "dnnl",
            "threads": 2, "seed": 1, "seconds": 212.5, "insecure_noise": False},
    "data": {"name": "synthetic-example", "title": "Simulated logits (made up for this example)", "origin": "tools/example_report.py",
             "sha256": "0" * 64, "synthetic": True, "records": 70000, "classes": 10, "shape": "1x28x28"},
    "splits": [{"name": "public", "records": 20000, "use": "pre-trains the encoder"},
               {"name": "private", "records": 10500, "use": "trains the heads: the members"},
               {"name": "heldout", "records": 10000, "use": "measures accuracy; the non-members"}],
    "encoder": {"name": "keras-simclr", "parameters": 462848, "dimension": 128, "trained_on": "20,000 public images", "method": "simclr"},
    "rows": rows,
    "training": [{"title": "SimCLR pre-training", "x": "epoch",
                  "series": [{"name": "loss", "points": [[e, 5.2 * .86 ** e + 1.1] for e in epochs]},
                             {"name": "contrastive accuracy", "points": [[e, .9 - .7 * .8 ** e] for e in epochs]}]}],
    "sweeps": sweeps,
    "reproduce": {"command": "sotto run experiments/demo.yaml", "config_name": "demo.yaml", "config": "name: example\nseed: 1\n",
                  "inputs": [{"name": "train-images", "sha256": "ab" * 32}], "versions": {"sotto": "0.1.0", "oneDNN": "2.6.3"}},
    "card": {"intended_use": "to show what a report looks like", "licence": "none: the numbers were simulated"},
    "warnings": ["this document is an example; its numbers were simulated"]}
json.dump(document, sys.stdout, separators=(",", ":"), ensure_ascii=False)
print()

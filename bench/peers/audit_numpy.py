#!/usr/bin/env python3
"""Attacks on arrays in NumPy, at most two lines a formula and no loop over records, and Privacy Meter 1.0.1's reference attack.

  --attack A [--records N --models M]   time of one attack, its ROC and area: one JSON line
  --strength DIR...                     each DIR: arrays of bench_audit_attacks and its scores; the areas beside each other,
                                        with a paired bootstrap of their difference (ours minus theirs)

x: signals ln(p / (1 - p)) of the reference models (n, M); t: where they were trained; s: of the target."""
import argparse
import json
import os
import sys
import time
from unittest import mock

import numpy as np
from scipy.special import expit


def sides(x, t):
    return np.where(t, x, np.nan), np.where(t, np.nan, x)


def lira(s, x, t):  # Carlini et al. 2022, variances of each record
    (a, va), (b, vb) = [(np.nanmean(side, 1), np.nanvar(side, 1) + 1e-30) for side in sides(x, t)]
    return ((s - b) ** 2 / vb - (s - a) ** 2 / va + np.log(vb / va)) / 2


def lira_pooled(s, x, t):  # section VI-B: one variance for all records
    (a, va), (b, vb) = [(np.nanmean(side, 1), np.nanvar(side - np.nanmean(side, 1, keepdims=True))) for side in sides(x, t)]
    return ((s - b) ** 2 / vb - (s - a) ** 2 / va + np.log(vb / va)) / 2


def lira_offline(s, x, t):
    out = sides(x, t)[1]
    return (s - np.nanmean(out, 1)) / (np.nanstd(out, 1) + 1e-15)


def rmia(s, x, t):  # Zarifzadeh et al. 2024; g orders records as the share of a population that is dominated
    inside, outside = [np.nanmean(side, 1) for side in sides(expit(x), t)]
    return expit(s) / ((inside + outside) / 2)


def rmia_offline(s, x, t, a=0.3):
    outside = np.nanmean(sides(expit(x), t)[1], 1)
    return expit(s) / (((1 + a) * outside + 1 - a) / 2)


def privacy_meter(s, x, t):
    """Its reference attack with the logit-rescaled Gaussian, on OUT models: the share of its 100 levels at which it says "member".
    Offline: it knows no masks, and takes as many OUT models of each record as the record with fewest has."""
    import scipy.stats, sklearn.linear_model  # before the frameworks seem to be there
    with mock.patch.dict(sys.modules, {name: mock.MagicMock() for name in ("tensorflow", "torch", "opacus")}):  # imported, not used here
        from privacy_meter.hypothesis_test import logit_rescale_threshold_func
        from privacy_meter.metric import ReferenceMetric
    fewest = int((~t).sum(1).min())
    out = np.take_along_axis(x, np.argsort(t, 1, kind="stable")[:, :fewest], 1)
    m = ReferenceMetric.__new__(ReferenceMetric)
    m.hypothesis_test_func = logit_rescale_threshold_func
    m.member_signals, m.non_member_signals = np.logaddexp(0, -s), np.empty(0)  # losses; the split is only for its report
    m.reference_member_signals, m.reference_non_member_signals = np.logaddexp(0, -out), np.logaddexp(0, -out[:1])
    m.non_member_signals = m.member_signals[:1]
    said = m.run_metric(np.linspace(0, 1, 101)[1:-1])[0].predicted_labels
    return np.asarray(said)[:, :-1].mean(0)


ATTACKS = {"lira": lira, "lira-pooled": lira_pooled, "lira-offline": lira_offline, "rmia": rmia, "rmia-offline": rmia_offline,
           "privacy-meter": privacy_meter}
OURS = {"privacy-meter": "lira-offline"}


def area(scores, member, weight=None):
    """Of the curve, ties counting half; weight: how often each record was drawn."""
    _, place = np.unique(scores, return_inverse=True)
    w = np.ones(len(scores)) if weight is None else weight
    a, b = np.bincount(place, w * member), np.bincount(place, w * ~member)
    return float((a * (np.cumsum(b) - b / 2)).sum() / (a.sum() * b.sum()))


def made_up(n, models):
    rng = np.random.default_rng(1)
    member, t, own = np.arange(n) < n // 2, rng.integers(0, 2, (n, models)).astype(bool), rng.normal(1, 1.5, n)
    return own + rng.normal(0, 1, n) + member, own[:, None] + rng.normal(0, 1, (n, models)) + t, t, member


def time_attack(args):
    s, x, t, member = made_up(args.records, args.models)
    if args.attack == "privacy-meter":
        privacy_meter(s[:100], x[:100], t[:100])  # the import is not timed
    wall, cpu = time.perf_counter(), time.process_time()
    scores = ATTACKS[args.attack](s, x, t)
    found = area(scores, member)
    tpr = float((scores[member] > np.quantile(scores[~member], 0.99)).mean())
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"what": "audit-attack", "attack": args.attack, "records": args.records, "models": args.models,
                      "wall_ms": round(1e3 * wall, 1), "cpu_ms": round(1e3 * cpu, 1), "auc": round(found, 5),
                      "tpr_at_1_percent": round(tpr, 4), "records_per_second": round(args.records / wall)}))


def strength(folders, draws):
    worst = 0
    for folder in folders:
        s, member, x, t = [np.load(os.path.join(folder, f + ".npy")) for f in ("target", "member", "reference", "trained")]
        member, t, rng = member.astype(bool), t.astype(bool), np.random.default_rng(1)
        weights = rng.multinomial(len(s), np.full(len(s), 1 / len(s)), draws).astype(float)
        for name, attack in ATTACKS.items():
            ours = np.load(os.path.join(folder, OURS.get(name, name) + ".npy"))
            theirs = np.nan_to_num(attack(s, x, t), nan=-np.inf)
            difference = area(ours, member) - area(theirs, member)
            drawn = [area(ours, member, w) - area(theirs, member, w) for w in weights]
            low, high = np.quantile(drawn, [0.025, 0.975])
            worst = min(worst, difference)
            print(f"| {os.path.basename(folder)} | {name} | {area(ours, member):.4f} | {area(theirs, member):.4f} | "
                  f"{difference:+.4f} [{low:+.4f}, {high:+.4f}] |", flush=True)
    print(f"worst difference of the area: {worst:+.4f} (must be at least -0.005)")
    sys.exit(worst < -0.005)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attack", choices=ATTACKS)
    parser.add_argument("--records", type=int, default=100000)
    parser.add_argument("--models", type=int, default=64)
    parser.add_argument("--strength", nargs="+")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1, help="NumPy uses one")
    args = parser.parse_args()
    strength(args.strength, args.draws) if args.strength else time_attack(args)

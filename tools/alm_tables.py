#!/usr/bin/env python3
"""Prints the tables of notes/results.md for an experiment of the additive logistic mechanism paper.

usage: tools/alm_tables.py runs/alm-cifar10
"""
import json
import os
import sys

folder = sys.argv[1]
stages = json.load(open(os.path.join(folder, "run.json")))["stages"]


def rows():
    """Unprotected heads that are measured, in order; an unfinished run gives what it has."""
    for name, entry in stages.items():
        kind, _, case = name.partition("/")
        if kind == "measure" and f"head/{case}" in stages:
            yield case, entry["result"], {a["name"]: a for a in json.load(open(os.path.join(folder, "attacks", case + ".json")))["attacks"]}


def stage(kind, name):
    entry = stages.get(f"{kind}/{name}")
    return entry["result"] if entry else None


def interval(e, digits=3):
    return f"{e['estimate']:.{digits}f} [{e['lower']:.{digits}f}, {e['upper']:.{digits}f}]" if e else "-"


def mean(m, digits=3):
    return f"{m['mean']:.{digits}f} [{m['lower']:.{digits}f}, {m['upper']:.{digits}f}]" if m else "-"


print("### Where leakage begins\n\n| head, records | train / held-out accuracy | loss AUC | LiRA AUC | RMIA AUC | network AUC | LiRA TPR at 1 % FPR |")
print("|---|---|---|---|---|---|---|")
for case, result, attacks in rows():
    auc = lambda name: interval(attacks[name]["auc"]) if name in attacks else "-"
    low = attacks.get("lira", attacks["loss"])["tpr_at_fpr"].get("0.01")
    print(f"| {case} | {result['train_accuracy']:.3f} / {result['accuracy']['estimate']:.3f} | {auc('loss')} | "
          f"{auc('lira')} | {auc('rmia')} | {auc('shadow-network')} | {interval(low) if low else '-'} |")

print("\n### Table 1: sensitivity over replace-one pairs\n\n| head, records | pairs | L1 (mean) | L2 (mean) | L1 / L2 | induced | per tensor (ratio) | bias |")
print("|---|---|---|---|---|---|---|---|")
for case, _, _ in rows():
    s = stage("sensitivity", case)
    if not s:
        continue
    if s["proved"]:
        print(f"| {case} | proved | {s['l1']:.4g} | {s['l2']:.4g} | {s['l1'] / s['l2']:.1f} | | sampled beside it: "
              f"L1 {s.get('sampled_l1', float('nan')):.4g}, L2 {s.get('sampled_l2', float('nan')):.4g} | |")
        continue
    p = s["paper_norms"]
    pair = lambda k: f"{p[k][0]:.4g} / {p[k][1]:.4g}"
    ratio = p["per-tensor"][0] / p["per-tensor"][1] if p["per-tensor"][1] else float("nan")
    print(f"| {case} | {s['pairs']} | {s['l1']:.4g} ({s['mean_l1']:.3g}) | {s['l2']:.4g} ({s['mean_l2']:.3g}) | {s['l1'] / s['l2']:.1f} | "
          f"{pair('induced')} | {pair('per-tensor')} ({ratio:.3f}) | {pair('bias')} |")

sweeps = [entry["result"] for name, entry in stages.items() if name.startswith("sweep/")]
for name in dict.fromkeys(c["case"] for c in sweeps):
    curves = [c for c in sweeps if c["case"] == name]
    attacks = list(curves[0]["points"][0]["attacks"])
    print(f"\n### Sweep of {name} ({curves[0]['draws']} draws)\n\n| noise | target epsilon | implied | standard deviation | utility loss | ceiling | TPR ceiling at 1 % | "
          + " | ".join(f"{a}: accuracy" for a in attacks) + " | " + " | ".join(f"{a}: AUC" for a in attacks) + " |")
    print("|---" * (7 + 2 * len(attacks)) + "|")
    for c in curves:
        label = c["mechanism"] + ("" if c["norms"] == "entrywise" else f", {c['norms']} norms")
        for p in c["points"]:
            implied = f"{p['implied_epsilon']:.4g}" if p["implied_epsilon"] is not None else "none"
            print(f"| {label} | {p.get('epsilon', '-')} | {implied} | {p['standard_deviation']:.3g} | {mean(p['utility_loss'])} | {p['ceiling']:.3f} | {p.get('tpr_ceiling', {}).get('0.01', float('nan')):.3f} | "
                  + " | ".join(mean(p["attacks"][a]["balanced_accuracy"]) for a in attacks) + " | "
                  + " | ".join(mean(p["attacks"][a]["auc"]) for a in attacks) + " |")

seconds = {}
for name, entry in stages.items():
    seconds[name.split("/")[0]] = seconds.get(name.split("/")[0], 0) + entry["seconds"]
print("\nSeconds: " + ", ".join(f"{k} {v:.0f}" for k, v in seconds.items()) + f"; total {sum(seconds.values()):.0f}.")

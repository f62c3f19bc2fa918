#!/usr/bin/env python3
"""Arrays and logs of queries for experiments/monitor.sh, and its tables.

    streams.py data FOLDER IMAGES_GZ LABELS_GZ   Fashion-MNIST at 14 x 14 without equal images: the parts, and what is left
    streams.py layers HEAD.safetensors OUT.npz   the head as examples/serve_numpy.py reads it
    streams.py benign FOLDER S                   a benign stream and a calibration of its own: calibration-S.npy, benign-S.log
    streams.py cover FOLDER                      benign rows that are in no calibration, for attackers that hide
    streams.py cut FOLDER LABEL ATTACK           one line: the attack with all answers, and with those before the alarm
    streams.py vary FOLDER ATTACK                logs of that attack's rows as other attackers would send them
    streams.py row FOLDER ATTACK                 one line of the first table
    streams.py alarms LABEL LOG.json...          how many clients of each log raise an alarm, and when
    streams.py lives LOG.json...                 how many streams alarm at each alpha
"""
import gzip
import json
import math
import os
import struct
import sys

import numpy as np

sys.path[:0] = [os.path.join(os.path.dirname(__file__), up, "examples") for up in ("../..", "../../../../..")]
from serve_numpy import load

BLOCK, LIFE, CALIBRATION = 50, 2000, 20000


def data(folder, images, labels):
    x = np.frombuffer(gzip.open(images).read(), np.uint8, offset=16).reshape(-1, 14, 2, 14, 2)
    y = np.frombuffer(gzip.open(labels).read(), np.uint8, offset=8).astype(np.int64)
    x = (x.mean((2, 4)) / 255).astype("<f4").reshape(len(y), 196)
    _, first = np.unique(x, axis=0, return_index=True)
    rows = np.random.default_rng(1).permutation(np.sort(first))
    for name, n in (("member", 1000), ("nonmember", 1000), ("attacker", 2000), ("bank", 1000), ("pool", len(rows) - 5000)):
        part, rows = rows[:n], rows[n:]
        np.save(f"{folder}/{name}.npy", x[part])
        np.save(f"{folder}/{name}-labels.npy", y[part])
    for name in ("member", "nonmember"):  # for attacks that ask hundreds of times for each record
        for some, n in (("few", 50), ("some", 200)):
            np.save(f"{folder}/{some}-{name}.npy", np.load(f"{folder}/{name}.npy")[:n])
            np.save(f"{folder}/{some}-{name}-labels.npy", np.load(f"{folder}/{name}-labels.npy")[:n])


def layers(head, out):
    raw = open(head, "rb").read()
    size = struct.unpack("<Q", raw[:8])[0]
    tensors = {}
    for name, t in json.loads(raw[8:8 + size]).items():
        if name != "__metadata__":
            first, last = t["data_offsets"]
            tensors[name] = np.frombuffer(raw[8 + size + first:8 + size + last], "<f4").reshape(t["shape"])
    np.savez(out, **tensors)


def answers(folder, x):
    return load(f"{folder}/target.npz")(x).astype("<f4")


def benign(folder, s):
    pool = np.load(f"{folder}/pool.npy")
    rows = np.random.default_rng((2, int(s))).permutation(len(pool))[:CALIBRATION + LIFE]
    c, life = pool[rows[:CALIBRATION]], pool[rows[CALIBRATION:]]
    np.save(f"{folder}/calibration-{s}-answers.npy", answers(folder, c))
    write(f"{folder}/benign-{s}.log", [("client", life, answers(folder, life))])
    np.save(f"{folder}/calibration-{s}.npy", c)


def cover(folder):
    pool = np.load(f"{folder}/pool.npy")
    np.save(f"{folder}/cover.npy", pool[np.random.default_rng((2, 0)).permutation(len(pool))[CALIBRATION + LIFE:]])


def write(path, parts):
    with open(path + ".part", "wb") as log:
        for name, x, p in parts:
            log.write(f"client {name}\n".encode())
            np.save(log, x)
            np.save(log, p)
    os.rename(path + ".part", path)


def read(path):
    x, p = [], []
    with open(path, "rb") as log:
        while log.peek(1):
            x.append(np.load(log))
            p.append(np.load(log))
    return np.concatenate(x), np.concatenate(p)


def vary(folder, attack):
    """20 clients for each variant, all of 6,000 rows or as many as the attack has."""
    x, p = read(f"{folder}/{attack}.log")
    pool = np.load(f"{folder}/pool.npy")
    pool = pool[np.random.default_rng((2, 0)).permutation(len(pool))[CALIBRATION:]]  # the calibration is stream 0's

    def mixed(r, share, block=1):
        """The attack's rows in their order, at random places among benign ones; block rows at a time."""
        n = 6000
        own = np.repeat(r.random(n // block) < share, block)
        own[np.cumsum(own) > len(x)] = False
        rows = pool[r.permutation(len(pool))[:n]]
        say = answers(folder, rows)
        rows[own], say[own] = x[:own.sum()], p[:own.sum()]
        return rows, say

    for share in (.5, .2, .1, .05):
        write(f"{folder}/{attack}-dilute-{share}.log", [(f"c{s}", *mixed(np.random.default_rng((3, s)), share)) for s in range(20)])
        write(f"{folder}/{attack}-blocks-{share}.log",
              [(f"c{s}", *mixed(np.random.default_rng((4, s)), share, BLOCK)) for s in range(20)])
    parts, past = [], []
    for s in range(20):
        r = np.random.default_rng((5, s))
        rows = r.permutation(len(x))[:6000]
        parts.append((f"c{s}", x[rows], p[rows]))
        before = pool[r.permutation(len(pool))[:10000]]
        past.append((f"c{s}", np.concatenate((before, x[:2000])), np.concatenate((answers(folder, before), p[:2000]))))
    write(f"{folder}/{attack}-shuffle.log", parts)
    write(f"{folder}/{attack}-past.log", past)
    for accounts in (4, 20, 100):
        write(f"{folder}/{attack}-accounts-{accounts}.log",
              [(f"c{i % accounts}", x[i:i + 1], p[i:i + 1]) for i in range(min(len(x), 6000))])


def shown(n):
    return f"{n:,}" if n else "never"


def row(folder, attack):
    m = json.load(open(f"{folder}/{attack}.json"))
    c = m["clients"][0]
    r = json.load(open(f"{folder}/{attack}/result.json"))
    auc = r["attacks"][0]["auc"]
    reached = [c["statistics"][k]["reached"] for k in ("near", "off", "margin")]
    share = f"{c['alarm'] / c['rows']:.3f}" if c["alarm"] else "1"
    print(f"| {attack} | {auc['estimate']:.3f} [{auc['lower']:.3f}, {auc['upper']:.3f}] | {c['rows']:,} | **{shown(c['alarm'])}** | "
          + " | ".join(shown(n) for n in reached) + f" | {share} |")


def cut(folder, label, name):
    m = json.load(open(f"{folder}/{label}.json"))
    cells = []
    for result in (f"all-{name}", label):
        r = json.load(open(f"{folder}/{result}/result.json"))["attacks"][0]
        rate = r["tpr_at_fpr"]["0.01"]
        cells += [f"{e['estimate']:.3f} [{e['lower']:.3f}, {e['upper']:.3f}]" if e else "-" for e in (r["auc"], rate)]
    clients = m["clients"]
    asked = sum(c["rows"] for c in clients)
    before = sum(c["alarm"] or c["rows"] for c in clients)
    at = sorted(c["alarm"] for c in clients if c["alarm"])
    found = f"{len(at)} of {len(clients)}, row {at[len(at) // 2]:,}" if at else "never"
    print(f"| {label} | {asked:,} | {found} | {before / asked:.3f} | " + " | ".join(cells) + " |")


def alarms(label, *logs):
    for log in logs:
        m = json.load(open(log))
        at = sorted(c["alarm"] for c in m["clients"] if c["alarm"])
        service = m["service"] and m["service"]["alarm"]
        text = f"{len(at)} of {len(m['clients'])}" + (f", after {at[0]:,} to {at[-1]:,}, median {at[len(at) // 2]:,}" if at else "")
        print(label, text, f"service {shown(service)}" if m["service"] else "")


def lives(*logs):
    most = []
    for log in logs:
        m = json.load(open(log))
        most.append(max(max(s["log_wealth"]) for c in m["clients"] for s in c["statistics"].values()))
    for alpha in (.5, .2, .1, .05, .01, .001):
        hits, n = sum(w >= math.log(3 / alpha) for w in most), len(most)
        tail = sum(math.comb(n, k) * alpha**k * (1 - alpha)**(n - k) for k in range(hits, n + 1))
        print(f"alpha {alpha}: {hits} of {n} streams alarm; P(as many or more | alpha) = {tail:.4f}")
    print("largest wealth of all", math.exp(max(most)))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])

#!/usr/bin/env python3
"""Exact noise by OpenDP: draws a second of a vector of floats, in one thread. One JSON line."""
import argparse
import json
import statistics
import time

import opendp.prelude as dp

parser = argparse.ArgumentParser()
parser.add_argument("--law", choices=["gaussian", "laplace"], default="gaussian")
parser.add_argument("--threads", type=int, default=1, help="not used: OpenDP draws in one")
parser.add_argument("--draws", type=int, default=20000)
args = parser.parse_args()
dp.enable_features("contrib")
distance = dp.l2_distance(T=float) if args.law == "gaussian" else dp.l1_distance(T=float)
space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), distance
draw = space >> (dp.m.then_gaussian(scale=1.37) if args.law == "gaussian" else dp.m.then_laplace(scale=1.37))
zeros, times = [0.0] * args.draws, []
for _ in range(9):
    start = time.process_time()
    draw(zeros)
    times.append(time.process_time() - start)
print(json.dumps({"bench": "noise", "law": args.law, "draws_per_second": round(args.draws / statistics.median(times), 1)}))

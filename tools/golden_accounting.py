"""What dp-accounting and prv-accountant say on a grid of mechanisms: writes tests/golden/known/accounting_grid.csv.

    bench/peers/setup --accounting FOLDER
    FOLDER/bin/python tools/golden_accounting.py > tests/golden/known/accounting_grid.csv

One line per (mechanism, parameter, sampling rate, compositions, delta). Columns that a package does not answer
(it has no such mechanism, it raises, runs out of memory or needs more than two minutes) are empty and the note says which.
  pld_lower, pld_upper  dp-accounting's PLD, optimistic and pessimistic estimate at its default interval 1e-4
  rdp_upper             dp-accounting's RDP accountant, default orders
  prv_lower, prv_upper  prv-accountant, eps_error 0.01, delta_error delta / 1000
  exact                 a closed form evaluated with 60 digits (mpmath), where there is one
Sensitivities are 1 (l1 for laplace, l2 for gaussian). parameter: scale, noise multiplier (sampled gaussian) or, for
randomised-response, the probability that a bit is replaced by a fair one. Every package answers all deltas of one
mechanism in one process, which may take eight gigabytes and two minutes.
"""
import argparse
import itertools
import math
import multiprocessing
import resource
import sys
import time

import dp_accounting
import mpmath
from dp_accounting import dp_event
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.rdp import rdp_privacy_accountant as rdp
import prv_accountant
from prv_accountant import privacy_random_variables as prv

MEMORY, SECONDS = 8 << 30, 120
ONE = dp_accounting.NeighboringRelation.REPLACE_ONE


def grid():
    deltas = (1e-3, 1e-5, 1e-10, 1e-15)
    for k, sigmas in ((1, (0.04, 0.2, 1, 5, 50, 1000)), (16, (0.15, 1, 20, 2000)), (1000, (1.1, 10, 300, 20000))):
        for sigma in sigmas:
            for delta in deltas:
                yield "gaussian", sigma, 1, k, delta
    for k, scales in ((1, (0.002, 0.1, 1, 20, 900)), (10, (0.02, 1, 50)), (100, (1, 20, 500)), (1000, (5, 100))):
        for scale in scales:
            for delta in deltas:
                yield "laplace", scale, 1, k, delta
    for sigma in (0.8, 1.0, 2.0):
        for q in (0.001, 0.01, 0.1):
            for steps in (100, 1000, 10000):
                yield "gaussian", sigma, q, steps, 1e-5
    for sigma, q, steps in ((1.1, 0.01, 10000), (0.4, 0.001, 1000), (0.6, 0.02, 500), (4, 0.25, 300), (30, 0.5, 100),
                            (1.5, 0.04, 2250), (1, 0.5, 1), (2, 0.9, 10), (0.5, 0.2, 100), (8, 0.0005, 20000)):
        for delta in deltas:
            yield "gaussian", sigma, q, steps, delta
    for k, scales in ((1, (0.1, 2, 40)), (30, (1, 20))):
        for scale in scales:
            for delta in deltas:
                yield "discrete-laplace", scale, 1, k, delta
    for k, sigmas in ((1, (0.3, 1, 20)), (50, (0.7, 30))):
        for sigma in sigmas:
            for delta in deltas:
                yield "discrete-gaussian", sigma, 1, k, delta
    for k, flips in ((1, (0.01, 0.5, 0.99)), (100, (0.9, 0.999))):
        for flip in flips:
            for delta in deltas:
                yield "randomised-response", flip, 1, k, delta


def pld_of(mechanism, x, q, pessimistic, interval=1e-4):
    how = {"pessimistic_estimate": pessimistic, "value_discretization_interval": interval}
    dots = {"use_connect_dots": pessimistic}  # the only discretisation with an optimistic side is "privacy buckets"
    if mechanism == "gaussian":
        return pld.from_gaussian_mechanism(x, sampling_prob=q, **how, **dots)
    if mechanism == "laplace":
        return pld.from_laplace_mechanism(x, **how, **dots)
    if mechanism == "discrete-laplace":
        return pld.from_discrete_laplace_mechanism(1 / x, **how, **dots)
    if mechanism == "discrete-gaussian":
        return pld.from_discrete_gaussian_mechanism(x, **how, **dots)
    if mechanism == "randomised-response":
        return pld.from_randomized_response(x, 2, neighboring_relation=ONE, **how)
    raise ValueError(mechanism)


def pld_epsilons(mechanism, x, q, k, deltas, pessimistic):
    p = pld_of(mechanism, x, q, pessimistic)
    composed = p.self_compose(k)
    return [composed.get_epsilon_for_delta(delta) for delta in deltas]


def pld_lower(*row):
    return pld_epsilons(*row, False)


def pld_upper(*row):
    return pld_epsilons(*row, True)


def rdp_upper(mechanism, x, q, k, deltas):
    events = {"gaussian": dp_event.GaussianDpEvent, "laplace": dp_event.LaplaceDpEvent}
    if mechanism not in events:
        return None
    event = events[mechanism](x)
    if q < 1:
        event = dp_event.PoissonSampledDpEvent(q, event)
    accountant = rdp.RdpAccountant().compose(dp_event.SelfComposedDpEvent(event, k))
    return [accountant.get_epsilon(delta) for delta in deltas]


def prv_both(mechanism, x, q, k, deltas):
    if mechanism == "gaussian" and q < 1:
        variable = prv.PoissonSubsampledGaussianMechanism(noise_multiplier=x, sampling_probability=q)
    elif mechanism == "gaussian":
        variable = prv.GaussianMechanism(noise_multiplier=x)
    elif mechanism == "laplace":
        variable = prv.LaplaceMechanism(mu=1 / x)
    else:
        return None
    answers = []
    for delta in deltas:
        try:
            accountant = prv_accountant.PRVAccountant([variable], eps_error=0.01, delta_error=delta / 1000,
                                                      max_self_compositions=[k])
            answers.append(accountant.compute_epsilon(delta, [k])[::2])
        except Exception as problem:
            answers.append(type(problem).__name__)
    return answers


def exact_epsilon(row):
    mechanism, x, q, k, delta = row
    with mpmath.workdps(60):
        if mechanism == "gaussian" and q == 1:
            t = mpmath.sqrt(k) / mpmath.mpf(x)
            gap = lambda e: mpmath.ncdf(t / 2 - e / t) - mpmath.exp(e) * mpmath.ncdf(-t / 2 - e / t) - mpmath.mpf(delta)
            if gap(mpmath.mpf(0)) <= 0:
                return 0.0
            high = mpmath.mpf(1)
            while gap(high) > 0:
                high *= 2
            low = mpmath.mpf(0)
            for _ in range(120):
                middle = (low + high) / 2
                low, high = (middle, high) if gap(middle) > 0 else (low, middle)
            return float(high)
        if mechanism == "discrete-laplace":  # one step: losses of +-e, composed exactly
            e = 1 / mpmath.mpf(x)
            p = 1 / (1 + mpmath.exp(-e))
            best = upper = lower = mpmath.mpf(0)
            for l in range(k + 1):
                weight = mpmath.binomial(k, l) * p ** (k - l) * (1 - p) ** l
                upper, lower = upper + weight, lower * mpmath.exp(-2 * e) + weight
                if upper > delta:
                    best = max(best, (k - 2 * l) * e + mpmath.log((upper - mpmath.mpf(delta)) / lower))
            return float(best)
        if mechanism == "laplace" and k == 1:
            return max(0.0, float(1 / mpmath.mpf(x) + 2 * mpmath.log1p(-mpmath.mpf(delta))))
    return None


def guarded(work, row, answer):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        start = time.process_time()
        value = work(*row)
        answer.send((value, time.process_time() - start))
    except BaseException as problem:  # what the package could not do is part of the result
        answer.send((type(problem).__name__, 0))


def run(work, row):
    """The answers for all deltas of a row, or a word on why there are none; and the CPU seconds."""
    here, there = multiprocessing.Pipe()
    child = multiprocessing.Process(target=guarded, args=(work, row, there), daemon=True)
    child.start()
    there.close()
    try:
        reply = here.recv() if here.poll(SECONDS) else ("over two minutes", 0)
    except EOFError:
        reply = ("killed", 0)
    child.kill()
    child.join()
    return ("not built in", 0) if reply[0] is None else reply


def cell(value):
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else repr(float(value))


def time_dp_sgd():
    """q 0.01, sigma 1.1, 10,000 steps, delta 1e-5: median CPU seconds of five runs, one thread."""
    row = ("gaussian", 1.1, 0.01, 10000, [1e-5])
    for name, work in (("dp-accounting, PLD, interval 1e-4", pld_upper), ("dp-accounting, RDP", rdp_upper),
                       ("prv-accountant, eps_error 0.01", prv_both)):
        seconds = []
        for _ in range(5):
            start = time.process_time()
            answer = work(*row)
            seconds.append(time.process_time() - start)
        print(f"{name}: {answer[0]} in {sorted(seconds)[2] * 1e3:.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", action="store_true", help="add a column of CPU seconds: pld, rdp, prv")
    parser.add_argument("--only", default="", help="rows of one mechanism")
    parser.add_argument("--dp-sgd", action="store_true", help="only time the DP-SGD example")
    parser.add_argument("--list", action="store_true", help="only count the rows")
    options = parser.parse_args()
    if options.dp_sgd:
        time_dp_sgd()
        return
    rows = [r for r in grid() if options.only in r[0]]
    if options.list:
        print(len(rows))
        return
    print("mechanism,parameter,sample_rate,compose,delta,pld_lower,pld_upper,rdp_upper,prv_lower,prv_upper,exact,note" +
          (",seconds" if options.seconds else ""))
    done = 0
    for key, group in itertools.groupby(rows, lambda r: r[:4]):
        deltas = [r[4] for r in group]
        answers = {work: run(work, (*key, deltas)) for work in (pld_lower, pld_upper, rdp_upper, prv_both)}
        for i, delta in enumerate(deltas):
            cells, notes = [], []
            for work, (values, _) in answers.items():
                value = values if isinstance(values, str) else values[i]
                if isinstance(value, str):
                    notes.append(f"{work.__name__[:3]}: {value}")
                    value = None
                if work is prv_both:
                    cells += [cell(v) for v in value or (None, None)]
                else:
                    cells.append(cell(value))
            line = [key[0], *(repr(v) for v in key[1:]), repr(delta), *cells, cell(exact_epsilon((*key, delta))),
                    "; ".join(dict.fromkeys(notes))]
            print(",".join(line + ([" ".join("%.3f" % took for _, took in answers.values())] if options.seconds else [])),
                  flush=True)
            done += 1
            print(f"\r{done}/{len(rows)}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

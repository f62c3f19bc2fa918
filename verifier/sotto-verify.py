#!/usr/bin/env python3
"""Checks a certificate of sotto with Python's standard library alone (3.9 or newer), without any code of sotto.

    sotto-verify.py FILE [--ledger LEDGER] [--released FILE] [--trust KEY]...
    sotto-verify.py --total LEDGER
    sotto-verify.py --self-test

FILE: a certificate, or a released file with FILE.certificate.json beside it. KEY: a key file, or 64 digits.
Exit code: 0 consistent, 1 a check failed, 2 not decided (of a ledger: its total), 64 usage, 65 not a certificate, 66 a file is missing,
74 the report cannot be written.

From top to bottom: signatures, accounts, the certificate, the released file, the ledger, the report. What is not checked is
listed in the report: above all the sensitivity of a trained file, which 'sotto verify' derives from the file's recipe, and the
account of a run in a certificate whose noise is not Gaussian, with gradients clipped by L2. Formats: docs/FORMATS.md. Formulas: docs/derivations.
"""
import argparse, ast, calendar, decimal, functools, hashlib, json, math, os, re, struct, sys, time
from decimal import Decimal
from fractions import Fraction

NEWEST = (0, 2, 0)  # the version of sotto that this file belongs to; it does not know what later ones write

# ---- signatures: Ed25519 (RFC 8032, section 5.1), points (x, y) of -x^2 + y^2 = 1 + d x^2 y^2 modulo P ----
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
CURVE_D = -121665 * pow(121666, -1, P) % P
ZERO = (0, 1)


def point_add(a, b):
    product = CURVE_D * a[0] * b[0] * a[1] * b[1]
    return ((a[0] * b[1] + a[1] * b[0]) * pow(1 + product, -1, P) % P,
            (a[1] * b[1] + a[0] * b[0]) * pow(1 - product, -1, P) % P)


def point_times(k, a):
    total = ZERO
    while k:
        total = point_add(total, a) if k & 1 else total
        a, k = point_add(a, a), k >> 1
    return total


def point_encode(a):
    return (a[1] | (a[0] & 1) << 255).to_bytes(32, "little")


def point_decode(data):
    """None: not a point, or not its only encoding."""
    number = int.from_bytes(data, "little")
    y, odd = number % 2**255, number >> 255
    square = (y * y - 1) * pow(CURVE_D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != square or (x == 0 and odd):
        return None
    return (x if x & 1 == odd else P - x, y)


BASE = point_decode((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def public_key(seed):
    number = int.from_bytes(hashlib.sha512(seed).digest()[:32], "little")
    return point_encode(point_times(number & (2**254 - 8) | 2**254, BASE))


def signature_valid(key, message, signature):
    """S B - h A is R, as bytes. Points of small order, under which one signature fits many messages, are refused."""
    a, r, s = point_decode(key), point_decode(signature[:32]), int.from_bytes(signature[32:], "little")
    if not a or not r or s >= ORDER or point_times(8, a) == ZERO or point_times(8, r) == ZERO:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    minus_a = (P - a[0], a[1])
    return point_encode(point_add(point_times(s, BASE), point_times(h, minus_a))) == signature[:32]


# ---- accounts: epsilon of one release, in decimal numbers of 80 digits, of which no formula below loses more than 30. A root
# is taken from its upper side, and MARGIN is added, so that no epsilon that is derived here is smaller than the truth. ----
decimal.getcontext().prec = 80
MARGIN = Decimal(10) ** -40
NEVER = Decimal("Infinity")
SAMPLERS = {"exact: floor of the continuous law on a power-of-two lattice": 40,  # bits of the scale in lattice steps
            "exact, doubts flat: floor of the continuous law on a lattice; slow draws tell little about their size": 32}


def bits_of(sampler):
    return next((bits for name, bits in SAMPLERS.items() if sampler.startswith(name)), 53)


def falling_root(f, target, top):
    """The smallest e >= 0 with f(e) <= target, from above; f falls, and f(top) <= target."""
    low, high = Decimal(0), top
    if f(low) <= target:
        return low
    for _ in range(140):
        middle = (low + high) / 2
        low, high = (low, middle) if f(middle) <= target else (middle, high)
    return high


@functools.lru_cache(maxsize=None)
def pi(digits):  # Machin: 16 arctan(1/5) - 4 arctan(1/239), in the context's precision, which is `digits`
    def arctan_of_one_over(n):
        power, total, k = Decimal(1) / n, Decimal(0), 1
        while abs(power) > Decimal(10) ** -digits:
            total, power, k = total + power / k, -power / (n * n), k + 2
        return total
    return 16 * arctan_of_one_over(5) - 4 * arctan_of_one_over(239)


def normal_cdf(x):
    """1/2 + density (x + x^3/3 + x^5/15 + ...). Below 0 the half cancels, so digits are added for that."""
    with decimal.localcontext() as context:
        context.prec += int(x * x / 4) + 10
        term, total, k = x, Decimal(0), 1
        while abs(term) > Decimal(10) ** -context.prec or x * x > k:
            total, k = total + term, k + 2
            term = term * x * x / k
        return Decimal(1) / 2 + total * (-x * x / 2).exp() / (2 * pi(context.prec)).sqrt()


def gaussian_curve(t, e):
    """Balle and Wang 2018, theorem 8. Beyond a shift of 30 the second term would need hundreds of digits. It is the density at `near` times
    the normal tail over its density, which is more than each odd convergent of 1/(far + 1/(far + 2/(far + ...))); 61 steps give 80 digits."""
    near, far = t / 2 - e / t, t / 2 + e / t
    if t <= 30:
        return normal_cdf(near) - e.exp() * normal_cdf(-far)
    if near > 12:  # the curve is above 1 - 1e-32, and no delta is
        return Decimal(1)
    ratio = far
    for k in range(61, 0, -1):
        ratio = far + k / ratio
    return normal_cdf(near) - (-near * near / 2).exp() / ((2 * pi(decimal.getcontext().prec)).sqrt() * ratio)


def far_enough(t, delta):
    return t * (t / 2 + (-2 * delta.ln()).sqrt())


def gaussian(t, delta):
    return falling_root(lambda e: gaussian_curve(t, e), delta, far_enough(t, delta))


def gaussian_reaches(t, delta, e):
    """Whether a Gaussian of that shift is (e, delta)."""
    return e >= far_enough(t, delta) or gaussian_curve(t, e) <= delta


def laplace(t, delta):
    return t + 2 * (1 - delta).ln()


def logistic(t, delta):
    return t + 2 * (1 - (delta * (1 - (-t).exp())).sqrt()).ln()


def pure_pair(t, delta):  # randomised response of two labels, which no pure mechanism exceeds
    lost = delta * (1 + (-t).exp())
    return t + (1 - lost).ln() if lost < 1 else Decimal(0)


def discrete_laplace(steps, h, delta):
    b = (-h).exp()

    def curve(e):
        m = int((steps - e / h) / 2)
        return 1 - (b ** (m + 1) + e.exp() * b ** (steps - m)) / (1 + b) if e < steps * h else Decimal(0)
    return falling_root(curve, delta, steps * h)


def renyi(divergence, delta):
    """From Renyi divergence; every order alpha gives a bound, and the best one is looked for (golden section in ln(alpha - 1))."""
    def bound(u):
        less = u.exp()
        return divergence(1 + less) + (less / (1 + less)).ln() - (delta.ln() + (1 + less).ln()) / less
    low, high, golden = Decimal(-16), Decimal(34), (Decimal(5).sqrt() - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = bound(left), bound(right)
    for _ in range(70):
        if at_left < at_right:
            high, right, at_right, left = right, left, at_left, right - golden * (right - low)
            at_left = bound(left)
        else:
            low, left, at_left, right = left, right, at_right, left + golden * (high - left)
            at_right = bound(right)
    return min(at_left, at_right)


def logistic_renyi(t2, n, delta):  # docs/derivations/logistic.md, section 4: spread over all coordinates
    one = t2 / Decimal(n).sqrt()

    def log_sinhc(x):
        return x + ((1 - (-2 * x).exp()) / (2 * x)).ln()
    return renyi(lambda alpha: n * (log_sinhc((alpha - Decimal(1) / 2) * one) - log_sinhc(one / 2)) / (alpha - 1), delta)


def shifts(c, mechanism, scale, bits):
    """Sensitivities over the scale (by L1 or None, by L2), and whole steps and step of discrete noise. Rounding to the lattice
    moves each value by up to half a step on either side."""
    n, s = c["dimension"], {norm: Decimal(c["sensitivity"][norm] or 0) for norm in ("l1", "l2")}
    l1, l2 = s["l1"] or None, s["l2"] or s["l1"]
    if mechanism.startswith("discrete-"):
        step = Decimal(2) ** c["lattice_exponent"]
        far = l2 / step
        most = min(l1 / step if l1 else NEVER, far * far, Decimal(n).sqrt() * far)
        steps = int(most * (1 + Decimal(10) ** -15))
        h = step / scale
        return steps * h, min(l2 / scale, steps * h), steps, h
    if mechanism in ("exponential", "permute-and-flip", "randomised-response", "smooth-median", "objective-perturbation"):
        l2, n = l1, 1 if mechanism in ("exponential", "permute-and-flip") else 0
    elif s["l2"]:
        l1 = min(l1 or NEVER, Decimal(n).sqrt() * l2 if n else NEVER)
    l2 = min(l1, l2)
    step = Decimal(2) ** (math.frexp(scale)[1] - bits)
    return (l1 + n * step) / scale, (l2 + Decimal(n).sqrt() * step) / scale, 0, 0


ZCDP = {"logistic": 6, "exponential": 8}  # rho is the squared shift over this, else over 2


def derive(c, delta):
    """All bounds of one release by name, or None where this program has no formula; and rho of zero-concentrated DP."""
    mechanism, n = c["mechanism"], c["dimension"]
    scale, bits = Decimal(c["scale"]), bits_of(c["sampler"])
    t1, t2, steps, h = shifts(c, mechanism, scale, bits)
    rho = t2 * t2 / ZCDP.get(mechanism, 2)
    if mechanism == "discrete-gaussian" or n < 1:
        return None, rho
    pure = None if mechanism == "gaussian" else t2 if mechanism == "knorm" else t1
    bounds = {} if pure is None else {"pure": pure}
    if delta == 0:
        return bounds, rho
    if mechanism == "gaussian":
        bounds["analytic gaussian"] = gaussian(t2, delta)
    elif mechanism == "knorm":
        bounds["closed form by l2"] = pure_pair(t2, delta)
    elif mechanism == "discrete-laplace":
        bounds["closed form by l1"] = discrete_laplace(steps, h, delta)
    else:
        curve = {"laplace": laplace, "logistic": logistic, "exponential": logistic}.get(mechanism, pure_pair)
        bounds["closed form by l1"] = curve(t1, delta)
    if mechanism == "logistic":
        bounds["l2 theorem, renyi"] = logistic_renyi(t2, n, delta)
    bounds["zcdp"] = renyi(lambda alpha: rho * alpha, delta)
    return {name: max(e + MARGIN, Decimal(0)) for name, e in bounds.items()}, rho


# ---- sampled steps (DP-SGD), and ledgers: a privacy-loss distribution in whole numbers, always rounded so that epsilon
# grows. Formulas and proofs: docs/derivations/pld.md, sections 1 to 3 and 7. Numbers are integers over 2^BITS, masses over 2^MASS.
# Why GUARD is enough: an operation rounds down by less than 1. exp and ln are right to 2^-260 of themselves, so is the series of
# Phi, whose sum is at most e^72 = 2^104; its terms stop below 2^-120, and what follows the last one is smaller than it. Beyond 12 deviations Phi counts
# as 0 or 1, which is off by less than 2^-108. In g(t, x) the second Phi is multiplied by x, but x phi(-t/2 - ln x/t) = phi(t/2 - ln x/t), so
# its series errs by less than 2^-120 there too; roundings by less than x 2^-180, and x q is below 2^41. A wrong ln x moves both
# terms alike: it is another test of the same hypothesis, and tells less than the best by a square of the error. Together: below 2^-106. ----
BITS, MASS = 288, 88
ONE, GUARD = 1 << BITS, 1 << (BITS - 104)
LARGEST_LOSS, MOST_ATOMS, MOST_STEPS = 27, 8192, 2**40


@functools.lru_cache(maxsize=None)
def constants():
    """ln 2 and the square root of 2 pi."""
    with decimal.localcontext() as context:
        context.prec = 110
        return tuple(int(x * ONE) for x in (Decimal(2).ln(), (2 * pi(110)).sqrt()))


def fixed_exp(a):
    """n ln 2 taken out, /256, the series, eight squarings."""
    n, rest = divmod(a, constants()[0])
    rest >>= 8
    term, total, k = ONE, ONE, 0
    while term:
        k += 1
        term = (term * rest >> BITS) // k
        total += term
    for _ in range(8):
        total = total * total >> BITS
    return total << n if n >= 0 else total >> -n


def fixed_ln(x):
    """A float begins, and steps y += 2 (m - e^y)/(m + e^y) triple its digits."""
    n = x.bit_length() - 1 - BITS
    m = x >> n if n >= 0 else x << -n
    y = int(math.log((m >> (BITS - 53)) / 2**53) * 2**53) << (BITS - 53)
    for _ in range(2):
        e = fixed_exp(y)
        y += (2 * (m - e) << BITS) // (m + e)
    return y + n * constants()[0]


def fixed_phi(z):
    """The normal distribution: 1/2 + density (z + z^3/3 + z^5/15 + ...)."""
    if abs(z) >= 12 * ONE:
        return ONE if z > 0 else 0
    square, term, total, k = z * z >> BITS, abs(z), 0, 1
    while term >> (BITS - 120) or 2 * square > k * ONE:
        total += term
        k += 2
        term = (term * square >> BITS) // k
    half = total * fixed_exp(-square // 2) // constants()[1]
    return ONE // 2 + half if z > 0 else ONE // 2 - half


def hockey_stick(t, x):
    """g(t, x): the most that P(S) - x Q(S) can be for Gaussian noise and a shift of t deviations."""
    if x <= 0:
        return ONE - x
    far = (fixed_ln(x) << BITS) // t
    return fixed_phi(t // 2 - far) - (x * fixed_phi(-(t // 2) - far) >> BITS)


def laplace_stick(t, x):
    near = fixed_exp(-t)
    return ONE - x if x <= near else max(0, ONE - math.isqrt(x * near))


def logistic_stick(t, x):  # of the exponential mechanism too: docs/derivations/mechanisms.md, section 5
    near = fixed_exp(-t)
    miss = ONE - math.isqrt(x * near)
    return ONE - x if x <= near else (miss * miss // (ONE - near) if miss > 0 else 0)


def pure_stick(t, x):
    """Randomised response of two labels, which no pure mechanism exceeds."""
    far = fixed_exp(t)
    return ONE - x if x * far <= ONE << BITS else max(0, (far - x << BITS) // (ONE + far))


STICKS = {"gaussian": hockey_stick, "laplace": laplace_stick, "logistic": logistic_stick, "exponential": logistic_stick}  # else: pure_stick


def discrete_laplace_stick(steps, h, x):
    """For x >= 1: the best event is that the noise is at most m steps. Rounding leaves two m open."""
    m = (steps - fixed_ln(x) // h) // 2
    return max(ONE - (fixed_exp(-h * (m + 1)) + (x * fixed_exp(-h * (steps - m)) >> BITS) << BITS) // (ONE + fixed_exp(-h))
               if 0 <= m < steps else 0 for m in (m, m - 1))


def stated_stick(t, failure, x):
    return failure + ((ONE - failure) * pure_stick(t, x) >> BITS) + 1


# A step takes a record with probability q; g is the hockey stick of its noise.
def step_removed(g, q, t, x):
    inner = ONE + ((x - ONE) << BITS) // q
    return q * g(t, inner) >> BITS if inner > 0 else ONE - x


def best_share(g, a, x, t):
    """Where the likelihood ratio of the two data sets is x: the part that the others' law has in it."""
    if g is hockey_stick:
        b = a * fixed_exp(t * t >> (BITS + 1)) >> BITS
        u = (2 << 2 * BITS) // (b + math.isqrt(b * b + (x << BITS + 2)))
        return min(b * u >> BITS, ONE)
    share = (a << BITS) // (a + (x * fixed_exp(-t) >> BITS))
    if g is laplace_stick:
        return share
    a, x, near, low, high = a / ONE, x / ONE, math.exp(t / ONE), 0.0, 1.0  # logistic: floats find it, and prove nothing
    for _ in range(60):  # low, high: u/(1 + u) for u = e^c at the threshold c
        u = (low + high) / (2 - low - high)
        more = 1 / (1 + u) ** 2 > a * near / (u + near) ** 2 + x * near**2 / (u + near**2) ** 2
        low, high = (u / (1 + u), high) if more else (low, u / (1 + u))
    return min(ONE, int(a * near * ((1 + u) / (u + near)) ** 2 * 2**53) << BITS - 53) if low > 0 else share


def step_replaced(g, q, t, x):
    """For x >= 1. Every share s is a bound; the best one is where the likelihood ratio of the two data sets is x."""
    a = (ONE - q) * (x - ONE) // q
    s = best_share(g, a, x, t)
    first = s * g(t, (a << BITS) // s) if s else 0
    second = (ONE - s) * g(2 * t, (x << BITS) // (ONE - s)) if s < ONE else 0
    return q * (first + second) >> 2 * BITS


def step_fixed(g, q, t, x):
    """For x >= 1: samples of a fixed size, a record replaced."""
    return step_removed(g, q, 2 * t, x)


# A person's rows are taken each for itself: k of them with probability Bin(rows, q)(k), which move the sum by at most k t (docs/derivations/person.md).
LOG_DENSITY = {hockey_stick: lambda z: -z * z / 2, laplace_stick: lambda z: -abs(z), logistic_stick: lambda z: -abs(z) - 2 * math.log1p(math.exp(-abs(z)))}
MOST_NUMBERS = 200


@functools.lru_cache(maxsize=None)
def numbers_of_rows(q, rows):
    """{how many rows: probability, from below and from above}: 0, groups of numbers, which count as the largest of them, and all rows for what is far out."""
    def near(k):
        return math.lgamma(rows + 1) - math.lgamma(k + 1) - math.lgamma(rows - k + 1) + k * math.log(q / ONE) + (rows - k) * math.log((ONE - q) / ONE)
    if q >= ONE:
        return {0: (0, 0), rows: (ONE, ONE)}
    likely = [k for k in range(1, rows + 1) if near(k) > -75]
    width = -(-len(likely) // MOST_NUMBERS) or 1
    groups = [[0]] + [likely[i:i + width] for i in range(0, len(likely), width)]
    found = {group[-1]: sum(math.comb(rows, k) * q**k * (ONE - q)**(rows - k) >> BITS * (rows - 1) for k in group) for group in groups}
    found = {k: (low, low + width) for k, low in found.items()}
    left = max(0, ONE - sum(low for low, _ in found.values()))
    found[rows] = (found.get(rows, (0, 0))[0], found.get(rows, (0, 0))[1] + left)
    return found


def couples(first, second, log_f, t):
    """Couples (i, j, share of first[i], share of second[j]) over 2^BITS: where the likelihood ratio is 1 each has as much of both. Floats find them, and prove
    nothing: what each of the first has is shared out exactly, and of the second at most all."""
    def logs(side, c, sign):
        found = [math.log(w) + log_f(c + sign * k * t) for k, w in side]
        most = max(found)
        total = most + math.log(sum(math.exp(x - most) for x in found))
        return found, total
    low = high = 0.0
    end = 60 + t * max(k for k, _ in first + second) + (700 if log_f is not LOG_DENSITY[hockey_stick] else 0)

    def ahead(c):
        return logs(first, c, 1)[1] > logs(second, c, -1)[1]
    step = 1.0
    while low > -end and not ahead(low):
        low, high, step = max(-end, low - step), low, 2 * step
    step = 1.0
    while high < end and ahead(high):
        low, high, step = high, min(end, high + step), 2 * step
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if ahead(middle) else (low, middle)
    a, b = ([max(math.exp(x - total), 1e-300) for x in found] for found, total in (logs(first, low, 1), logs(second, low, -1)))
    i, j, last_i, last_j, parts, shared = 0, 0, len(a) - 1, len(b) - 1, [], 0.0

    def share(i, j, m):
        parts.append((i, j, m))
        a[i], b[j] = max(a[i] - m, 1e-300), max(b[j] - m, 1e-300)
    while shared < 0.5 and (i < last_i or j < last_j):  # shares rise and fall: a walk from each end to the middle rounds none of them coarsely
        up = j == last_j or i < last_i and a[i] < b[j]
        m = a[i] if up else b[j]
        share(i, j, m)
        i, j, shared = i + up, j + (not up), shared + m
    while last_i > i or last_j > j:
        down = last_j == j or last_i > i and a[last_i] < b[last_j]
        share(last_i, last_j, a[last_i] if down else b[last_j])
        last_i, last_j = last_i - down, last_j - (not down)
    share(i, j, min(a[i], b[j]))
    sums = [0.0] * len(a), [0.0] * len(b)
    for i, j, m in parts:
        sums[0][i] += m
        sums[1][j] += m

    def over_one(x):
        n, d = x.as_integer_ratio()
        return (n << BITS) // d
    rest = [ONE] * len(a), [ONE] * len(b)
    last = {i: n for n, (i, _, _) in enumerate(parts)}
    for n, (i, j, m) in enumerate(parts):
        one = rest[0][i] if last[i] == n else min(rest[0][i], over_one(m / sums[0][i]))
        other = min(rest[1][j], over_one(m / sums[1][j]))
        rest[0][i] -= one
        rest[1][j] -= other
        yield i, j, one, other


def coupled(g, first, second, t):
    """The most that sum_i first[i] F(c + i t) - sum_j second[j] F(c - j t) can be, never below it."""
    first, second, value = [one for one in first if one[1] > 0], [one for one in second if one[1] > 0], 0
    for i, j, one, other in couples([(k, w / ONE) for k, w in first], [(k, w / ONE) for k, w in second], LOG_DENSITY[g], t / ONE):
        part = (first[i][1] * one >> BITS) + 1
        value += part * g((first[i][0] + second[j][0]) * t, min(second[j][1] * other // part, ONE << 70)) // ONE + 1
    return value


def rows_removed(rows, g, q, t, x):
    numbers = numbers_of_rows(q, rows)
    if x <= numbers[0][1]:
        return ONE - x
    return coupled(g, [(k, high) for k, (_, high) in numbers.items() if k], [(0, x - numbers[0][1])], t)


def rows_replaced(rows, g, q, t, x):
    """For x >= 1."""
    numbers = numbers_of_rows(q, rows)
    return coupled(g, [(k, high) for k, (_, high) in numbers.items() if k],
                   [(k, low * (x - ONE if k == 0 else x) >> BITS) for k, (low, _) in numbers.items()], t)


STEPS_OF = {("zero-out", "poisson"): step_removed, ("replace-one", "poisson"): step_replaced, ("replace-one", "fixed"): step_fixed}


class Law:
    """Masses of the losses (low + i) 2^level ln r and of an infinite one, over 2^MASS, of so many steps."""
    def __init__(self, steps, level, low, masses, infinite):
        self.steps, self.level, self.low, self.masses, self.infinite = steps, level, low, masses, infinite


@functools.lru_cache(maxsize=None)
def rung(j, level):
    """(1 + j/2^40)^(2^level) from below and from above."""
    if level == 0:
        return (ONE + (j << (BITS - 40)),) * 2
    low, high = rung(j, level - 1)
    return low * low >> BITS, (high * high >> BITS) + 1


def up_shift(x, bits):
    return -(-x >> bits)


def law_of_chords(vs, low, r):
    """A convex function that is nowhere below the curve, hence the curve of a law of these atoms."""
    # (v[i+1] - v[i])/(r - 1) - (v[i] - v[i-1])/(1 - 1/r); on the left a chord to (0, 1), on the right the last value stays
    rise = [v - u << BITS for u, v in zip(vs, vs[1:])] + [0]
    fall = [(vs[0] - ONE) * (r - ONE)] + [(v - u) * r for u, v in zip(vs, vs[1:])]
    masses = [max(0, -((b - a) * 2**MASS // (r - ONE << BITS))) for a, b in zip(rise, fall)]
    return Law(1, 0, low, masses, up_shift(vs[-1], BITS - MASS))


def laws_of_step(part, j, h):
    """One for each direction. What the two data sets have exchanged is the curve's mirror image, 1 - x + x v(1/x)."""
    up_to, down_to = math.ceil(part.top / h) + 1, math.ceil(-part.bottom / h) + 1
    r, xs = rung(j, 0)[0], {0: ONE}
    for i in range(max(up_to, down_to)):
        xs[i + 1], xs[-i - 1] = xs[i] * r >> BITS, (xs[-i] << BITS) // r
    vs = {i: part.curve(xs[i]) + GUARD for i in range(0 if part.mirrored else -down_to, up_to + 1)}

    def image(i):
        return ONE - xs[i] + (xs[i] * vs[-i] >> BITS) + GUARD
    if part.mirrored:
        return [law_of_chords([image(i) for i in range(-down_to, 0)] + list(vs.values()), -down_to, r)]
    return [law_of_chords(list(vs.values()), -down_to, r), law_of_chords([image(i) for i in range(-up_to, down_to + 1)], -up_to, r)]


def cut(law, most):
    """Atoms from the top count as infinite, those from below move up to the lowest one that stays: at most so much mass each."""
    lost = 0
    while len(law.masses) > 1 and lost + law.masses[-1] <= most:
        lost += law.masses.pop()
    law.infinite += lost
    moved = count = 0
    while count + 1 < len(law.masses) and moved + law.masses[count] <= most:
        moved, count = moved + law.masses[count], count + 1
    law.low, law.masses = law.low + count, law.masses[count:]
    law.masses[0] += moved
    return law


def coarser(law, j):
    """Twice the step: an odd atom goes to both neighbours, so that its mass stays under both data sets. That is a chord again."""
    low, high = rung(j, law.level)
    first = law.low // 2
    masses = [0] * ((law.low + len(law.masses)) // 2 - first + 1)
    for n, mass in enumerate(law.masses, law.low):
        if n % 2 == 0:
            masses[n // 2 - first] += mass
        elif mass:
            masses[n // 2 - first] += (mass << BITS) // (ONE + low) + 1
            masses[n // 2 + 1 - first] += mass * high // (ONE + high) + 1
    return Law(law.steps, law.level + 1, first, masses, law.infinite)


def both(a, b, j):
    """The steps of a and those of b: one product of long numbers, in slots that are wide enough for every sum."""
    while a.level < b.level:
        a = coarser(a, j)
    while b.level < a.level:
        b = coarser(b, j)
    size = (max(a.masses).bit_length() + max(b.masses).bit_length() + len(a.masses).bit_length() + 7) // 8

    def packed(law):
        return int.from_bytes(b"".join(mass.to_bytes(size, "little") for mass in law.masses), "little")
    count = len(a.masses) + len(b.masses) - 1
    first = packed(a)
    data = (first * (first if a is b else packed(b))).to_bytes(size * count, "little")
    masses = [up_shift(int.from_bytes(data[size * i:size * (i + 1)], "little"), MASS) for i in range(count)]
    infinite = a.infinite * (sum(b.masses) + b.infinite) + sum(a.masses) * b.infinite
    return Law(a.steps + b.steps, a.level, a.low + b.low, masses, up_shift(infinite, MASS))


def narrow(law, delta, j):
    law = cut(law, int(Decimal(delta) * 2**MASS / (24 * 1024)))
    while len(law.masses) > MOST_ATOMS:
        law = coarser(law, j)
    return law


def law_of_steps(one, steps, delta, j):
    law = one = narrow(one, Decimal(delta) / steps, j)
    for bit in bin(steps)[3:]:
        law = both(law, law, j)
        law = narrow(law, Decimal(delta) * law.steps / steps, j)
        law = narrow(both(law, one, j), Decimal(delta) * (law.steps + 1) / steps, j) if bit == "1" else law
    return law


def epsilon_of_law(law, j, delta):
    """The least epsilon (of bisections) at which the law's curve is at most delta; NEVER: none."""
    r = rung(j, law.level)[1]
    less, inverse, power = (ONE << BITS) // r, [], ONE  # r^-n from below
    for n in range(1, law.low + len(law.masses)):
        power = power * less >> BITS
        if n >= law.low:
            inverse.append(power)
    masses = law.masses[max(0, 1 - law.low):]

    def holds(e):
        x = fixed_exp(int(e * 2**60) << (BITS - 60))
        least = x - (x >> 200) - 1
        lost = sum(mass * (ONE - (least * y >> BITS)) for mass, y in zip(masses, inverse) if least * y < ONE << BITS)
        return law.infinite + up_shift(lost, BITS) <= delta * 2**MASS
    delta = Fraction(delta)
    low, high = 0.0, math.ceil((law.low + len(law.masses)) * 2**law.level * math.log1p(j / 2**40)) + 1.0
    if not holds(high):
        return NEVER
    for _ in range(34):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return Decimal(high)


class Part:
    """Equal steps: the curve of one (mirrored: it is for x >= 1, and its own mirror image) and, as floats, where its losses lie: those choose
    the grid and prove nothing."""
    def __init__(self, steps, curve, mirrored, top, bottom, spread):
        self.steps, self.curve, self.mirrored, self.top, self.bottom, self.spread = steps, curve, mirrored, min(LARGEST_LOSS, top), max(-LARGEST_LOSS, bottom), spread


def from_above(x):
    return -(-x.numerator * ONE // x.denominator)


def sampled_part(mechanism, adjacency, sampling, q, t, steps, delta, rows=1):
    """Steps that take each record with probability q, or samples of that part, whose noise a record shifts by at most t scales; or a person, by as many t
    as rows are in the step. None: outside of what this program decides. q, t: fractions."""
    if rows > 1000:
        return None
    q, t = from_above(q), from_above(t)  # both only raise the curve
    rate, shift, of = q / ONE, t / ONE, STEPS_OF[adjacency, sampling]
    if not (2.0**-40 <= rate <= 1 and 2.0**-20 <= shift <= 8 and 0 < steps <= MOST_STEPS and 1e-15 <= delta < 1):
        return None
    chain, mirrored, wide = of == step_replaced, of != step_removed, (2 if of == step_fixed else 1) * shift
    if rows > 1:
        return part_of_rows(mechanism, mirrored, q, t, steps, delta, rows)
    far = min(11.0, math.sqrt(2 * math.log(max(2.0, steps * rate * 2e4 / delta))))  # deviations
    most = wide * (far + wide) - wide * wide / 2 if mechanism == "gaussian" else wide
    top, bottom = math.log1p(rate * math.expm1(most)), math.log1p(rate * math.expm1(-most))
    moment = (lambda u: math.exp(u * u)) if mechanism == "gaussian" else (lambda u: 1 + (math.exp(u) - 1) * u / 2)
    spread = rate * math.sqrt(2 * (moment(shift) - (math.exp(-shift**2) if mechanism == "gaussian" else 1)) if chain else moment(wide) - 1)
    top -= bottom if chain else 0
    return Part(steps, functools.partial(of, STICKS[mechanism], q, t), mirrored, top, -top if mirrored else bottom, spread)


def part_of_rows(mechanism, replaced, q, t, steps, delta, rows):
    log_f, shift = LOG_DENSITY[STICKS[mechanism]], t / ONE
    numbers = [(k, high / ONE) for k, (_, high) in numbers_of_rows(q, rows).items() if high]

    def log_of(c, sign):
        found = [math.log(w) + log_f(c + sign * k * shift) for k, w in numbers]
        return max(found) + math.log(sum(math.exp(x - max(found)) for x in found))

    def loss(c):
        return log_of(c, 1) - (log_of(c, -1) if replaced else log_f(c))
    fars = [(k, steps * w * 2e4 / delta) for k, w in numbers]
    far = 60 if mechanism != "gaussian" else 0
    left = min(-k * shift - max(far, math.sqrt(2 * math.log(max(2.0, tail)))) for k, tail in fars if tail > 1e-6)
    right = max(11.0, far)
    points = [left + (right - left) * (n + .5) / 2000 for n in range(2000)]
    weights = [math.exp(log_of(c, 1)) for c in points]
    spread = math.sqrt(sum(w * loss(c) ** 2 for c, w in zip(points, weights)) / sum(weights))
    top = loss(left)
    curve = functools.partial(rows_replaced if replaced else rows_removed, rows, STICKS[mechanism], q, t)
    return Part(steps, curve, replaced, top, -top if replaced else loss(right), spread)


def single_part(kind, t, other, count, delta):
    """So many releases of that shift, or pure epsilon, t; other: the step of discrete noise, or the failure of a stated pair."""
    if not 2.0**-40 <= t <= LARGEST_LOSS or not 1e-15 <= delta < 1:
        return None
    fixed = from_above(Fraction(t))
    curve = functools.partial(discrete_laplace_stick, round(t / other), from_above(Fraction(other))) if kind == "discrete-laplace" else \
        functools.partial(stated_stick, fixed, from_above(Fraction(other))) if kind == "stated" else functools.partial(STICKS.get(kind, pure_stick), fixed)
    t = float(t)
    top = t * (min(11.0, math.sqrt(2 * math.log(2e4 * count / delta))) + t / 2) if kind == "gaussian" else t
    return Part(count, curve, True, top, -top, min(t, 2 * math.sqrt(t)) if kind != "gaussian" else t)


def laws_of_parts(parts, delta, finer):
    """The law of all these steps together, for each direction, and its grid; None: it has too many points. finer: how often the step is halved."""
    total = sum(part.steps for part in parts)
    spread = math.sqrt(sum(part.steps * part.spread**2 for part in parts) / total)
    h = max(0.12 * spread, max(part.top for part in parts) / 6000) / 2.0**finer
    j = max(1, round(math.expm1(h) * 2**40))
    h = math.log1p(j / 2**40)
    if max(part.top - part.bottom for part in parts) / h > 2**15 - 4:
        return None
    laws = None
    for part in sorted(parts, key=lambda part: part.steps):
        more = [law_of_steps(one, part.steps, delta / len(parts), j) for one in laws_of_step(part, j, h)]
        laws = [narrow(both(law, added, j), delta / len(parts), j) for law, added in zip(laws, more)] if laws else more
    return laws, j


def epsilon_of_parts(parts, delta, finer):
    """Epsilon of all these steps together, never below the truth; None: not decided."""
    laws, j = laws_of_parts(parts, delta, finer) or ([], 0)
    return max((epsilon_of_law(law, j, delta) for law in laws), default=None)


def epsilon_of_unit(adjacency, sampling, q, t, steps, delta, rows=1, finer=0, mechanism="gaussian"):
    """Of a record, or of a person with so many rows, all of which a data set's neighbour may change."""
    if sampling == "fixed" and rows > 1 or (adjacency, sampling) not in STEPS_OF or delta <= 0:
        return None
    if q == 1 and mechanism == "gaussian":  # no sampling: one Gaussian, whose shift is the root of the sum of squares
        times = rows * (2 if adjacency == "replace-one" else 1)
        shift = times * Decimal(t.numerator) / Decimal(t.denominator) * Decimal(steps).sqrt() * (1 + MARGIN)
        return gaussian(shift, Decimal(delta)) + MARGIN
    part = sampled_part(mechanism, adjacency, sampling, q, t, steps, delta, rows)
    e = part and epsilon_of_parts([part], delta, finer)
    return e if e is not None and e < NEVER else None


def compared(epsilon_at, stated):
    """True: a bound is at most 1 % above what is stated. False: it is not, and its grid is not the reason: what halving the grid won, it
    cannot win once more. None: not decided. With the bound. The first two grids are coarse, and can refuse alone: what is far too small is refused at once."""
    before = None
    for finer in range(-2, 3):
        e = epsilon_at(finer)
        if finer < 0 and (e is None or e <= stated * Decimal("1.01")):
            continue
        if e is None or e <= stated * Decimal("1.01"):
            return (None, before) if e is None else (True, e)
        if e == before or before is not None and 2 * e - before > stated * Decimal("1.01"):
            return False, e
        before = e
    return None, before


@functools.lru_cache(maxsize=None)
def confirm(adjacency, sampling, q, t, steps, delta, rows, stated, mechanism="gaussian"):
    return compared(lambda finer: epsilon_of_unit(adjacency, sampling, q, t, steps, delta, rows, finer, mechanism), stated)


def chords_of(law, j):
    """Points of a law's curve from x = 1 on, some 256 of them; between them it is below the chord, and behind the last one below that."""
    high = rung(j, law.level)[1]
    less, last, x, xs, found = (ONE << BITS) // high, max(0, law.low + len(law.masses) - 1), ONE, [], []
    for _ in range(last + 1):
        xs.append(x)
        x = x * high >> BITS
    above = weighed = 0  # the masses of larger losses, and these over their x/x_n
    for n in range(last, -1, -1):
        if (last - n) % max(1, last // 256) == 0 or n == 0:
            found.append((xs[n], law.infinite + above - weighed << BITS - MASS))
        mass = law.masses[n - law.low] if 0 <= n - law.low < len(law.masses) else 0
        above, weighed = above + mass, (weighed + mass) * less >> BITS
    return found[::-1]


def box_tangent(e, m, d, x):
    """The curve of a box at x, formula (1) of docs/derivations/adaptive.md, and its slope; numbers over 2^BITS, m > 0."""
    mu, told, value, slope = math.isqrt(m << BITS), (ONE << BITS) // (ONE + fixed_exp(-e)), 0, 0
    for part, pure in ((told, e), (ONE - told, -e)) if e else ((ONE, 0),):
        far, less = (fixed_ln(x) - pure << BITS) // mu, fixed_exp(-pure)
        down = fixed_phi(-mu // 2 - far) * less >> BITS
        value += part * (fixed_phi(mu // 2 - far) - (x * down >> BITS)) >> BITS
        slope -= part * down >> BITS
    return d + ((ONE - d) * value >> BITS), (ONE - d) * slope >> BITS


def box_covers(points, e, m, d):
    """Whether a box is nowhere below a law: at each point, and where the tangents of two neighbours meet, as it is convex. The other direction
    is the mirror image of both."""
    e, m, d = (from_above(Fraction(x)) for x in (e, m, d))
    if m == 0 or points[-1][1] > d:
        return False
    before = None
    for x, v in points:
        b, slope = box_tangent(e, m, d, x)
        if b < v:
            return False
        if before and slope > before[3]:
            x0, v0, b0, slope0 = before
            meet = min(max((b - b0 - (slope * (x - x0) >> BITS) << BITS) // (slope0 - slope), 0), x - x0)
            if b0 + (slope0 * meet >> BITS) < v0 + (v - v0) * meet // (x - x0):
                return False
        if v <= d:
            return True
        before = x, v, b, slope
    return True


WIDER = Decimal("1.01") ** 2  # how much larger than the ledger's a square may be to be called derived again


@functools.lru_cache(maxsize=None)
def boxes_cover(needs, offers):
    """True: each box, its shift 1 % larger, is above the curve of what specs_of() lists. False: one is not, with 10 %. None: not decided."""
    delta, ok = min(float(d) for _, _, d in offers), None
    for finer in (0, 1):
        parts = parts_of(needs, delta) if delta > 0 else None
        laws, j = (parts and laws_of_parts(parts, delta, finer)) or (None, 0)
        if not laws:
            return None
        points = chords_of(laws[0], j)
        if all(box_covers(points, e, m * WIDER, d) for e, m, d in offers):
            return True
        ok = None if all(box_covers(points, e, m * WIDER**10, d) for e, m, d in offers) else False
    return ok


def parts_of(needs, delta):
    """The parts of what specs_of() lists; Gaussian releases are one, whose shift is the root of the sum of squares. None: one is beyond the limits."""
    parts, square = [], sum((t * t * count for kind, t, _, count in needs if kind == "gaussian"), Decimal(0))
    singles = [need for need in needs if need[0] not in ("gaussian", "steps")] + ([("gaussian", square.sqrt() * (1 + MARGIN), None, 1)] if square else [])
    for kind, t, other, count in singles:
        parts.append(single_part(kind, t, other, count, delta))
    for _, (mechanism, sampling), (q, t, rows), count in (need for need in needs if need[0] == "steps"):
        parts.append(sampled_part(mechanism, "replace-one", sampling, q, t, count, delta, rows))
    return None if None in parts or len(parts) > 32 else parts


@functools.lru_cache(maxsize=None)
def epsilon_together(needs, delta, finer):
    """Epsilon of all that specs_of() lists, if it was fixed beforehand, for a record that is replaced; None: not decided."""
    pure = sum((NEVER if kind in ("gaussian", "stated", "steps") else t * count for kind, t, _, count in needs), Decimal(0))
    if delta == 0 or not needs:
        return pure if pure < NEVER else None
    if {need[0] for need in needs} == {"gaussian"}:
        return gaussian(sum(t * t * count for _, t, _, count in needs).sqrt() * (1 + MARGIN), Decimal(delta)) + MARGIN
    parts = parts_of(needs, delta)
    e = epsilon_of_parts(parts, delta, finer) if parts else None
    return min((e for e in (e, pure) if e is not None and e < NEVER), default=None)


# ---- documents ----
class Refused(Exception):
    """Ends the program with an exit code and one line."""
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def read_bytes(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError as error:
        raise Refused(66, f"{path}: {error.strerror}")


def parse(data, path):
    """Strict JSON: an object, each member once, finite numbers."""
    def once(pairs):
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a member stands there twice")
        return dict(pairs)

    def never(text):
        raise ValueError(f"'{text}' is no number of JSON")

    def finite(text):
        return float(text) if math.isfinite(float(text)) else never(text)

    def whole(text):
        return int(text) if len(text) < 20 and -2**63 <= int(text) < 2**63 else never(text)
    try:
        found = json.loads(data.decode("utf-8"), object_pairs_hook=once, parse_constant=never, parse_float=finite, parse_int=whole)
    except (ValueError, RecursionError) as error:
        raise Refused(65, f"{path}: {error}")
    if not isinstance(found, dict):
        raise Refused(65, f"{path}: is no JSON object")
    return found


NUMBER, WHOLE, TEXT, OBJECT, LIST, NOTHING = (int, float), int, str, dict, list, type(None)


def find(document, path, *kinds):
    """The member 'a.b.c'; 65 where it is missing or of another kind. A truth value is no number."""
    at = document
    for key in path.split("."):
        at = at[key] if isinstance(at, dict) and key in at else ...
    wanted = tuple(k for kind in kinds for k in (kind if isinstance(kind, tuple) else (kind,)))
    if at is ... or not isinstance(at, wanted) or isinstance(at, bool):
        raise Refused(65, f"'{path}' is missing or of another kind")
    return at


def same(a, b):  # 1, 1.0 and true are three values
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def near(a, b):
    return isinstance(a, NUMBER) and not isinstance(a, bool) and abs(Decimal(a) - Decimal(b)) <= abs(Decimal(b)) / 10**12


class Checks:
    """What was checked and found, what was not, and the first failure."""
    def __init__(self):
        self.done, self.left, self.failed = [], [], None
        self.bound = False  # the ledger has this very certificate
        self.undecided = self.found = None  # what is beyond this program; its own bound of a run's epsilon
        self.proof = None  # what the sensitivity follows from, in words

    def check(self, name, ok, text):
        if not ok and not self.failed:
            self.failed = f"{name}: {text}"


# ---- the certificate in itself ----
SOURCES = {"given": ("as stated by the caller, not checked", "the sensitivity stated by the caller"),
           "sampled": ("largest change observed over sampled pairs: empirical evidence, not a bound",
                       "the sampled sensitivity"),
           "clipped": ("enforced by clipping", ""), "proved": ("proved for the training procedure", "")}
MECHANISMS = {"logistic": math.pi / math.sqrt(3), "laplace": math.sqrt(2), "gaussian": 1.0, "discrete-laplace": None,
              "discrete-gaussian": None, "knorm": None, "exponential": None, "randomised-response": None,
              "smooth-median": None, "objective-perturbation": None, "permute-and-flip": None, "propose-test-release": None}  # standard deviation at scale 1


# Conditions, which certificates name by nouns and clauses, as sentences that must be true. What begins and ends as the first two texts becomes the third, what
# is left of it, and the fourth; None: nothing is left. tests/golden/conditions.txt holds the sentences, and those of the program and of verify.html are the same.
PATTERNS = (
    ("the sensitivity stated by the caller", "", "One unit of privacy changes the values by no more than the sensitivity that the caller stated.", None),
    ("the sampled sensitivity", "", "One unit of privacy changes the values by no more than the largest change that was seen in sampled pairs.", None),
    ("the sensitivity, which was NOT re-derived", "",
     "One unit of privacy changes the values by no more than the certificate says, which was not derived again here.", None),
    ("the encoding of the table was fitted on these records", "",
     "The encoding of the table would be the same without these records; it was fitted on them, and no epsilon here accounts for that.", None),
    ("float sums that one record moves by at most C in a step (measured, not proved)", "",
     "One record moves the floating-point sum of each step by at most the clipping norm, which was measured and not proved.", None),
    ("what its file says of recipe and records", "",
     "The file says truly by which recipe and from how many records it was made; an early version bound its weights to neither.", None),
    ("all else that shaped the columns not depending on these records either", "",
     "All else that shaped the columns does not depend on these records either.", None),
    ("that a person has at most ", ", as stated by the caller", "A person has at most ", " in these records."),
    ("the encoder: its own certificate adds ", " for the same records (see fine_tuning)",
     "These records pay for the encoder too, so its guarantee is added to this one: ", "."),
    ("", ", which was read from the private data", "The choice of ", " tells nothing about the records, although it was read from the private data."),
    ("the ", " not depend on these records", "The ", " not depend on these records."),
    ("that ", "", "It is true that ", "."),
    ("", "", "This is true, in the words of the caller: ", "."))


def sentences(conditions):
    """Each condition as a sentence."""
    found = conditions.split(", and on ")
    for text in found if found[-1] else found[:-1]:
        begin, end, before, after = next(p for p in PATTERNS if len(p[0] + p[1]) <= len(text) and text.startswith(p[0]) and text.endswith(p[1]))
        yield before if after is None else before + text[len(begin):len(text) - len(end)] + after


def read_certificate(path):
    c = parse(read_bytes(path), path)
    schema = find(c, "schema", TEXT)
    if schema not in ("sotto.certificate/1", "sotto.certificate/2", "sotto.certificate/3"):
        raise Refused(65, f"schema is '{schema}'; expected sotto.certificate/1 to /3")
    if not schema.endswith("/1"):
        find(c, "condition", TEXT, NOTHING)
        if (find(c, "records", WHOLE, NOTHING) or 0) < 0:
            raise Refused(65, "'records' is below 0")
    if schema.endswith("/3") != ("person" in c):
        raise Refused(65, f"schema is '{schema}'; 'person' stands in sotto.certificate/3 and nowhere else")
    if "unit_of_privacy" in c:
        find(c, "unit_of_privacy", TEXT)
    if "person" in c and (find(c, "person.rows", WHOLE) < 1 or find(c, "person.column", TEXT, NOTHING) == "" or "persons" in c["person"] and ("run" not in c or find(c, "person.persons", WHOLE) < 1)):
        raise Refused(65, "'person' has no row or no name, or is sampled outside of a run")
    for name, *kinds in (("mechanism", TEXT), ("scale", NUMBER), ("scale_exact", TEXT), ("lattice_exponent", WHOLE),
                         ("dimension", WHOLE), ("sensitivity.l1", NUMBER, NOTHING), ("sensitivity.l2", NUMBER, NOTHING),
                         ("sensitivity.source", TEXT), ("sensitivity.statement", TEXT), ("randomness", TEXT),
                         ("sampler", TEXT), ("guarantee.statement", TEXT), ("guarantee.proved", OBJECT, TEXT),
                         ("guarantee.conditional", OBJECT, NOTHING), ("ledger.hash", TEXT),
                         ("output_sha256", TEXT)):
        find(c, name, *kinds)
    place(c["ledger"])
    if "plan" in c and (not hexadecimal(find(c, "plan.id", TEXT), 32) or find(c, "plan.slot", WHOLE) < 1):
        raise Refused(65, "'plan' is wrong; expected the hash of a plan, and a slot from 1")
    claim = claimed(c)
    for name, *kinds in (("epsilon.lower", NUMBER, NOTHING), ("epsilon.upper", NUMBER, NOTHING), ("delta", NUMBER),
                         ("pure_epsilon", NUMBER, NOTHING), ("zcdp_rho", NUMBER, NOTHING), ("adjacency", TEXT),
                         ("accountant", TEXT), ("bounds", OBJECT)) if claim else ():
        find(claim, name, *kinds)
    for name in claim["bounds"] if claim else ():
        find(claim["bounds"], name, NUMBER, NOTHING)
    if c["mechanism"] not in MECHANISMS or not 1e-100 < c["scale"] < 1e100 or c["dimension"] < 0 or \
            any((c["sensitivity"][norm] or 0) < 0 for norm in ("l1", "l2")) or (claim and not 0 <= claim["delta"] < 1):
        raise Refused(65, "mechanism, scale, dimension, sensitivity or delta is out of range")
    return c


def place(entry):
    """How an entry is numbered, and its number: among the charges of the ledger; in early certificates among all lines."""
    name = "charge" if "charge" in entry else "index"
    if name == "charge" and "index" in entry:
        raise Refused(65, "'ledger' has 'charge' and 'index'; expected one of them")
    return name, find(entry, name, WHOLE)


def claimed(c):
    proved, conditional = c["guarantee"]["proved"], c["guarantee"]["conditional"]
    return proved if isinstance(proved, dict) else conditional


def rows_sampled(c):
    """Of a person, each by itself; 1: a record, or a person, is sampled as one."""
    person = c.get("person") or {"rows": 1}
    return 1 if "persons" in person else person["rows"]


def is_sampled_as_one(line):
    return "person" not in line or "persons" in line["person"]


def unit_of(c):
    """The unit of privacy in words."""
    person = c.get("person")
    if not person:
        return "one record"
    rows = "at most %d row%s each" % (person["rows"], "" if person["rows"] == 1 else "s")
    rows += ", sampled as one of %d persons" % person["persons"] if "persons" in person else ""
    return f"one person (column {person['column']}, {rows})" if person["column"] else f"one person ({rows}, as stated by the caller)"


def up(x, digits=6):
    """So many significant digits, rounded up; the last bit of x is forgiven."""
    near = "%.*g" % (digits, x)
    if not math.isfinite(x) or float(near) >= math.nextafter(x, -math.inf):
        return near
    return "%.*g" % (digits, x + 0.75 * 10.0 ** (math.floor(math.log10(abs(x))) - digits + 1))


def statement(claim, rests_on, person, words, nouns=False):
    """The line for people; early certificates name conditions by nouns, and still earlier ones have epsilon rounded to nearest, which may be below its upper end."""
    def number(x):
        return words(math.inf if x is None else x)
    relation, other = claim["adjacency"] + " adjacency", claim.get("other")
    relation += " (epsilon %s under %s)" % (number(other["epsilon"]["upper"]), other["adjacency"]) if other is not None else ""
    epsilon, end = number(claim["epsilon"]["upper"]), "accountant: " + claim["accountant"]
    line = "(%s, %g)-differentially private under %s, %s" % (epsilon, claim["delta"], relation, end) if not rests_on else \
        "proved: none; conditional%s: epsilon %s at delta %g under %s, %s" % (" on " + rests_on if nouns else "", epsilon, claim["delta"], relation, end)
    line += person + ("; note: " + find(claim, "note", TEXT) if "note" in claim else "")
    return line + "; only if this is true: " + " ".join(sentences(rests_on)) if rests_on and not nouns else line


def check_wording(v, c, claim):
    v.check("unit of privacy", c.get("unit_of_privacy", "one record") == unit_of(c), repr(c.get("unit_of_privacy")))
    if c.get("person") and not c["person"]["column"]:
        v.check("condition", "that a person has at most %d rows%s, as stated by the caller" % (c["person"]["rows"], ", all under one number" * ("persons" in c["person"]))
                in (c["condition"] or ""),
                "the rows of a person are stated, and epsilon is not conditional on that")
    source, seeded = c["sensitivity"]["source"], not c["randomness"].startswith("operating system")
    v.check("sensitivity", source in SOURCES and c["sensitivity"]["statement"] == SOURCES[source][0],
            f"source '{source}' with the statement '{c['sensitivity']['statement']}'")
    condition, own = c.get("condition"), SOURCES.get(source, ("", ""))[1]
    rests_on = own + (", and on " if own and condition else "") + (condition or "")
    proved, conditional = c["guarantee"]["proved"], c["guarantee"]["conditional"]
    says = (isinstance(proved, dict) or proved, isinstance(conditional, dict))
    v.check("wording", says == (("none", False) if seeded else ("none", True) if rests_on else (True, False)),
            "what is called proved does not follow from source, condition and randomness")
    try:
        exact = float.fromhex(c["scale_exact"])
    except (ValueError, OverflowError):
        exact = None
    v.check("scale", exact == c["scale"], f"{c['scale']!r} and {c['scale_exact']}")
    bits, e = bits_of(c["sampler"]), c["lattice_exponent"]
    kind = c["mechanism"]
    if "run" in c:
        fits = e == c["run"].get("lattice_exponent", e)
    elif kind.startswith("discrete-"):
        fits = abs(e) < 400  # the step of the values themselves
    elif kind in ("smooth-median", "objective-perturbation"):
        fits = True  # it follows what the certificate does not state: the range of the values, the shape of a head
    else:
        fits = e == (0 if kind in ("randomised-response", "propose-test-release") else math.frexp(c["scale"])[1] - bits)
    v.check("lattice", fits, f"step 2^{e} for scale {c['scale']!r}")
    begins = ("NOT exact",) if kind == "knorm" else ("exact", "fixed number of steps", "fast, NOT exact")
    v.check("sampler", c["sampler"].startswith(begins), c["sampler"])
    check_maker(v, c)
    check_statistic(v, c)
    v.check("version", not c["schema"].endswith("/1") or not {"records", "condition"} & set(c), "version 1 has no such members")
    if not claim:
        v.check("statement", c["guarantee"]["statement"] == c["randomness"] == "noise was seeded: no privacy guarantee",
                c["guarantee"]["statement"])
        return
    v.check("condition", (claim.get("condition") or "") == rests_on, f"'{claim.get('condition')}', expected '{rests_on}'")
    other = claim.get("other")
    if other is not None:
        find(other, "adjacency", TEXT), find(other, "epsilon.lower", NUMBER, NOTHING), find(other, "epsilon.upper", NUMBER, NOTHING)
        v.check("other adjacency", other["adjacency"] != claim["adjacency"] and "run" in c, other["adjacency"])
    person = "; unit of privacy: " + unit_of(c) if "person" in c else ""
    near = lambda x: "%.6g" % x  # noqa: E731
    v.check("statement", c["guarantee"]["statement"] in [statement(claim, rests_on, person, *w) for w in ((up, False), (up, True), (near, True))],
            c["guarantee"]["statement"])


def check_maker(v, c):
    maker, when = re.match(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})", str(c.get("version"))), str(c.get("time"))
    v.check("version of sotto", maker and tuple(map(int, maker.groups())) <= NEWEST,
            f"'{c.get('version')}' wrote the certificate, and this program belongs to sotto %d.%d.%d" % NEWEST)
    form = "%Y-%m-%dT%H:%M:%SZ"
    try:
        read = time.strptime(when, form)
        past = time.strftime(form, read) == when and 0 < calendar.timegm(read) <= time.time() + 86400  # clocks are wrong by a day
    except ValueError:
        past = False
    v.check("time", past, f"'{when}' is no time in the past")


def query_choices(text):
    """How many quantiles of a query are chosen: up to four, unless a tree has them. They are numbers behind the column, which may be in quotes."""
    said = re.match(r'quantile (?:"[^"]*"|(?!"))[^ ]*((?: [0-9][^ ]*)*)', text)
    chosen = said[1].count(" ") if said and not text.endswith(" with interval") else 0
    return chosen if chosen <= 4 else 0


def check_queries(v, c):
    """Of a table: a row moves a query of one cell by its mass, another one by 2 masses in L1 norm and sqrt 2 in L2. So does a person a
    query "per person", and one cell that counts persons; "count persons by" has so many cells as a person has rows."""
    queries = c["statistic"]["queries"]
    if not isinstance(queries, list) or not queries or not all(
            isinstance(q, dict) and q.keys() <= {"query", "cells", "mass", "choice_scale", "block_scale"} and isinstance(q.get("query"), str) and all(type(q.get(k)) is int and 0 < q[k] <= 2**53 for k in ("cells", "mass"))
            and (type(scale := q.get("choice_scale", 1)) in (int, float) and 0 < scale < math.inf)
            and (type(radius := q.get("block_scale", 1)) is int and 0 < radius <= 2**53 and ("block_scale" not in q or q["cells"] == 1)) for q in queries):
        raise Refused(65, "'statistic.queries' is no list of queries with cells and masses")
    rows = c["person"]["rows"] if "person" in c else 1
    l1 = squares = 0
    block = [q for q in queries if "block_scale" in q]  # as one cell that moves by all of them
    for q in queries:
        chosen = query_choices(q["query"])
        fits = "choice_scale" in q and sum(q["query"] == other["query"] for other in queries) == chosen if chosen else "choice_scale" not in q
        v.check("scales", fits and not ("block_scale" in q and re.search(r"^quantile |^count persons| per person\Z", q["query"])),
                f"'{q['query']}' has other scales than such a query needs")
        times, persons = 1 + (q["cells"] > 1), q["query"].startswith("count persons")
        once = "block_scale" not in q and "choice_scale" not in q and (q["query"].endswith(" per person") or persons and times == 1)
        l1 += (1 if once else rows) * times * q["mass"]
        squares += 0 if "block_scale" in q else (1 if once else rows if persons else rows**2) * times * q["mass"]**2
    l2 = math.sqrt(squares + (rows * sum(q["mass"] for q in block))**2)
    s, cells = c["sensitivity"], sum(q["cells"] for q in queries)
    v.check("statistic", s["source"] == "clipped" and cells == c["dimension"] and all(abs((s[k] or 0) - x) <= 1e-12 * x for k, x in (("l1", l1), ("l2", l2))),
            f"queries of {cells} cells have L1 {l1:.9g} and L2 {l2:.9g} (clipped), the certificate says {c['dimension']}, {s['l1']} and {s['l2']} ({s['source']})")
    # an edge was chosen by scores that one record moves by 1: noise of one cell dominates that at such scales (docs/derivations/ask.md)
    factor = {"laplace": 1, "gaussian": 0.62665706865775024}.get(c["mechanism"], math.inf)
    for q in queries:
        least = factor * (c["scale"] / q["mass"])
        v.check("choice", q.get("choice_scale", math.inf) >= least,
                f"'{q['query']}' is chosen at scale {q.get('choice_scale')}, and {c['mechanism']} noise of scale {c['scale']:.9g} covers {least:.9g} or more")
    fits = len({(q["mass"], q["block_scale"]) for q in block}) == 1 and c["mechanism"] == "laplace" and block[0]["block_scale"] * len(block) >= c["scale"]
    v.check("block", not block or fits, f"{c['mechanism']} noise of scale {c['scale']:.9g} covers no such block of cells")
    if not v.failed:
        v.done.append("sensitivity derived again from the cells and masses of the queries")
        v.proof = "the stated queries of a table"


def check_statistic(v, c):
    """Records, range and columns give the sensitivity of a statistic of the records."""
    if c["mechanism"] == "randomised-response" and c["sensitivity"]["source"] == "proved":
        v.check("statistic", c["sensitivity"]["l1"] == 1, f"a label changes by L1 1, the certificate says {c['sensitivity']['l1']}")
        v.proof = "randomised response on each label"
    if "statistic" not in c or "run" in c:
        return
    if c["statistic"].get("name") == "queries" and "queries" in c["statistic"]:
        return check_queries(v, c)
    name, n, scores = find(c, "statistic.name", TEXT), c.get("records") or 0, c["mechanism"] in ("exponential", "permute-and-flip")
    low, high = ends = c["statistic"].get("range", (0, 0))
    if any(isinstance(end, bool) or not isinstance(end, NUMBER) for end in ends) or "range" in c["statistic"] and not low < high < NEVER:
        raise Refused(65, "'statistic.range' is no pair of numbers; expected the lower end first")
    if name == "mean" and low < high and n > 0:
        each = (high - low) / n + 2 * 2.0**-49 * max(abs(low), abs(high))
    elif name in ("chi-square-alleles", "chi-square-genotypes") and n > 0:
        each = (8 if name.endswith("alleles") else 4) * n / (n + 2) + 2 * 2.0**-48 * n
    elif name in ("median", "most-frequent") and n > 0:
        each = 1
    else:
        v.left.append(f"the sensitivity of the statistic '{name}', of which nothing here derives it")
        return
    each, source = each * (c.get("person") or {"rows": 1})["rows"], "proved" if name in ("median", "most-frequent") else "clipped"
    d, one = c["dimension"], scores or name in ("median", "most-frequent")
    expected, s = {"l1": each if one else each * d, "l2": 0 if one else each * math.sqrt(d)}, c["sensitivity"]
    v.check("statistic", s["source"] == source and all(abs((s[k] or 0) - expected[k]) <= 1e-12 * expected[k] for k in expected),
            f"the {name} of {n} records has L1 {expected['l1']:.9g} and L2 {expected['l2']:.9g} ({source}), the certificate says "
            f"{s['l1']} and {s['l2']} ({s['source']})")
    if not v.failed:
        v.done.append(f"sensitivity derived again from the statistic, its range and {n} records")
        v.proof = "the stated statistic of so many records"


def check_number(v, name, says, derived):
    """No smaller than what was derived; nor larger by more than sotto's intervals are wide, as it then has another origin."""
    ok = says is None if derived is None or derived == NEVER else \
        says is not None and derived - 2 * MARGIN <= Decimal(says) <= derived * (1 + Decimal("1e-6"))
    v.check(name, ok, f"the certificate says {says!r}, derived {'none' if derived is None else '%.12g' % derived}")


def deviation_of(c):
    """Standard deviation of one coordinate of the noise, over the scale; None: it has none."""
    kind, h = c["mechanism"], 2.0 ** c["lattice_exponent"] / c["scale"] if c["lattice_exponent"] < 400 else 0
    if kind == "knorm":
        return math.sqrt(c["dimension"] + 1)
    if kind == "discrete-laplace" and 0 < h < 700:
        return h * math.sqrt(2 * math.exp(-h)) / -math.expm1(-h)
    if kind == "discrete-gaussian" and 0 < h < 30:
        masses = [math.exp(-(k * h) ** 2 / 2) for k in range(1, 60)] if h > 0.2 else []
        return h * math.sqrt(2 * sum(k * k * mass for k, mass in enumerate(masses, 1)) / (1 + 2 * sum(masses))) if masses else 1.0
    return MECHANISMS[kind]


def check_account(v, c, claim):
    """True: epsilon was derived."""
    bounds = {name: NEVER if e is None else Decimal(e) for name, e in claim["bounds"].items()}
    upper, lower = claim["epsilon"]["upper"], claim["epsilon"]["lower"]
    least = min(bounds.values(), default=NEVER)
    v.check("bounds", least == bounds.get(claim["accountant"], NEVER) == (NEVER if upper is None else Decimal(upper)),
            "epsilon is not the smallest bound, or not that of the accountant")
    for some in (claim, claim.get("other") or claim):
        low, high = some["epsilon"]["lower"], some["epsilon"]["upper"]
        v.check("lower end", low is None or high is None or high >= low, f"epsilon {high!r} is below its lower end {low!r}")
    deviation = deviation_of(c)
    v.check("standard deviation", not deviation or near(c.get("standard_deviation"), deviation * c["scale"]),
            repr(c.get("standard_deviation")))
    if "run" in c:
        return check_account_of_run(v, c, claim)
    v.check("adjacency", claim["adjacency"] == "replace-one", claim["adjacency"])
    if c["sampler"].startswith("fixed number of steps") or c["mechanism"] == "propose-test-release":
        v.left.append("epsilon: NOT re-derived, as the sampler took part of delta")
        return False
    try:
        derived, rho = derive(c, Decimal(claim["delta"]))
    except (ArithmeticError, TypeError) as error:
        v.check("account", False, f"nothing follows from scale, sensitivity and delta ({type(error).__name__})")
        return False
    check_number(v, "zcdp rho", claim["zcdp_rho"], rho)
    if derived is None:
        v.left.append(f"epsilon: NOT re-derived, as this program has no formula of {c['mechanism']} noise")
        return False
    check_number(v, "pure epsilon", claim["pure_epsilon"], derived.get("pure"))
    check_number(v, "epsilon", upper, min(derived.values(), default=NEVER))
    for name in set(derived) & set(bounds):
        check_number(v, f"bound '{name}'", claim["bounds"][name], derived[name])
    v.done.append("epsilon re-derived from mechanism, scale, sensitivity and delta")
    return True


def shift_of_run(run):
    """How far a record moves the sum of a step, in deviations of its noise, from above: its norm and what rounding to the lattice adds."""
    moved = Decimal(run["dimension"]) if run["clipping"] == "l1" else Decimal(run["dimension"]).sqrt() * (1 + MARGIN)
    moved *= 0 if run.get("on_lattice") is True else Decimal(2) ** run["lattice_exponent"]
    return (Fraction(run["max_grad_norm"]) + Fraction(moved)) / Fraction(run["scale"])


ORDERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256)


def renyi_of_step(adjacency, q, t, a):
    """Of a Gaussian step on a Poisson sample, q < 1, at a whole order. Zero-out: Mironov, Talwar, Zhang 2019. Replace-one: E (1 + q(u-1))^a (1 + q(v-1))^-m,
    m = a - 1, the last factor by Taylor's formula of even order, whose rest is positive; u and v are the likelihood ratios of shifts t and -t."""
    def mixed(l):  # E (1 + q(u-1))^a v^l, as E u^k v^l = exp(((k - l)^2 - k - l) t^2/2)
        return sum(math.comb(a, k) * (1 - q) ** (a - k) * q ** k * (((k - l) ** 2 - k - l) * t * t / 2).exp() for k in range(a + 1))
    m = a - 1
    if adjacency == "zero-out":
        return mixed(0).ln() / m
    power = [mixed(l) for l in range(9)]
    terms = [(-q) ** i * sum(math.comb(i, l) * (-1) ** (i - l) * power[l] for l in range(i + 1)) for i in range(9)]  # E (1 + q(u-1))^a (-y)^i, y = q(v-1)
    return min(sum(math.comb(m + i - 1, i) * terms[i] for i in range(n)) + math.comb(m + n - 1, n) * (1 - q) ** -(m + n) * terms[n] for n in (2, 4, 6, 8)).ln() / m


def steps_by_renyi(adjacency, q, t, steps, delta):
    """A second bound, which shares no line with the first: a mistake in either one shows. It is the larger one."""
    return min(steps * renyi_of_step(adjacency, q, t, a) + (1 - Decimal(1) / a).ln() - (a * delta).ln() / (a - 1) for a in ORDERS) + MARGIN


def check_account_of_run(v, c, claim):
    """True: epsilon of all steps that were charged was derived, under each adjacency that the certificate states."""
    run, rows = c["run"], rows_sampled(c)
    reason = "its noise is not Gaussian, and its gradients are not clipped by L1" if c["mechanism"] != "gaussian" and run["clipping"] != "l1" else \
        "its noise has no curve here" if c["mechanism"] not in STICKS else "labels were released beside it" if run.get("labels") else \
        "it does not say on which lattice its noise lies" if "lattice_exponent" not in run else "no epsilon is stated" if claim["epsilon"]["upper"] is None else None
    if reason:
        v.left.append(f"the account of sampled steps: NOT re-derived, as {reason}")
        return False
    if v.failed:
        return False
    for some in [claim] + ([claim["other"]] if claim.get("other") else []):
        low, stated = some["epsilon"]["lower"], some["epsilon"]["upper"]
        adjacency = {"replace-input": "replace-one", "add-remove": "zero-out"}.get(some["adjacency"], some["adjacency"])
        ok, e = (None, None) if stated is None else confirm(adjacency, run.get("sampling", "poisson"), Fraction(run["sample_rate"]), shift_of_run(run),
                                                            run["steps"]["charged"], claim["delta"], rows, Decimal(stated), c["mechanism"])
        v.check("account", ok is not False, "the stated epsilon %s (%s) is not confirmed; this program finds at most %s" % (up(stated or 0), some["adjacency"], up(float(e or 0))))
        if ok and c["mechanism"] == "gaussian" and run.get("sampling", "poisson") == "poisson" and rows == 1 and run["sample_rate"] < 1 and claim["delta"] > 0:
            t = shift_of_run(run)
            e = min(e, steps_by_renyi(adjacency, Decimal(run["sample_rate"]), Decimal(t.numerator) / t.denominator, run["steps"]["charged"], Decimal(claim["delta"])))
        v.check("account", ok is not True or low is None or e >= Decimal(low), f"epsilon is at most {up(float(e or 0))}, which is below the stated lower end {low!r}")
        if v.failed:
            return False
        if ok is None:
            v.undecided = f"epsilon of its steps under {some['adjacency']} adjacency, which is beyond the limits of this program"
            v.left.append(f"the account of sampled steps: NOT re-derived ({v.undecided})")
            return False
        v.done.append("epsilon re-derived from rate, noise and %d steps (%s): at most %s (stated: %s)%s" % (
            run["steps"]["charged"], some["adjacency"], up(float(e)), up(stated), "; this program's bound is larger by %s %% because its grid is coarser" %
            up(100 * (float(e) / stated - 1), 2) if stated and float(e) > stated * (1 + 1e-6) else ""))
        v.found = v.found or e
    return True


def check_run(v, c):
    """A run agrees with the certificate around it, its steps with its reservations."""
    run, s = find(c, "run", OBJECT), c["sensitivity"]
    if find(run, "clipping", TEXT) not in ("l1", "l2") or run.get("sampling", "poisson") not in ("poisson", "fixed") or run.get("protects", "inputs") != "inputs":
        raise Refused(65, "the clipping or sampling of the run is not known")
    claim = claimed(c)
    v.check("zcdp rho", not claim or claim["zcdp_rho"] is None, "an account of sampled steps has none")
    if claim and (run["mechanism"] == "gaussian" or run["clipping"] == "l2"):
        v.check("pure epsilon", claim["pure_epsilon"] is None, f"the certificate says {claim['pure_epsilon']}, and its steps have none")
    for name, *kinds in (("id", TEXT), ("mechanism", TEXT), ("scale", NUMBER), ("max_grad_norm", NUMBER), ("clipping", TEXT),
                         ("sample_rate", NUMBER), ("dimension", WHOLE), ("steps.charged", WHOLE), ("steps.used", WHOLE),
                         ("reservations", LIST)):
        find(run, name, *kinds)
    for entry in run["reservations"]:
        find(entry, place(c["ledger"])[0], WHOLE), find(entry, "hash", TEXT), find(entry, "first_step", WHOLE), find(entry, "steps", WHOLE)
        if entry["first_step"] < 0 or entry["steps"] < 0:
            raise Refused(65, "a reservation has steps below 0")
    if len(run["id"]) != 32:
        raise Refused(65, "'run.id' is not the name of a run")
    norm = s["l1" if run["clipping"] == "l1" else "l2"]
    v.check("run", (run["mechanism"], run["scale"], run["dimension"], run["max_grad_norm"], run.get("condition"), "clipped",
                    run.get("person"))
            == (c["mechanism"], c["scale"], c["dimension"], norm, c.get("condition"), s["source"],
                c.get("person")) and
            0 < run["sample_rate"] <= 1 and run["max_grad_norm"] > 0, "the run has other facts than the certificate")
    if "lattice_exponent" in run and v.failed is None:
        moved = Decimal(run["dimension"]) if run["clipping"] == "l1" else Decimal(run["dimension"]).sqrt()
        moved *= 0 if run.get("on_lattice") is True else Decimal(2) ** find(run, "lattice_exponent", WHOLE)
        v.check("noise multiplier", near(run.get("noise_multiplier"), Decimal(run["scale"]) / (Decimal(norm) + moved)),
                repr(run.get("noise_multiplier")))
    reserved = sum(entry["steps"] for entry in run["reservations"])
    v.check("steps", 0 <= run["steps"]["used"] <= run["steps"]["charged"] == reserved, f"{run['steps']}, {reserved} reserved")
    last = run["reservations"][-1] if run["reservations"] else {}
    name, number = place(c["ledger"])
    v.check("last entry", (last.get("hash"), last.get(name)) == (c["ledger"]["hash"], number),
            "the last reservation is not the ledger's entry")


# ---- the signature beside it ----
def hexadecimal(text, count):
    return bytes.fromhex(text) if isinstance(text, str) and len(text) == 2 * count and not set(text) - set("0123456789abcdef") \
        else None


def trusted_key(text):
    digits = "".join(text.split()).lower()  # as a person types or pastes it
    digits = digits[2:] if digits.startswith("0x") else digits
    if hexadecimal(digits, 32):
        return digits
    key = parse(read_bytes(text), text)
    found, seed = hexadecimal(key.get("public_key"), 32), hexadecimal(key.get("secret_key"), 32)
    if key.get("schema") != "sotto.key/1" or key.get("algorithm") != "Ed25519" or not found or \
            ("secret_key" in key and (not seed or public_key(seed) != found)):
        raise Refused(65, f"{text}: is no key file of 'sotto key new'")
    return key["public_key"]


def check_signature(v, path, trusted):
    """The key that signed, or None."""
    beside = path + ".signature.json"
    if not os.path.exists(beside):
        v.check("signature", not trusted, "there is none; --trust needs one")
        return None
    try:
        found = parse(read_bytes(beside), beside)
    except Refused:
        found = {}  # it lies there and is no signature
    key, signature = hexadecimal(found.get("public_key"), 32), hexadecimal(found.get("signature"), 64)
    valid = found.get("schema") == "sotto.signature/1" and found.get("algorithm") == "Ed25519" and key and signature and \
        signature_valid(key, b"sotto.signature/1\n" + read_bytes(path), signature)
    v.check("signature", valid, f"{beside} is no signature of this certificate" + (
        ", which was changed after it was signed: it names the key that you trust, and does not fit" if found.get("public_key") in trusted else ""))
    v.check("signature", not trusted or found.get("public_key") in trusted, "it is by a key that --trust does not name")
    return found["public_key"] if valid else None


# ---- the released file ----
def check_released(v, c, path):
    if path is None:
        v.left.append("the released file, as none was given")
        return
    data = read_bytes(path)
    digest = hashlib.sha256(data).hexdigest()
    v.check("released file", digest == c["output_sha256"],
            f"{path} has SHA-256 {digest[:16]}..., the certificate says {c['output_sha256'][:16]}...")
    if digest != c["output_sha256"]:
        return
    v.done.append("released file's hash matches")
    most = 1 if c["mechanism"] == "exponential" else c["dimension"]  # permute-and-flip: one candidate, or several
    expected = range(1 if c["mechanism"] == "permute-and-flip" else most, most + 1)
    try:
        if path.endswith(".npy"):
            at, end = (10, "<H") if data[6] == 1 else (12, "<I")
            begin = at + struct.unpack(end, data[8:at])[0]
            facts = ast.literal_eval(data[at:begin].decode("latin-1"))
            count = math.prod(facts["shape"])
            v.check("values", count in expected, f"the file holds {count}; expected {most}")
            check_values(v, c, *numbers(data[begin:], facts["descr"], count))
        elif path.endswith(".safetensors"):
            begin = 8 + struct.unpack("<Q", data[:8])[0]
            header = parse(data[8:begin], path)
            facts = header.pop("__metadata__", {})
            check_checksum(v, facts, header, data[begin:])
            if "release" in facts:
                parts = [numbers(data[begin + t["data_offsets"][0]:], t["dtype"], math.prod(t["shape"])) for t in header.values()]
                check_values(v, c, [x for part, _ in parts for x in part], any(floats for _, floats in parts))
            check_facts(v, c, facts, sum(math.prod(t["shape"]) for t in header.values()), expected)
    except (Refused, ValueError, KeyError, TypeError, IndexError, SyntaxError, struct.error, AttributeError) as error:
        v.check("released file", False, f"{path} cannot be read ({error})")


KINDS = {"F64": "d", "F32": "f", "F16": "e", "I64": "q", "I32": "i", "I16": "h", "I8": "b", "U8": "B", "BOOL": "B", "f8": "d", "f4": "f",
         "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "B"}


def numbers(data, kind, count):
    """Values of an array, and whether they are floats of 24 bits or fewer."""
    order = ">" if kind.startswith(">") else "<"
    letter = KINDS[kind.lstrip("<>|=")]
    return struct.unpack(f"{order}{count}{letter}", data[:count * struct.calcsize(letter)]), letter in "fe"


FALSE_ALARM = 1e-9


def small_values_ln_p(mechanism, scale, step, values):
    """ln of an upper bound of the probability that a release has values as small as these or smaller, whatever the data: with
    t = sum |y| / scale it is (t/n e^(1 - t/n))^n (Chernoff's bound of exponentials, which the other laws exceed), with q = sum y^2 /
    scale^2 of Gaussian noise (q/n e^(1 - q/n))^(n/2); 1 where t or q is n or more. What rounding took is added to t and q."""
    n, total, squares = len(values), math.fsum(abs(y) for y in values) / scale, math.fsum((y / scale) ** 2 for y in values)

    def chernoff(share, n):
        return n * (math.log(share) + 1 - share) if share < 1 else 0.0
    norm = math.sqrt(squares) * (1 + 2.0**-22) + math.sqrt(n) * step / scale
    if mechanism == "knorm":
        return chernoff(norm / n, n)
    if mechanism == "gaussian":
        return chernoff(norm * norm / n, n / 2)
    return chernoff((total * (1 + 2.0**-22) + n * step / scale) / n, n)


def check_values(v, c, values, floats):
    """The values lie on the lattice of the release, and are not too small for its noise."""
    kind, e = c["mechanism"], c["lattice_exponent"]
    if not values or v.failed:
        return
    if kind in ("exponential", "permute-and-flip", "randomised-response"):
        end = c["dimension"] if kind != "randomised-response" else (c.get("classes") or {}).get("count") or 2**53
        v.check("lattice of the values", all(y == int(y) and 0 <= y < end for y in values if math.isfinite(y)) and
                all(map(math.isfinite, values)), f"expected whole numbers from 0 to below {end}")
        v.done.append("values are of the range of the release")
        return
    if kind not in ("logistic", "laplace", "gaussian", "discrete-laplace", "knorm"):
        v.left.append("whether the values can have come out of such noise, which nothing here tests")
        return
    whole, odd = kind in ("discrete-laplace", "knorm"), kind in ("logistic", "laplace", "gaussian")
    if "run" not in c and (whole or bits_of(c["sampler"]) < 53):
        for i, y in enumerate(values):
            halves = math.ldexp(y, 1 - e) if math.isfinite(y) else 0.5
            if abs(halves) < 2.0 ** (24 if floats else 53) and (halves != round(halves) or (round(halves) % 2 == 1) != odd):
                v.check("lattice of the values", False, f"value {i} is {y!r}; expected {'odd' if odd else 'even'} multiples of half "
                        f"the step 2^{e} of the noise")
                return
        v.done.append("values lie on the lattice of the release")
    ln_p = small_values_ln_p(kind, c["scale"], math.ldexp(1, e), values)
    v.check("size of the values", ln_p >= math.log(FALSE_ALARM), f"{len(values)} values are too small for {kind} noise of scale "
            f"{c['scale']:g}: p-value at most 1e{math.ceil(10 * ln_p / math.log(10)) / 10:.1f}; refused below {FALSE_ALARM:g}")
    v.done.append("values are not too small for the noise (p-value at most %s; refused below %g)" % (up(math.exp(ln_p), 2), FALSE_ALARM))


def check_checksum(v, facts, header, data):
    """'training_sha256' of a head binds weights, recipe and records. What noise was added to has none: it is one of unprotected weights."""
    found = facts.get("training_sha256")
    if found is None or not str(facts.get("format", "")).startswith("sotto.head/"):
        return
    v.check("training_sha256", "release" not in facts, "the file holds a checksum of weights before noise was added")
    names = sorted(header, key=lambda name: (int(name.split(".")[0]), name.endswith("bias")))
    weights = b"".join(data[slice(*header[name]["data_offsets"])] for name in names)
    line = "sotto head 1: recipe %s, records %s, data %s, encoder %s, values %d\n" % (
        facts.get("recipe_hash", ""), facts.get("records", "0"), facts.get("data_fingerprint", ""), facts.get("encoder_sha256", ""),
        len(weights) // 4)
    v.check("training_sha256", hashlib.sha256(line.encode() + weights).hexdigest() == found,
            "weights, recipe, records, data or encoder were changed after training")
    v.done.append("weights, recipe and records are those of the file's checksum")


def convex_sensitivity(r, n):
    """How far one of n records moves the weights of a convex trainer's head, in L2: docs/derivations/head.md, in its letters, with
    what double arithmetic and storage in float32 add. ValueError: nothing is proved of this recipe."""
    norm, rate, stored, u = math.hypot(r["clip"], r["bias"]), r["lambda"], max(1, r["bias"]), 2.0**-53
    slope, beta = math.sqrt(2) * norm, norm * norm / 2 + rate
    radius = 1 + (slope / rate if "epochs" in r else min(slope / rate, math.sqrt(2 * math.log(r["classes"]) / rate)))
    limit, largest = 2 * slope / (n * rate), 2 / (beta + rate)
    softmax = ((r["inputs"] + 8) * norm * radius + 4 * r["classes"] + 64) * u
    error = 2 * (norm * (softmax + 2 * (n + 64) * u) + 8 * u * (slope + rate * radius))  # of a computed gradient
    if "tolerance" in r:
        stop = r["tolerance"] * slope / n
        exact, rounding = limit + 2 * stop / rate, 2.001 * error / rate
        holds = 2 * (beta * 1.001 * (error + 4 * u * radius / largest) / rate + error) <= stop
    else:
        def contracted(steps):  # 1 - (1 - shrink)^steps
            return -math.expm1(steps * math.log1p(-shrink)) if shrink < 1 else 1
        step, shrink = r["step_size"], r["step_size"] * rate
        if "epochs" in r:
            batch = min(r["batch"], n)
            batches = math.ceil(n / batch)
            exact = 2 * slope * step / batch * min(r["epochs"], contracted(batches * r["epochs"]) / contracted(batches))
        else:
            exact = limit * contracted(r["steps"])
        rounding = 2 * 1.001 * (step * error + 4 * u * radius) / shrink
        holds = rounding <= 2 and step <= largest * (1 + 1e-12)
    if not holds or not min(n, norm, rate) > 0:
        raise ValueError("nothing is proved of the file's recipe")
    return stored * (exact + 1.001 * rounding) + 2.001 * 2.0**-24 * stored * radius + 1e-37


def check_proof(v, c, recipe, records):
    try:
        proved = convex_sensitivity(recipe, records) * (c.get("person") or {"rows": 1})["rows"]
    except (ArithmeticError, ValueError, TypeError, KeyError) as error:
        v.check("proof", False, f"the file's recipe cannot be read ({error})")
        return
    for name, bound in (("l1", proved * math.sqrt(recipe["classes"] * (recipe["inputs"] + 1))), ("l2", proved)):
        stated = c["sensitivity"].get(name)
        v.check("proof", stated is None or abs(stated / bound - 1) < 1e-9, f"the {name.upper()} sensitivity is stated as {stated}; the "
                f"file's recipe and {records} records give {bound:.9g}")
    if not v.failed:
        v.done.append(f"sensitivity derived again from the file's recipe and {records} records")
        v.proof = "training by the stated recipe"


def check_facts(v, c, facts, values, expected):
    """What the file itself says: the release that it came out of, or the private training that made it."""
    source, evidence, recipe = c["sensitivity"]["source"], c["sensitivity"].get("evidence"), None
    if facts.get("format", "").startswith("sotto.head/") and "recipe" in facts:
        recipe = parse(facts["recipe"].encode(), "recipe")
        digest = hashlib.sha256(facts["recipe"].encode()).hexdigest()
        v.check("recipe", facts.get("recipe_hash") == digest, "the file's recipe and its hash differ")
        v.check("classes", same(recipe.get("classes"), find(c, "classes.count", WHOLE)) if "classes" in c else True,
                f"the recipe says {recipe.get('classes')}, the certificate {c.get('classes')}")
    if evidence and source == "proved":
        v.check("recipe", facts.get("recipe_hash") == evidence and "recipe" in facts, "the file's recipe is not the one that the sensitivity is of")
    if "release" in facts:
        v.check("values", values in expected, f"the file holds {values}; expected {expected[-1]}")
        v.check("release in the file", facts["release"] == c["ledger"]["hash"], "the file names another entry of the ledger")
        v.check("statement in the file", facts.get("privacy") == c["guarantee"]["statement"], str(facts.get("privacy")))
        convex = str((recipe or {}).get("trainer", "convex")).startswith("convex")
        v.check("source", source in ("given", "sampled") or convex, f"'{source}', which nothing is of such a trainer's heads")
        if recipe and source == "proved" and "records" in facts and not c["schema"].endswith("/1"):
            v.check("records", facts["records"] == str(c["records"]),
                    f"the file says {facts['records']}, the certificate {c['records']}")
        v.done.append("the file names this release")
        if recipe and source == "proved" and convex:
            check_proof(v, c, recipe, int(facts["records"]))
            v.left.append("whether the weights before the noise satisfied the bound of the proof (checked by 'sotto protect')")
            return
    else:
        network = "private_recipe" in facts or "input_release" in facts
        v.check("origin", network or (recipe and ("noise" in recipe or recipe.get("trainer") == "objective")), "the file names neither a release nor noise in its recipe")
        steps = recipe and "max_grad_norm" in recipe
        if recipe and recipe.get("trainer") == "objective":
            v.check("noise", c["mechanism"] == "objective-perturbation" and near(c["scale"], recipe.get("noise_multiplier", 0)),
                    "the recipe says other noise than the certificate")
        if recipe and "noise" in recipe:
            scale = recipe.get("noise_multiplier", 0) * recipe.get("max_grad_norm", 0)
            v.check("noise", recipe["noise"] == c["mechanism"] and bool(steps) == ("run" in c) and
                    (not steps or near(c["scale"], scale)), "the recipe says other noise than the certificate")
        if steps and "run" in c and c.get("records") and "noise" in recipe:
            units = (c.get("person") or {}).get("persons") or c["records"]  # that steps sample
            batch = recipe.get("batch") or units  # without batches: all records in each step
            taken = recipe["steps"] if recipe.get("steps") else math.ceil(recipe["epochs"] * units / batch)
            v.check("sample rate", near(c["run"]["sample_rate"], min(1, batch / units)),
                    f"batches of {batch} out of {units}, the certificate {c['run']['sample_rate']!r}")
            v.check("steps in the file", c["run"]["steps"]["used"] == taken and near(c["run"]["max_grad_norm"], recipe["max_grad_norm"]),
                    f"the recipe says {taken} steps clipped to {recipe['max_grad_norm']}, the certificate {c['run']['steps']['used']} clipped to {c['run']['max_grad_norm']}")
            v.done.append("noise, rate and steps agree with the file's recipe")
            v.proof = "training by the stated recipe"
            return
    v.left.append("that sensitivity, noise, rate and steps agree with the file's recipe: not checked here; the program that made the certificate says that it did")


# ---- the ledger ----
CHARGES = ("release", "reserve", "import", "plan")


def planned_event(plan, slot):
    """What a slot of a plan asks, or None: slots are counted from 1 through its events, of which a run of steps has one."""
    for event in find(plan, "events", LIST):
        count = 1 if "steps" in event else find(event, "count", WHOLE)
        if slot <= count:
            return event if slot >= 1 else None
        slot -= count
    return None


def asked_of(line, event):
    """What the line of a release, or of a run of steps, says of what its event plans."""
    if "steps" in event:
        return {"mechanism": line.get("mechanism"), "sampling": line.get("sampling", "poisson"), "clipping": line.get("clipping", "l2"),
                **{name: line.get(name) for name in ("noise_multiplier", "sample_rate", "steps")}}
    whole, norms = event["mechanism"].startswith("discrete-"), ("l1", "l2") if event["mechanism"] == "gaussian" else ("l1",)
    return {"mechanism": line.get("mechanism"), "scale": line.get("scale"), "dimension": line.get("dimension"),
            "value_step": float(line.get("value_step", 1.0 if whole else 0)), **{norm: line["sensitivity"][norm] for norm in norms}}


def spend_slot(lines, line, spent, where):
    """A release of a plan: its slot is one of a plan before it, is spent once, and asks what was planned."""
    id, slot = find(line, "plan.id", TEXT), find(line, "plan.slot", WHOLE)
    plan = next((one for one in lines if one["event"] == "plan" and one["hash"] == id), None)
    event = planned_event(plan, slot) if plan else None
    if event is None or not same(line.get("charge"), plan["charge"]) or (id, slot) in spent:
        raise Refused(1, f"{where}: names no slot of a plan before it, or one that was spent")
    if ("steps" in event) != ("run" in line) or "protects" in line:
        raise Refused(1, f"{where}: is not what was planned, a single release or a run of steps on whole records")
    if "run" in line and any(one.get("run") == line["run"] and one["event"] == "reserve" for one in lines):
        raise Refused(1, f"{where}: spends a slot for a run that was charged before")
    for name, value in asked_of(line, event).items():
        if not same(value, event.get(name, 0.0 if name == "value_step" else None)):
            raise Refused(1, f"{where}: is not the release that was planned: '{name}' is {value!r}")
    if line.get("fingerprint") != plan["fingerprint"] or line.get("randomness") != "os" or "doubts flat" in line.get("sampler", ""):
        raise Refused(1, f"{where}: is not the release that was planned")
    spent.add((id, slot))


class Lines(list):
    """Those of a ledger that count, in order. cut: the rest was cut off while it was written, so no noise followed it."""
    cut = False

    def __init__(self):
        super().__init__()
        self.not_derived = set()  # hashes of charges whose recorded epsilon is not derived again


CUT = "the last line of the ledger, which was cut off while it was written and does not count"
MOST = 1e100  # of a scale, a noise multiplier or a norm
EVENT = {"mechanism", "count", "group", "adjacency"}  # of a plan; with these of single releases, or these of a run of steps:
NOISE, SAMPLED = EVENT | {"scale", "l1", "l2", "dimension", "value_step"}, EVENT | {"steps", "noise_multiplier", "sample_rate", "clipping", "sampling"}
POSITIVE = {"scale", "noise_multiplier", "max_grad_norm", "sample_rate", "steps"}
COSTS = (("delta", NUMBER), ("epsilon.upper", NUMBER, NOTHING), ("pure_epsilon", NUMBER, NOTHING), ("zcdp_rho", NUMBER, NOTHING))
NORMS = (("sensitivity.source", TEXT), ("sensitivity.l1", NUMBER, NOTHING), ("sensitivity.l2", NUMBER, NOTHING))
RELEASE = COSTS + NORMS + (("randomness", TEXT), ("mechanism", TEXT), ("sampler", TEXT), ("scale", NUMBER), ("dimension", WHOLE))
STEPS = COSTS + NORMS + (("mechanism", TEXT), ("noise_multiplier", NUMBER), ("sample_rate", NUMBER), ("steps", WHOLE))
RUN = STEPS + (("randomness", TEXT), ("run", TEXT), ("sampler", TEXT), ("first_step", WHOLE), ("scale", NUMBER), ("max_grad_norm", NUMBER),
               ("clipping", TEXT), ("dimension", WHOLE))
MEMBERS = {"release": RELEASE, "planned": RELEASE + (("charge", WHOLE),), "reserve": RUN, "import": STEPS, "plan": COSTS + (("events", LIST),),
           "budget": (("epsilon", NUMBER), ("delta", NUMBER)), "torn": (), "moved": (("to", TEXT),),
           "records": (("dataset_id", TEXT), ("key", TEXT), ("count", WHOLE), ("hashes", TEXT)),
           "released": (("charge", WHOLE), ("salt", TEXT), ("output", TEXT), ("certificate", TEXT)),
           "settled": COSTS + (("run", TEXT), ("entry", TEXT), ("steps", WHOLE))}


def read_ledger(path):
    data = read_bytes(path)
    lines, end = check_lines(data)
    if end < len(data):
        lines, _ = check_lines(data[:end])
    if not lines and not os.path.exists(path + ".new"):
        raise Refused(1, f"{path}: has no entry and is not new, so what was charged to it is lost")
    any_order(lines)
    lines.cut = end < len(data)
    return lines


def check_lines(data):
    """Every line, and where what counts ends. What costs privacy is numbered; early lines are not. The hash of a line is that of its text
    without the hash; 'prev' is the hash of the line before."""
    lines, before, charges, spent, wanted, at, start = Lines(), "0" * 64, 0, set(), 0, 0, 0
    running = {}  # the last reservation of each run, while it may be settled: the line, number of the charge
    pieces = data.split(b"\n")
    for text in pieces[:-1] if data.endswith(b"\n") or not data else pieces:
        where = f"line {len(lines) + 1}"
        digest = hashlib.sha256(text[:-75] + b"}").hexdigest()
        if text[-75:] != b',"hash":"%s"}' % digest.encode():
            if at + len(text) == len(data):
                break
            raise Refused(1, f"{where}: its hash does not match, so the ledger was changed after it was written")
        line = parse(text, where)
        if line.get("prev") != before or not same(line.get("index"), len(lines)):
            raise Refused(1, f"{where}: does not follow the line before it, so lines were removed or reordered")
        event = check_members(line, where)
        if event in CHARGES:
            if "charge" in line and not same(line["charge"], charges):
                raise Refused(1, f"{where}: has another number among the charges than {charges}")
            charges += 1
        if event == "released" and not 0 <= line["charge"] < charges:
            raise Refused(1, f"{where}: names a charge that is not before it")
        if event == "reserve":
            running[line["run"]] = (line, charges - 1)
        if event == "released":
            running = {run: last for run, last in running.items() if last[1] != line["charge"]}
        if event == "settled":
            last, _ = running.pop(line["run"], ({"hash": None, "steps": 0}, 0))
            if line["entry"] != last["hash"] or not 1 <= line["steps"] <= last["steps"]:
                raise Refused(1, f"{where}: settles no reservation that is open; expected the last one of its run, once")
        start = at if not wanted else start
        wanted = line.get("followed_by") or max(0, wanted - 1)
        if event == "planned":
            spend_slot(lines, line, spent, where)
        if event in CHARGES + ("settled", "planned"):
            facts = last | {name: line[name] for name in ("epsilon", "delta", "pure_epsilon", "zcdp_rho", "steps")} if event == "settled" else line
            if not check_recorded(facts, where) and event != "planned":
                lines.not_derived.add(facts["hash"])
        lines.append(line)
        before, at = digest, at + len(text) + 1
    return lines, start if wanted else min(at, len(data))


def check_event(event, where):
    """An event of a plan; what may be left out is filled in."""
    if not isinstance(event, dict):
        raise Refused(1, f"{where}: an event is no object")
    steps = "steps" in event
    if steps and "count" in event:
        raise Refused(1, f"{where}: 'count' and 'steps' of an event mean the same")
    event.setdefault("count", 1), event.setdefault("group", 1)
    if not steps:
        event.setdefault("dimension", 0)
    for name, *kinds in ((("steps", WHOLE), ("noise_multiplier", NUMBER), ("sample_rate", NUMBER)) if steps else (("scale", NUMBER), ("dimension", WHOLE))) + \
            (("mechanism", TEXT), ("adjacency", TEXT), ("count", WHOLE), ("group", WHOLE)) + tuple((name, NUMBER) for name in ("l1", "l2", "value_step") if name in event):
        value = find(event, name, *kinds)
        if isinstance(value, NUMBER) and not (0 < value <= MOST or name in ("dimension", "group") and value >= 0 or name in ("count", "steps") and value > 0):
            raise Refused(1, f"{where}: '{name}' of an event is out of range")
    by_l2, adjacency = event["mechanism"] == "gaussian", "add-remove" if steps and event.get("sampling", "poisson") == "poisson" else "replace-one"
    if set(event) - (SAMPLED if steps else NOISE) or event["group"] > 1 or event["adjacency"] != adjacency or steps and (
            event["sample_rate"] > 1 or event.get("clipping", "l2") not in ("l1", "l2") or event.get("sampling", "poisson") not in ("poisson", "fixed")) or \
            not steps and (not by_l2 and ("l1" not in event or "l2" in event) or by_l2 and not {"l1", "l2"} & set(event)):
        raise Refused(1, f"{where}: an event is no single release and no run of steps that a plan can hold")


def check_members(line, where):
    """What each event says, in range; returns the event."""
    event, schema = line.get("event"), line.get("schema")
    own = "sotto.ledger/3" if {"any_order", "columns", "plan"} & set(line) else "sotto.ledger/2" if "person" in line else "sotto.ledger/1"
    if not isinstance(event, str) or event not in MEMBERS or (schema != own if "schema" in line or event != "torn" else False):
        raise Refused(1, f"{where}: is of an unknown kind and may cost privacy")
    run = event == "reserve" or event == "planned" and "run" in line
    for name, *kinds in RUN + (("charge", WHOLE),) * (event == "planned") if run else MEMBERS[event]:
        value = find(line, name, *kinds)
        if isinstance(value, NUMBER) and (value < 0 or value == 0 and name in POSITIVE or
                                          value > MOST and name in ("scale", "noise_multiplier", "max_grad_norm", "sensitivity.l1", "sensitivity.l2")):
            raise Refused(1, f"{where}: '{name}' is out of range")
    if event not in ("budget", "records", "torn", "moved", "released"):
        low, high = line["epsilon"].get("lower"), line["epsilon"]["upper"]
        if low is not None and (find(line, "epsilon.lower", NUMBER) < 0 or high is not None and low > high) or line["delta"] >= 1:
            raise Refused(1, f"{where}: epsilon is below its lower end, or delta is not below 1")
    if (run or event == "import") and line["sample_rate"] > 1 or run and (
            line["clipping"] not in ("l1", "l2") or line.get("sampling", "poisson") not in ("poisson", "fixed") or line.get("protects", "inputs") != "inputs"):
        raise Refused(1, f"{where}: the rate, clipping or sampling of steps is not known")
    if "person" in line and event in CHARGES + ("planned",):
        if not 1 <= find(line, "person.rows", WHOLE) <= 2**20:
            raise Refused(1, f"{where}: 'person.rows' is out of range")
        if "persons" in line["person"] and (find(line, "person.persons", WHOLE) < 1 or "noise_multiplier" not in line):
            raise Refused(1, f"{where}: 'person.persons' is out of range, or of no run")
        find(line, "person.column", TEXT, NOTHING)
    if "followed_by" in line and event in ("release", "reserve", "import", "planned", "budget") and find(line, "followed_by", WHOLE) < 0:
        raise Refused(1, f"{where}: 'followed_by' is below 0")
    if event == "budget" and line["delta"] >= 1:
        raise Refused(1, f"{where}: the budget's delta is not below 1")
    if run and (not -1074 <= (find(line, "lattice_exponent", WHOLE) if "lattice_exponent" in line else 0) <= 1023 or
                line.get("on_lattice", True) not in (True, False) or isinstance(line.get("on_lattice"), int) and not isinstance(line["on_lattice"], bool) or
                line.get("noise_mode", "exact") not in ("exact", "fast")):
        raise Refused(1, f"{where}: the lattice of a run is not known")
    for planned in line["events"] if event == "plan" else ():
        check_event(planned, where)
    if event == "plan" and not line["events"]:
        raise Refused(1, f"{where}: plans nothing")
    if event == "records" and not (hexadecimal(line["key"], 16) and re.fullmatch("([0-9a-f]{16}){%d}" % line["count"], line["hashes"])):
        raise Refused(1, f"{where}: 'hashes' are not 16 digits for each of {line['count']} records")
    return event


# ---- what a line records beside its own facts: the recorded numbers must not be smaller than these imply ----
BY_L1 = ("exponential", "permute-and-flip", "randomised-response", "smooth-median", "objective-perturbation")


@functools.lru_cache(maxsize=None)
def reached(facts, delta, epsilon):
    """Pure epsilon and rho of a release, and whether one of its bounds at delta is no larger than epsilon; None: nothing here tells."""
    c = json.loads(facts)
    kind, s = c["mechanism"], c["sensitivity"]
    if not (s["l1"] or kind not in BY_L1 and s["l2"]):
        raise ValueError("no norm is given")
    t1, t2, steps, h = shifts(c, kind, Decimal(c["scale"]), 53)
    rho = t2 * t2 / ZCDP.get(kind, 2)
    pure = None if kind in ("gaussian", "discrete-gaussian") else t2 if kind == "knorm" else t1
    if kind == "discrete-gaussian" or delta == 0 and pure is None:
        return pure, rho, None
    enough = epsilon * (1 + HAIR)
    if pure is not None and enough >= pure or delta == 0:
        return pure, rho, enough >= pure
    if kind == "gaussian":
        return pure, rho, gaussian_reaches(t2, delta, enough)
    least = discrete_laplace(steps, h, delta) if kind == "discrete-laplace" else \
        {"laplace": laplace, "logistic": logistic, "exponential": logistic}.get(kind, pure_pair)(t2 if kind == "knorm" else t1, delta)
    ok = enough >= least or enough >= renyi(lambda alpha: rho * alpha, delta) or \
        kind == "logistic" and c["dimension"] > 0 and enough >= logistic_renyi(t2, c["dimension"], delta)
    return pure, rho, ok


def facts_of(c, **other):
    """A release's own facts, as reached() and covers() take them."""
    step = c.get("value_step")
    names = {name: c[name] for name in ("mechanism", "scale", "dimension", "sensitivity", "sampler") if name in c} | other
    return json.dumps(names | {"lattice_exponent": math.frexp(step)[1] - 1 if step else 0})


def is_less(recorded, least):
    return recorded is not None and least is not None and written(recorded) < least * (1 - HAIR)


def check_recorded(line, where):
    """True: all that the line records was derived again."""
    epsilon, delta, pure, rho, ok, told = line["epsilon"]["upper"], Decimal(line["delta"]), line["pure_epsilon"], line["zcdp_rho"], True, False
    mechanism, of = line.get("mechanism"), None
    enough = NEVER if epsilon is None else written(epsilon)
    try:
        if line["event"] == "plan":
            return check_recorded_plan(line, where)
        if "noise_multiplier" in line:
            if mechanism not in ("gaussian", "laplace", "logistic") or mechanism == "laplace" and line.get("clipping") != "l1":
                return False
            replaced, by_l2 = line.get("adjacency") == "replace-one", mechanism == "gaussian"
            if "lattice_exponent" in line and shift_of_run(line) * Fraction(line["noise_multiplier"]) > 1 + Fraction(HAIR):
                raise Refused(1, f"{where}: its noise multiplier is larger than its noise over its norm")
            if replaced and is_sampled_as_one(line):
                step = pure_of_step(line)
                of = (NEVER if step is None else step * line["steps"], None)
            if by_l2 and line["sample_rate"] == 1 and delta > 0:  # a record is replaced by its opposite, or comes or goes
                t = rows_sampled(line) * Decimal(2 if replaced else 1) / Decimal(line["noise_multiplier"]) * Decimal(line["steps"]).sqrt()
                ok = told = gaussian_reaches(t, delta, enough * (1 + HAIR))
            elif line["delta"] > 0:
                told = check_composed(line, enough, where)
        elif mechanism == "propose-test-release":
            ok = not is_less(epsilon, 1 / Decimal(line["scale"]))
        elif mechanism in MECHANISMS and (not mechanism.startswith("discrete-") or line.get("value_step")):
            *of, ok = reached(facts_of(line), delta, enough)
            told = mechanism != "discrete-gaussian" and (ok is not None or delta == 0)
            of[0] = NEVER if of[0] is None else of[0]
    except (ArithmeticError, TypeError, ValueError, KeyError) as error:
        raise Refused(1, f"{where}: nothing follows from its scale, sensitivity and dimension ({error!r})")
    if ok is False or of and (is_less(pure, of[0]) or is_less(rho, of[1])):
        raise Refused(1, f"{where}: records less than its own mechanism, noise and sensitivity give")
    return told


def check_recorded_plan(line, where):
    """No release of a plan is by itself above what was recorded for all, and sums hold. The rest is check_composed()'s."""
    sums, enough, runs = [Decimal(0), Decimal(0)], NEVER if line["epsilon"]["upper"] is None else written(line["epsilon"]["upper"]), False
    for event in line["events"]:
        if "steps" in event:
            step, runs = pure_of_step(event), True
            sums[0] += NEVER if step is None else step * event["steps"]
            continue
        facts = facts_of(event, sampler="", sensitivity={"l1": event.get("l1"), "l2": event.get("l2")})
        pure, rho, ok = reached(facts, Decimal(line["delta"]), enough)
        sums = [sums[0] + (NEVER if pure is None else pure * event["count"]), sums[1] + rho * event["count"]]
        if ok is False and (event["count"] == 1 or pure is None):
            raise Refused(1, f"{where}: records less than one of its releases gives")
    if is_less(line["pure_epsilon"], sums[0]) or not runs and is_less(line["zcdp_rho"], sums[1]):
        raise Refused(1, f"{where}: records less than its releases give together")
    return check_composed(line, enough, where)


def check_composed(line, enough, where):
    """True: what a plan, or a run of sampled steps, recorded is at most 1 % below this program's own bound."""
    if line.get("adjacency") == "add-remove" or enough == NEVER:
        return False
    ok, e = compared(lambda finer: epsilon_of_charges([line], line["delta"], finer), enough)
    if ok is False:
        raise Refused(1, f"{where}: records epsilon {up(float(enough))}, which is not confirmed; this program finds at most {up(float(e))}")
    return ok is True


# ---- any order of choices: columns, which are fixed beforehand and add up what each charge takes of them ----
def triple(value):
    """Pure epsilon, squared shift of a Gaussian, failure. What people write stands for its decimal; a square was computed."""
    numbers = value if isinstance(value, list) else []
    if len(numbers) != 3 or any(isinstance(x, bool) or not isinstance(x, (int, float)) or not 0 <= x < NEVER for x in numbers) or numbers[2] > 1:
        raise Refused(1, "any_order: expected [pure, square, failure]")
    return [written(numbers[0]), Decimal(numbers[1]), written(numbers[2])]


@functools.lru_cache(maxsize=None)
def box_delta(e, m, d, x):
    """The curve of a box at x: formula (1) of docs/derivations/adaptive.md."""
    def curve(y):
        beyond = abs(y) / mu - mu / 2 if mu else NEVER  # in deviations; behind 60 it is off by less than 1e-780
        if beyond > 60:
            return max(Decimal(0), 1 - y.exp())
        if beyond < -60 or mu > 100:  # nothing is hidden
            return Decimal(1)
        return gaussian_curve(mu, y)
    mu, told = m.sqrt(), 1 / (1 + (-e).exp())
    return d + (1 - d) * (told * curve(x - e) + (1 - told) * curve(x + e))


HAIR = Decimal(10) ** -9  # what a box may be too small by, for numbers that were rounded


def fixed_columns(opens, before, where):
    """before: the charges so far, which columns count as spent."""
    columns = []
    if not isinstance(opens, dict) or not 1 <= len(find(opens, "boxes", LIST)) <= 16 or not 0 <= find(opens, "delta", NUMBER) < 1:
        raise Refused(1, f"{where}: 'columns' are no 1 to 16 boxes with a delta")
    for box in opens["boxes"]:
        spent = box["spent"]
        if find(box, "level", NUMBER) < 0:
            raise Refused(1, f"{where}: a column has a level below 0")
        columns.append({"level": find(box, "level", NUMBER), "box": triple(box["box"]), "spent": triple(spent if spent is not None else [0, 0, 0]), "dead": spent is None})
    epsilon, delta = find(opens, "epsilon", NUMBER, NOTHING), find(opens, "delta", NUMBER)
    held = sum(box_delta(*column["box"], written(column["level"])) for column in columns)
    if held > Decimal(delta) * (1 + HAIR) or any(epsilon not in (None, column["level"]) for column in columns):
        raise Refused(1, "columns hold more than the epsilon and delta beside them")
    for column in columns:
        if not column["dead"] and not holds_spent(column["spent"], before):
            raise Refused(1, f"{where}: opens columns of which less is spent than the charges before it need")
    return {"epsilon": epsilon, "delta": delta, "columns": columns, "derived": 0, "left": [], "wider": False}


def prices(line):
    """What the releases of a charge take of a column: (pure or NEVER, square of a Gaussian or NEVER) each; both NEVER: a curve."""
    if line.get("randomness", "os") != "os":
        return None
    if line["event"] == "plan":
        return [price for event in line["events"] for price in
                (prices(event | {"event": "reserve"}) if "steps" in event else
                 prices({"event": "release", **json.loads(facts_of(event, sampler="", sensitivity={"l1": event.get("l1"), "l2": event.get("l2")}))}) * event["count"])]
    if "noise_multiplier" in line and is_sampled_as_one(line) and (step := pure_of_step(line)):
        return [(step * line["steps"], square_of_pure(step) * line["steps"])]
    facts = needed(line)
    if not facts or facts[0][0] == "stated":
        return [(NEVER, NEVER)]
    if isinstance(facts[0], tuple):  # steps on all records
        return [(NEVER, facts[0][1] ** 2 * facts[1]) if facts[0][0] == "gaussian" else (facts[0][1] * facts[1], square_of_pure(facts[0][1]) * facts[1])]
    c = json.loads(facts[0])
    t1, t2, _, _ = shifts(c, c["mechanism"], Decimal(c["scale"]), 53)
    pure = t2 if c["mechanism"] == "knorm" else t1
    return [(NEVER, t2 * t2) if c["mechanism"] == "gaussian" else (pure, square_of_pure(pure))]


@functools.lru_cache(maxsize=None)
def square_of_pure(pure):
    """The smallest squared shift of a Gaussian that tells as much as a pure release, from below."""
    low, high = Decimal(0), Decimal(120**2)
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (low, middle) if pure_as_gaussian(pure, middle) else (middle, high)
    return low


def holds_spent(spent, before):
    """Whether a column has at least spent what the charges before it need, all of them taken together: each by itself, and the sum of the
    cheapest choices between pure parts and Gaussians, parts of releases included. Where a column may fail, Gaussians may cost less."""
    e, m, d = spent
    left, choices = m * (1 + HAIR), []
    for line in before:
        needs = prices(line)
        if needs is None:
            return False
        stated = written(line["epsilon"]["upper"]) if 0 < line["delta"] <= d and line["epsilon"]["upper"] is not None else NEVER
        facts = needed(line) if line["event"] != "plan" else None
        if facts and covers(*facts, e, m, d) is False:
            return False
        for pure, square in needs:
            if pure is NEVER and d > 0:
                continue
            if pure is NEVER and square is NEVER:
                return False
            if pure is NEVER:
                left -= square
            else:
                choices.append((min(pure, stated if line["event"] != "plan" else NEVER), square))
    for pure, square in sorted(choices, key=lambda x: x[1] / x[0] if x[0] else NEVER):
        part = min(Decimal(1), max(left, 0) / square) if square else Decimal(1)
        left, e = left - part * square, e - (1 - part) * pure
    return left >= -HAIR and e >= -HAIR * max(spent[0], HAIR)


def pure_as_gaussian(pure, m):
    """A Gaussian of squared shift m tells at least as much as any release of that pure epsilon."""
    return m > 120**2 or normal_cdf(m.sqrt() / 2) * (1 + HAIR) >= 1 / (1 + (-pure).exp())


@functools.lru_cache(maxsize=None)
def covers(facts, count, e, m, d):
    """Whether the box (e, m, d) covers `count` equal releases; None: nothing here tells. facts: ("gaussian", t), ("pure", epsilon),
    ("stated", epsilon, delta), or a release's own, as JSON."""
    c = None if isinstance(facts, tuple) else json.loads(facts)
    if c:
        bits = bits_of(c["sampler"])
        t1, t2, _, _ = shifts(c, c["mechanism"], Decimal(c["scale"]), bits)
        kind, t = ("gaussian", t2) if c["mechanism"] == "gaussian" else ("pure", t2 if c["mechanism"] == "knorm" else t1)
    else:
        kind, t = facts[:2]
    if kind == "stated":
        return d >= facts[2] * (1 - HAIR) and (e >= t * (1 - HAIR) or pure_as_gaussian(t, m))
    if kind == "gaussian" and m >= count * t * t * (1 - HAIR) or kind == "pure" and (
            e >= count * t * (1 - HAIR) or pure_as_gaussian(t, m / count)):
        return True
    if d == 0 and (kind == "gaussian" or 0 in (e, m)):
        return False
    if c:  # a pair of epsilon and delta
        derived, _ = derive(c, d)
        least = min((derived or {}).values(), default=NEVER)
        if least < NEVER and (e * (1 + HAIR) >= least or pure_as_gaussian(least, m)):
            return True
        return False if least < NEVER and m == 0 else None
    return None


def needed(line):
    """What covers() is asked about a charge, and how many of it; None: a curve of sampled steps, or a mechanism without a formula."""
    mechanism, steps = line.get("mechanism"), line.get("steps")
    if mechanism == "propose-test-release" or mechanism not in MECHANISMS or line["event"] == "release" and mechanism.startswith("discrete-") and \
            "value_step" not in line:  # what it recorded counts as stated
        stated = (line["epsilon"]["upper"], line["delta"]) if line["pure_epsilon"] is None else (line["pure_epsilon"], 0)
        return ("stated", *map(written, stated)), 1
    if line["event"] == "release":
        known = mechanism != "discrete-gaussian" and not line["sampler"].startswith("fixed number")
        return (facts_of(line), 1) if known else None
    if line.get("sample_rate") == 1 and is_sampled_as_one(line) and mechanism in ("gaussian", "laplace", "logistic") and \
            line.get("clipping", "l2") == ("l2" if mechanism == "gaussian" else "l1"):  # all records, in each step: a record is replaced by its opposite
        return ("gaussian" if mechanism == "gaussian" else "pure", 2 / Decimal(line["noise_multiplier"])), steps
    return None


def pure_of_step(event):
    """The most that a step of a run tells of a replaced record, as pure epsilon; None: it has none."""
    if event["mechanism"] not in ("laplace", "logistic") or event.get("clipping") != "l1":
        return None
    q, fixed = Decimal(event["sample_rate"]), event.get("sampling") == "fixed"
    t = (2 if fixed else 1) / Decimal(event["noise_multiplier"])
    more, less = (1 + q * (t.exp() - 1)).ln(), (1 + q * ((-t).exp() - 1)).ln()
    return more if fixed else more - less


def planned_run(event, line, offers, where):
    """What a run of a plan adds to the sums of its releases: its pure epsilon in all its steps; None: it has curves alone."""
    steps, pure = find(event, "steps", WHOLE), pure_of_step(event)
    if steps < 1 or "person" in line and line["person"]["rows"] > 1 or event["mechanism"] != "gaussian" and pure is None:
        raise Refused(1, f"{where}: plans a run of '{event['mechanism']}', which no plan can hold")
    if pure is None:
        if any(d == 0 for _, _, d in offers):
            raise Refused(1, f"{where}: offers less in 'any_order' than one of its releases needs")
        return None
    if any(covers(("pure", pure), steps, *offer) is False for offer in offers):
        raise Refused(1, f"{where}: offers less in 'any_order' than one of its releases needs")
    return pure, steps


def check_plan(fixed, line, said, where):
    """The boxes of a plan cover each of its releases; and, where nothing may fail, their sum. The composed curve is not derived here: a box
    above it is not below the lower end of epsilon that the line records, and is listed."""
    pure, square, gaussian, told = Decimal(0), Decimal(0), [], True
    offers = [triple(offer) for offer in said["offers"]]
    curves = False  # of a run, which nothing here derives
    for event in find(line, "events", LIST):
        if "steps" in event:
            run = planned_run(event, line, offers, where)
            curves = curves or run is None
            gaussian += [run] if run else []
            pure += run[0] * run[1] if run else 0
            continue
        kind, count, step = event["mechanism"], find(event, "count", WHOLE), event.get("value_step")
        sampler = next(iter(SAMPLERS)) if kind in ("logistic", "laplace", "gaussian") else ""
        facts = {"mechanism": kind, "scale": event["scale"], "dimension": event["dimension"], "sampler": sampler,
                 "sensitivity": {"l1": event.get("l1"), "l2": event.get("l2")}, "lattice_exponent": math.frexp(step)[1] - 1 if step else 0}
        if kind not in MECHANISMS or kind in ("discrete-gaussian", "propose-test-release") or count < 1:
            raise Refused(1, f"{where}: plans '{kind}', which no plan can hold")
        t1, t2, _, _ = shifts(facts, kind, Decimal(facts["scale"]), bits_of(sampler))
        if any(covers(json.dumps(facts), count, *offer) is False for offer in offers):
            raise Refused(1, f"{where}: offers less in 'any_order' than one of its releases needs")
        if kind == "gaussian":
            square += count * t2 * t2
        else:
            gaussian.append((t2 if kind == "knorm" else t1, count))
            pure += gaussian[-1][0] * count
    derived = derived_by_curve(fixed, line, offers, where) if curves else None
    for e, m, d in offers if not derived else ():
        if not curves and (e >= pure * (1 - HAIR) and m >= square * (1 - HAIR) or as_gaussians(gaussian, m - square * (1 - HAIR))):
            continue
        low, delta = line["epsilon"].get("lower"), line["delta"]
        if d == 0 or low and delta > 1e-12 and box_delta(e, m, d, Decimal(low)) * (1 + HAIR) < Decimal(delta):
            raise Refused(1, f"{where}: offers less in 'any_order' than its releases need together")
        told = False
    fixed["derived"] += told
    fixed["left"] += [] if told else [where]


def as_gaussians(releases, m):
    """Whether the squared shift m is enough for pure releases (epsilon, count), each by the Gaussian that covers it."""
    for epsilon, count in releases:
        low, high = Decimal(0), Decimal(max(m, 0)) / count
        if not pure_as_gaussian(epsilon, high):
            return False
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if pure_as_gaussian(epsilon, middle) else (middle, high)
        m -= low * count
    return m >= -HAIR * max(m, 1)


def derived_by_curve(fixed, line, offers, where):
    """True: the boxes are above the curve of sampled steps, as boxes_cover() says; None: not decided."""
    needs = specs_of(line) if offers else None
    ok = boxes_cover(merged(needs), tuple(map(tuple, offers))) if needs else None
    if ok is False:
        raise Refused(1, f"{where}: offers less in 'any_order' than its steps need")
    fixed["wider"] = fixed["wider"] or ok is True
    return ok


def check_offers(fixed, line, said, where):
    """The boxes that a line offers cover its release. Those that nothing here tells are not below the lower end of epsilon that the line
    records, and are listed."""
    if line["event"] == "plan":
        return check_plan(fixed, line, said, where)
    facts, told, offers = needed(line), True, [triple(offer) for offer in said["offers"]]
    derived = derived_by_curve(fixed, line, offers, where) if not facts else None
    for e, m, d in offers:
        ok = covers(*facts, e, m, d) if facts else derived
        told = told and ok is not None
        low, delta = line["epsilon"].get("lower"), line["delta"]
        if (ok is None or derived) and low and delta > 1e-12:
            ok = box_delta(e, m, d, Decimal(low)) * (1 + HAIR) >= Decimal(delta)
        if ok is False:
            raise Refused(1, f"{where}: offers less in 'any_order' than its mechanism, noise and sensitivity need")
    fixed["derived"] += told
    fixed["left"] += [] if told else [where]


def take(columns, said, where):
    offers, took = [triple(x) for x in find(said, "offers", LIST)], find(said, "took", LIST)
    if len(offers) > 8:
        raise Refused(1, f"{where}: offers {len(offers)} boxes")
    if len(took) != len(columns):
        raise Refused(1, f"{where}: takes of {len(took)} columns; the ledger has {len(columns)}")
    for column, index in zip(columns, took):
        if index is None:
            column["dead"] = True
            continue
        if column["dead"] or isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(offers):
            raise Refused(1, f"{where}: takes of a column that is dead, or what was not offered")
        e, m, d = offers[index]
        spent = column["spent"]
        both = spent[2] + d - spent[2] * d
        column["spent"] = [spent[0] + e, spent[1] + m, both]
        if any(x > y * (1 + Decimal(2) ** -70) for x, y in zip(column["spent"], column["box"])):
            raise Refused(1, f"{where}: does not fit into its column")


def any_order(lines):
    """The epsilon that holds for an analyst who looks before choosing, or None: the ledger is of before there were columns."""
    settled = {line["entry"]: {name: line[name] for name in ("any_order", "steps", "epsilon", "delta")} for line in lines
               if line["event"] == "settled" and "any_order" in line}
    charged = {line["entry"]: {name: line[name] for name in ("steps", "epsilon", "delta")} for line in lines if line["event"] == "settled"}
    fixed, before, budget = None, [], None
    for number, line in enumerate(lines, 1):
        if line["event"] == "budget":
            if budget and (line["epsilon"] > budget["epsilon"] or line["delta"] > budget["delta"]):
                raise Refused(1, f"line {number}: its budget is larger than the one before it")
            budget = line
        said = line.get("any_order")
        holder = line if line["event"] == "budget" else said if isinstance(said, dict) else {}
        opens = holder.get("columns", ...)
        if opens is not ... and fixed and fixed["epsilon"] is not None and before:
            raise Refused(1, f"line {number}: fixes columns again")
        if line["event"] == "budget" and opens is not ...:
            fixed = fixed_columns(opens, before, f"line {number}")
        if line["event"] not in CHARGES:
            continue
        if "any_order" not in line:
            before.append(line | charged.get(line["hash"], {}))
            if fixed:
                raise Refused(1, f"line {number}: says nothing of the ledger's columns")
            continue
        if not isinstance(said, dict):
            raise Refused(1, f"line {number}: 'any_order' is no object")
        if opens is not ...:
            fixed = fixed_columns(opens, before, f"line {number}")
        if not fixed:
            raise Refused(1, f"line {number}: takes of columns that were not fixed")
        less = settled.get(line["hash"], {})
        if less and (less["any_order"].get("took") != said["took"] or len(less["any_order"]["offers"]) != len(said["offers"]) or
                     any(x > y for few, all_ in zip(less["any_order"]["offers"], said["offers"]) for x, y in zip(triple(few), triple(all_)))):
            raise Refused(1, f"line {number}: was settled at more than it reserved")
        line = line | less
        before.append(line | charged.get(line["hash"], {}))
        check_offers(fixed, line, line["any_order"], f"line {number}")
        take(fixed["columns"], line["any_order"], f"line {number}")
    return fixed


def wider_level(column):
    """Epsilon of a column whose shift is 1 % larger, at the delta that it has at its level."""
    (e, m, d), level = column["box"], written(column["level"])
    share, top = box_delta(e, m, d, level), 2 * level + 1
    return falling_root(lambda x: box_delta(e, m * WIDER, d, x), share, top) if m and box_delta(e, m * WIDER, d, top) <= share else NEVER if m else level


def any_order_said(path):
    fixed = any_order(read_ledger(path))
    if not fixed:
        return "nothing: its charges are of before there were columns"
    levels, left = [column["level"] for column in fixed["columns"] if not column["dead"]], fixed["left"]
    derived = f"; what {fixed['derived']} charge{'' if fixed['derived'] == 1 else 's'} took was derived again"
    derived += "" if not left else f"; NOT derived again (curves, as of sampled steps): what {len(left)} took, " + ", ".join(left[:4]) + (" ..." if len(left) > 4 else "")
    if not levels:
        return "no finite epsilon: no column holds all charges"
    if fixed["wider"]:
        bound = max(wider_level(column) for column in fixed["columns"] if column["level"] == min(levels))
        derived += "; boxes of runs with a shift 1 % larger, as this program's curves are larger: epsilon at most " + ("infinite" if bound == NEVER else up(float(bound))) + \
            f", which does not mean that the {'budget' if fixed['epsilon'] is not None else 'level'} is exceeded"
    return f"epsilon {up(min(levels))} at delta {fixed['delta']:g}, {'the budget' if fixed['epsilon'] is not None else 'the first level that holds'}" + derived


def check_ledger(v, c, claim, path, certificate):
    if path is None:
        v.left.append("the ledger, as none was given: whether the release was charged, and in which ledger, is open")
        v.left.append("that this file came out of the charge, which the ledger alone can tell")
        return
    try:
        lines = read_ledger(path)
    except Refused as error:
        if error.code == 66:
            raise
        v.check("ledger chain", False, str(error))
        return
    v.left += [CUT] if lines.cut else []
    v.left.append("whether later entries of the ledger were removed")
    entry = next((line for line in lines if line["hash"] == c["ledger"]["hash"]), None)
    wanted = "planned" if "plan" in c else "reserve" if "run" in c else "release"
    v.check("ledger entry", entry is not None and entry["event"] == wanted, f"the ledger holds no such {wanted}")
    if entry is None:
        return
    facts = ("records", "condition", "unit_of_privacy", "person", "plan") if "run" in c else \
        ("mechanism", "scale", "dimension", "sensitivity", "sampler", "purpose", "records", "condition", "unit_of_privacy", "person", "plan")
    accounts = () if "run" in c or not claim else \
        ("epsilon", "delta", "accountant", "pure_epsilon", "zcdp_rho", "adjacency", "bounds")
    for name, mine in [(name, c) for name in facts] + [(name, claim) for name in accounts]:
        v.check("recorded facts", same(entry.get(name), mine.get(name)), f"'{name}' is {entry.get(name)!r} in the ledger")
    name, number = place({name: entry[name] for name in ("charge" if "charge" in entry else "index",)})
    v.check("recorded place", place(c["ledger"]) == (name, number), f"the entry has '{name}' {number}")
    if "run" in c:
        check_reservations(v, c, claim, lines)
    else:
        v.check("recorded randomness", (entry.get("randomness") == "os") == (claim is not None), str(entry.get("randomness")))
        commitment = hashlib.sha256(((entry.get("input_nonce") or "") + (entry.get("input_sha256") or "")).encode()).hexdigest()
        v.check("input commitment", c.get("input_commitment") == commitment, "it is not that of the ledger's entry")
    v.done.append("ledger's chain is whole and holds this release")
    if "plan" in c:
        v.done.append(f"it is slot {c['plan']['slot']} of plan {c['plan']['id'][:16]}, which the ledger counts once")
    if v.failed:
        return
    if "charge" not in entry:
        v.left.append("which file came out of that charge, which an entry of an early version does not tell")
        return
    check_released_line(v, c, [line for line in lines if line["event"] == "released" and line["charge"] == entry["charge"]], certificate)


def check_released_line(v, c, lines, certificate):
    """Once the file was complete, a line said that it, and this certificate, came out of the charge."""
    def salted(line, digest):
        return hashlib.sha256((line["salt"] + digest).encode()).hexdigest()
    document = hashlib.sha256(read_bytes(certificate).rstrip(b"\n")).hexdigest()
    own = [line for line in lines if line["output"] == salted(line, c["output_sha256"])]
    v.check("released line", own, f"the ledger names {len(lines)} files that came out of the charge, and not this one")
    v.check("released certificate", sum(line["certificate"] == salted(line, document) for line in own) == 1,
            f"the ledger names {len(own)} certificates of that file, and not this one, or more than once")
    v.done.append("the ledger says that this file and this certificate came out of that charge")
    v.bound = True


def check_reservations(v, c, claim, lines):
    """The ledger knows exactly the reservations that the certificate lists, up to its own, all of the same steps."""
    run = c["run"]
    if "ranks" in run or "sampling_by" in run:  # coins of several ranks would be another mechanism
        v.check("sampling", find(run, "ranks", WHOLE) >= 2 and run.get("sampling_by") == "rank 0", "records of a step are drawn by rank 0 alone")
    name, last = place(c["ledger"])
    charges = [line["hash"] for line in lines if line["event"] in CHARGES]
    number = {line["hash"]: line["index"] if name != "charge" else line["charge"] if line["event"] == "planned" else charges.index(line["hash"])
              for line in lines if line.get("run") == run["id"] and line["event"] in CHARGES + ("planned",)}
    own = []
    for line in lines:
        if line.get("run") == run["id"] and line["event"] == "settled":  # a limit of time, set beforehand: fewer steps were taken
            v.check("reservations", own and own[-1]["hash"] == line.get("entry") and 1 <= find(line, "steps", WHOLE) <= own[-1]["steps"],
                    f"line {line['index'] + 1} settles no reservation that is open")
            own[-1:] = [own[-1] | {"steps": line["steps"]}] if own else []
        elif line.get("run") == run["id"] and line["event"] in CHARGES + ("planned",):
            own.append(line)
    own = [line for line in own if number[line["hash"]] <= last]
    listed = [{name: number[line["hash"]], **{key: line.get(key) for key in ("hash", "first_step", "steps")}} for line in own]
    v.check("reservations", same(listed, run["reservations"]), f"the ledger holds {len(own)} of this run")
    for line in own:
        for name in ("mechanism", "scale", "max_grad_norm", "sample_rate", "dimension", "clipping", "protects", "labels", "person"):
            v.check("reservations", same(line.get(name), run.get(name)), f"'{name}' is {line.get(name)!r} in the ledger")
        v.check("reservations", line.get("sampling", "poisson") == run.get("sampling", "poisson"), "other sampling in the ledger")
        v.check("reservations", line.get("condition") in (None, run.get("condition")), "another condition in the ledger")
        v.check("reservations", (line.get("randomness") == "os") == (claim is not None), "other randomness in the ledger")
        v.check("lattice of the run", line.get("lattice_exponent", -9999) <= run.get("lattice_exponent", -9999) and
                (line.get("on_lattice", False) or not run.get("on_lattice", False)), "a coarser one in the ledger")
    if run.get("labels"):
        labels = next((line for line in lines if line["hash"] == run["labels"].get("entry")), {})
        v.check("labels", labels.get("mechanism") == "randomised-response" and
                same(labels.get("scale"), run["labels"].get("scale")) and
                (labels.get("randomness") == "os" or claim is None), "they were released otherwise")


def written(x):
    """A number of at most 15 digits is the decimal that was written: ten times 0.1 is 1."""
    short = Decimal(repr(float(x)))
    return short if len(short.as_tuple().digits) <= 15 else Decimal(x)


def replace_one(line):
    """Pure epsilon, rho, epsilon and delta that a charge recorded, for a record that is replaced: an add-remove account counts twice."""
    pure, rho, epsilon = (NEVER if x is None else written(x) for x in (line["pure_epsilon"], line["zcdp_rho"], line["epsilon"]["upper"]))
    delta = written(line["delta"])
    if line.get("adjacency") == "add-remove":
        delta = delta * (1 + min(epsilon, Decimal(700)).exp())
        pure, rho, epsilon = 2 * pure, 4 * rho, 2 * epsilon
    return pure, rho, epsilon, delta


def specs_of(line):
    """What a charge releases, as epsilon_together() takes it: [(kind, shift or pure epsilon, step or failure, count)], of sampled steps [("steps",
    (mechanism, sampling), (rate, shift, rows of a person), count)]. None: this program has no curve of it."""
    if line["event"] == "plan":
        found = []
        for event in line["events"]:
            if "steps" in event and rows_sampled(line) > 1:
                return None  # no plan holds a person's run
            one = specs_of(event | {"event": "reserve"}) if "steps" in event else specs_of(
                {"event": "release", **json.loads(facts_of(event, sampler="", sensitivity={"l1": event.get("l1"), "l2": event.get("l2")}))})
            if one is None:
                return None
            found += one if "steps" in event else [(*one[0][:3], event["count"])]
        return found
    mechanism = line.get("mechanism")
    if "noise_multiplier" in line:
        sampling, rows = line.get("sampling", "poisson"), rows_sampled(line)
        if mechanism != "gaussian" and pure_of_step(line) is None or rows > 1 and sampling != "poisson":
            return None
        shift = shift_of_run(line) if "lattice_exponent" in line else 1 / Fraction(line["noise_multiplier"])
        q = Fraction(line["sample_rate"])
        if mechanism == "gaussian" and q == 1:
            return [("gaussian", 2 * rows * Decimal(shift.numerator) / shift.denominator, None, line["steps"])]
        return [("steps", (mechanism, sampling), (q, shift, rows), line["steps"])]
    if mechanism not in MECHANISMS or mechanism == "propose-test-release" or line["sampler"].startswith(("fixed number", "exact, doubts flat")) or \
            mechanism.startswith("discrete-") and not line.get("value_step", line.get("lattice_exponent")):
        if line.get("adjacency") == "add-remove" or line["epsilon"]["upper"] is None:
            return None
        stated = (line["epsilon"]["upper"], line["delta"]) if line["pure_epsilon"] is None else (line["pure_epsilon"], 0)
        return [("stated", written(stated[0]), written(stated[1]), 1)]
    if mechanism == "discrete-gaussian":
        return None
    facts = json.loads(facts_of(line))
    t1, t2, _, h = shifts(facts, mechanism, Decimal(line["scale"]), bits_of(line["sampler"]))
    return [(mechanism, t2 if mechanism in ("gaussian", "knorm") else t1, h or None, 1)]


def merged(needs):
    """Equal ones counted together."""
    counts = {}
    for *need, count in needs:
        counts[tuple(need)] = counts.get(tuple(need), 0) + count
    return tuple((*need, count) for need, count in counts.items())


def epsilon_of_charges(charges, delta, finer):
    """Epsilon of all that these charges release; None: not decided."""
    needs = [specs_of(line) for line in charges]
    return None if None in needs else epsilon_together(merged([one for need in needs for one in need]), delta, finer)


def named(line):
    return "line %d (%s)" % (line["index"] + 1, line.get("purpose") or line.get("mechanism") or line["event"])


def total(path):
    """What all charges of a ledger add up to, in one line; and whether that was decided."""
    lines = read_ledger(path)
    settled = {line["entry"]: {name: line[name] for name in ("pure_epsilon", "zcdp_rho", "epsilon", "delta", "steps")} for line in lines if line["event"] == "settled"}
    charges, budget = [line | settled.get(line["hash"], {}) for line in lines if line["event"] in CHARGES], [line for line in lines if line["event"] == "budget"]
    delta = budget[-1]["delta"] if budget else max((line["delta"] for line in charges), default=0)
    if lines.cut:
        print(printable(f"sotto-verify.py: {path}: {CUT}"), file=sys.stderr)
    if any("randomness" in line and line["randomness"] != "os" for line in charges):
        return "none: an entry used seeded noise", True
    unknown = [named(line) for line in charges if specs_of(line) is None]
    both = f"at delta {delta:g} (replace-one), proved and conditional together"
    if not unknown:
        e = epsilon_of_charges(charges, delta, 2)
        if e is not None:
            return f"epsilon at most {up(float(e))} {both}: composed here from the mechanism, noise and sensitivity of what {len(charges)} charges recorded", True
    pure, rho, epsilon, spent = (sum((replace_one(line)[i] for line in charges), Decimal(0)) for i in range(4))
    bounds = [pure] + ([epsilon] if spent <= written(delta) else [])
    if delta > 0 and 0 < rho < NEVER:
        bounds.append(renyi(lambda alpha: rho * alpha, Decimal(delta)) + MARGIN)
    best, own = min(bounds), f", of {len(lines.not_derived)} of which the epsilon is NOT checked against its own facts" if lines.not_derived else ""
    said = "no finite epsilon" if best == NEVER else "epsilon at most " + up(float(best))
    return f"NOT decided: this program has no curve of {', '.join(unknown[:4]) + (' ...' if len(unknown) > 4 else '') or 'so large or so many losses'}; sums of what " \
        f"{len(charges)} charges recorded{own} give {said} {both}", False


# ---- the report ----
def printable(text):  # a certificate is not to steer a terminal
    return "".join(x if x.isprintable() else "?" for x in text)


def report(v, c, claim, path, derived, key, ledger):
    def row(label, text):
        print("  %-13s%s" % (label, printable(text)))
    verdict = "does NOT verify: " + v.failed if v.failed else "NOT decided: " + v.undecided if v.undecided else "consistent, signed" if key else "consistent, NOT signed"
    print(printable(f"{path}: {verdict}"))
    if v.failed:  # the rest is worth no more than what failed, so nothing else is said
        return
    if claim is None:
        row("claim", "none: noise was seeded")
    else:
        epsilon = claim["epsilon"]["upper"]
        row("claim", "%s at delta %g, %s adjacency (%s, scale %.6g)" % (
            "no finite epsilon" if epsilon is None else "epsilon " + up(epsilon) if v.found is None else
            "epsilon at most %s, re-derived here; the certificate says %s" % (up(float(v.found)), up(epsilon)), claim["delta"], claim["adjacency"],
            c["mechanism"], c["scale"]))
        row("unit", "of privacy: " + unit_of(c))
    condition = claim and claim.get("condition")
    row("proved", "none" if condition or not derived else
        "sensitivity and account, for " + v.proof if v.proof else
        "the account alone, for noise of that scale and the stated sensitivity")
    sure = [] if derived or claim is None else ["Epsilon follows from noise and sensitivity as the certificate says, which was NOT re-derived."]
    sure += sentences(condition or ("the sensitivity, which was NOT re-derived" if claim and not v.proof else ""))
    row("conditional", "only if all of this is true: " + " ".join(sure) if sure else "nothing")
    row("measured", "the sensitivity, over sampled pairs" if c["sensitivity"]["source"] == "sampled" else "nothing")
    row("checked", "; ".join(v.done) or "nothing")
    row("not checked", "; ".join(v.left))
    if ledger is not None:
        try:
            row("together", total(ledger)[0] + "; it holds if all parameters had been fixed beforehand")
            row("any order", any_order_said(ledger))
        except Refused:
            row("together", "not known: the ledger cannot be read")
    row("signature", f"valid, by key {key}: worth as much as you know of that key" if key else "none that is valid: all other "
        "checks also pass for a file, certificate and ledger that were changed together")


def verify(options):
    """0: consistent, 1: a check failed, 2: not decided. Raises Refused."""
    tail, file = ".certificate.json", options.file
    path = file if file.endswith(".json") and not os.path.exists(file + tail) else file + tail  # answers are JSON too
    released = options.released or (file if path != file else file[:-len(tail)] if file.endswith(tail) else None)
    if not options.released and path == file and released and not os.path.exists(released):
        released = None
    trusted, v, c = [trusted_key(key) for key in options.trust], Checks(), read_certificate(path)
    claim = claimed(c)
    key = check_signature(v, path, trusted)
    if "run" in c:
        check_run(v, c)
    check_wording(v, c, claim)
    derived = check_account(v, c, claim) if claim else False
    check_released(v, c, released)
    check_ledger(v, c, claim, options.ledger, path)
    if c["schema"].endswith("/1"):
        v.left.append("number of records, condition and identity of the data set, which a certificate of version 1 does not contain")
    v.left.append("that the program that made the file followed its recipe" if v.proof and c["sensitivity"]["source"] in ("proved", "clipped") else "the sensitivity, which is %s" % {"given": "stated by the caller", "sampled": "measured: evidence, not a bound"}
                  .get(c["sensitivity"]["source"], "taken from the certificate; and that training followed its recipe"))
    if not v.bound:
        v.left.append("time, version and purpose%s, which are taken from the certificate" % ("" if v.proof else ", and the number of records"))
    v.left += [f"the member '{name}': a signature lies beside a certificate, not within it"
               for name in ("signature", "signatures", "key", "public_key") if name in c]
    report(v, c, claim, path, derived, key, options.ledger)
    return 1 if v.failed else 2 if v.undecided else 0


# ---- known answers: RFC 8032, section 7.1, and one epsilon of each formula ----
VECTORS = (
    ("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
     "d25bf5f0595bbe24655141438e7a100b"),
    ("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
     "387b2eaeb4302aeeb00d291612bb0c00"),
    ("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
     "4a7c15e9716ed28dc027beceea1ec40a"))


def self_test():
    wrong = 0

    def expect(name, ok):
        nonlocal wrong
        wrong += not ok
        print(("ok     " if ok else "WRONG  ") + name)
    for i, (seed, key, message, signature) in enumerate(VECTORS, 1):
        seed, key, message, signature = (bytes.fromhex(x) for x in (seed, key, message, signature))
        expect(f"Ed25519, RFC 8032 test {i}", public_key(seed) == key and signature_valid(key, message, signature))
        beyond = signature[:32] + (int.from_bytes(signature[32:], "little") + ORDER).to_bytes(32, "little")
        expect(f"Ed25519, test {i} changed", not signature_valid(key, message + b"x", signature) and
               not signature_valid(key, message, beyond))
    nothing = point_encode(ZERO)
    expect("Ed25519, keys of small order", not signature_valid(nothing, b"any", nothing + bytes(32)))
    one, small = Decimal(1), Decimal("1e-5")
    expect("normal distribution", abs(normal_cdf(one) - Decimal("0.84134474606854294858523254563")) < Decimal("1e-29") and
           abs(normal_cdf(Decimal(-10)) / Decimal("7.61985302416052606597337e-24") - 1) < Decimal("1e-22"))
    for name, found, back in (("laplace", laplace(one, small), lambda e: 1 - ((e - 1) / 2).exp()),
                              ("logistic", logistic(one, small), lambda e: (1 - ((e - 1) / 2).exp()) ** 2 / (1 - (-one).exp())),
                              ("randomised response", pure_pair(one, small), lambda e: (1 - (e - 1).exp()) / (1 + (-one).exp())),
                              ("discrete laplace", discrete_laplace(1, one, small),
                               lambda e: (1 - (e - 1).exp()) / (1 + (-one).exp()))):
        expect(name + ": its delta at epsilon", abs(back(found) / small - 1) < Decimal("1e-30"))
    expect("gaussian, sigma 1", abs(gaussian(one, small) - Decimal("4.3771780956812")) < Decimal("1e-12"))
    near, far = gaussian_curve(Decimal(30), Decimal(577)), gaussian_curve(30 + MARGIN, Decimal(577))
    expect("gaussian, a shift of 30: both formulas give one curve", abs(near / far - 1) < Decimal("1e-37"))
    pure_part, shift = Decimal("0.6"), Decimal("0.2365")
    expect("box of a run and three pure releases: epsilon 1.576 at 1e-6", abs(box_delta(pure_part, shift * shift, Decimal("1e-9"),
           Decimal("1.5763")) * 10**6 - 1) < Decimal("0.01"))
    expect("boxes of next to nothing and of everything, in no time", [box_delta(0 * one, m, small, one / 2) for m in (small ** 2, one * 10**12)]
           == [small, 1] and pure_as_gaussian(one, one * 10**12))
    expect("the Gaussian of randomised response", pure_as_gaussian(Decimal("0.6"), Decimal("0.558367")) and
           not pure_as_gaussian(Decimal("0.6"), Decimal("0.558365")))
    expect("a sampled step by Renyi, as of quadrature within 1 %", abs(renyi_of_step("replace-one", Decimal("0.01"), 1 / Decimal("1.1"), 8) / Decimal("0.001486") - 1) < Decimal("0.012")
           and abs(renyi_of_step("zero-out", one / 8, one, 2) - (1 + (one.exp() - 1) / 64).ln()) < MARGIN)
    expect("no bound is below the truth", renyi(lambda alpha: alpha / 2, small) > gaussian(one, small))
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(prog="sotto-verify.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", nargs="?", metavar="FILE")
    parser.add_argument("--ledger", metavar="FILE")
    parser.add_argument("--released", metavar="FILE")
    parser.add_argument("--trust", metavar="KEY", action="append", default=[])
    parser.add_argument("--total", metavar="LEDGER")
    parser.add_argument("--self-test", action="store_true")

    def usage(text):
        raise Refused(64, text)
    parser.error = usage
    try:
        options = parser.parse_args()
        if options.self_test + (options.file is not None) + (options.total is not None) != 1:
            usage("expected one FILE, or --self-test, or --total LEDGER")
        if options.total is not None:
            said, decided = total(options.total)
            print(printable(f"{options.total}: together {said}; it holds if all parameters had been fixed beforehand"))
            print(printable(f"{options.total}: any order of choices: {any_order_said(options.total)}"))
            return 0 if decided else 2
        return self_test() if options.self_test else verify(options)
    except Refused as error:
        print("sotto-verify.py: " + printable(str(error)), file=sys.stderr)
        return error.code
    except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        print(printable(f"sotto-verify.py: {options.file}: is not as docs/FORMATS.md says ({error!r})"), file=sys.stderr)
        return 65


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader wanted no more; nothing is left to be flushed at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 74
    sys.exit(code)

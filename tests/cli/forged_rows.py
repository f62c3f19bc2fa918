"""A table of forgeries, one a row: what a forger does to an honest certificate or ledger, and the exit code of both verifiers.
    forged_rows.py VERIFIER SOTTO K/EACH MEAN RUN PLANNED    files with their certificates; MEAN.jsonl is the ledger of all three

MEAN is signed, RUN is a head by DP-SGD, PLANNED has a slot of a plan. Of EACH rows the Kth is asked about. A row of a certificate alone is asked
without the ledger. A row of `everything` makes hashes, links, released line and certificate anew, so that the numbers alone can tell."""
import copy, hashlib, json, os, subprocess, sys
from decimal import Decimal
from fractions import Fraction
from bundles import Bundle, python_says, sha256, verifier

sotto, (turn, each), names = sys.argv[2], map(int, sys.argv[3].split("/")), sys.argv[4:]
for name in names[1:]:
    with open(names[0] + ".jsonl", "rb") as f, open(name + ".jsonl", "wb") as out:
        out.write(f.read())
MEAN, RUN, PLANNED = bundles = [Bundle(name) for name in names]
HOLDS, REFUSED, UNDECIDED = (0,), (1, 65), (2,)
rows = []


def row(bundle, what, change, way="certificate", mine=REFUSED, theirs=REFUSED, trust=False):
    rows.append((bundle, what, change, way, mine, theirs, trust))


def claim(c):
    proved = c["guarantee"]["proved"]
    return proved if isinstance(proved, dict) else c["guarantee"]["conditional"]


def line_of(b):
    return next(line for line in b.lines if line["hash"] == b.certificate["ledger"]["hash"])


def states(c, one, other=None):
    """Both ends and all bounds of epsilon, and the sentence, made to fit."""
    some = claim(c)
    some["epsilon"] = {"lower": one * 0.9999, "upper": one}
    some["bounds"] = {some["accountant"]: one}
    if other:
        some["other"]["epsilon"] = {"lower": other * 0.9999, "upper": other}
    person = "; unit of privacy: " + verifier.unit_of(c) if "person" in c else ""
    c["guarantee"]["statement"] = verifier.statement(some, some.get("condition") or "", person, verifier.up)


def put(path, value):
    """The change of one member of the certificate; a function of the old value, or the new one."""
    def change(b):
        *way, last = path.split(".")
        at = b.certificate
        for key in way:
            at = claim(b.certificate) if key == "claim" else at[key]
        at[last] = value(at[last]) if callable(value) else value
    return change


def entry(path, value):
    """The same of the ledger's line."""
    def change(b):
        *way, last = path.split(".")
        at = line_of(b)
        for key in way:
            at = at[int(key)] if isinstance(at, list) else at[key]
        last = int(last) if isinstance(at, list) else last
        at[last] = value(at[last]) if callable(value) else value
    return change


def each_of(*changes):
    def change(b):
        for one in changes:
            one(b)
    return change


def text(old, new):
    """Bytes of the certificate, once."""
    def change(b):
        assert old in b.text, old
        b.text = b.text.replace(old, new, 1)
    return change


# ---- epsilon of a run: that of more noise, a smaller rate, fewer steps, a larger delta; in the certificate, and everywhere
def epsilon_of(run, delta, adjacency, sigma=1, rate=1, steps=1, more=1):
    return float(verifier.epsilon_of_unit(adjacency, "poisson", Fraction(run["sample_rate"]) * Fraction(rate), verifier.shift_of_run(run) / Fraction(sigma),
                                          int(run["steps"]["charged"] * steps), delta * more))


def lesser(**by):
    def change(b):
        c = b.certificate
        some = claim(c)
        states(c, *(epsilon_of(c["run"], some["delta"], adjacency, **by) for adjacency in ("replace-one", "zero-out")))
        line = line_of(b)
        line["epsilon"], line["bounds"] = some["epsilon"], some["bounds"]
        offers = line["any_order"]["offers"]
        for offer in offers:
            offer[1] *= 0.5
    return change


def epsilon_alone(by, other=False):
    def change(b):
        some = claim(b.certificate)
        states(b.certificate, some["epsilon"]["upper"] * (1 if other else by), some["other"]["epsilon"]["upper"] * by if "other" in some else None)
    return change


for what, by in (("noise a tenth larger", {"sigma": 1.1}), ("four fifths of the rate", {"rate": 0.8}), ("two thirds of the steps", {"steps": 0.67}), ("ten times the delta", {"more": 10})):
    row(RUN, f"epsilon of {what}", lesser(**by))
    row(RUN, f"epsilon of {what}, in the ledger too", lesser(**by), "everything")
row(RUN, "epsilon 2 % down", epsilon_alone(0.98))
row(RUN, "epsilon halved", epsilon_alone(0.5))
row(RUN, "epsilon a millionth", epsilon_alone(1e-6))
row(RUN, "the other epsilon halved", epsilon_alone(0.5, other=True))
row(RUN, "lower end above this bound", put("claim.epsilon.lower", lambda x: x * 1.5))
for b in (MEAN, PLANNED):
    row(b, "epsilon a millionth part down", epsilon_alone(1 - 1e-6))
    row(b, "epsilon halved", epsilon_alone(0.5))
    row(b, "epsilon a hundredth up", epsilon_alone(1.01))

# ---- facts of the account, each alone
for b, what, path, value in (
        (MEAN, "delta halved", "claim.delta", lambda x: x / 2), (MEAN, "delta 0", "claim.delta", 0), (RUN, "delta a tenth", "claim.delta", lambda x: x / 10),
        (RUN, "fewer steps charged", "run.steps.charged", lambda x: x - 1), (RUN, "more steps used than charged", "run.steps.used", lambda x: x + 1),
        (RUN, "a reservation shorter", "run.reservations", lambda x: [x[0] | {"steps": x[0]["steps"] - 1}]), (RUN, "no reservation", "run.reservations", []),
        (RUN, "half the rate", "run.sample_rate", lambda x: x / 2), (RUN, "rate 0", "run.sample_rate", 0), (RUN, "rate above 1", "run.sample_rate", 1.5),
        (RUN, "noise of the run doubled", "run.scale", lambda x: x * 2), (RUN, "multiplier doubled", "run.noise_multiplier", lambda x: x * 2),
        (MEAN, "scale doubled", "scale", lambda x: x * 2), (MEAN, "exact scale doubled", "scale_exact", lambda x: (2 * float.fromhex(x)).hex()),
        (MEAN, "deviation doubled", "standard_deviation", lambda x: x * 2), (MEAN, "L2 halved", "sensitivity.l2", lambda x: x / 2),
        (RUN, "clipping norm halved", "run.max_grad_norm", lambda x: x / 2), (RUN, "sensitivity of the run halved", "sensitivity.l2", lambda x: x / 2),
        (MEAN, "records doubled", "records", lambda x: x * 2), (MEAN, "range halved", "statistic.range", lambda x: [x[0], x[1] / 2]),
        (MEAN, "sensitivity called proved", "sensitivity.source", "proved"), (PLANNED, "sensitivity called clipped", "sensitivity.source", "clipped"),
        (MEAN, "adjacency zero-out", "claim.adjacency", "zero-out"), (RUN, "adjacency zero-out", "claim.adjacency", "zero-out"),
        (RUN, "adjacency of both the same", "claim.other.adjacency", "replace-one"), (MEAN, "another accountant", "claim.accountant", "renyi"),
        (MEAN, "rho halved", "claim.zcdp_rho", lambda x: x / 2), (MEAN, "a pure epsilon", "claim.pure_epsilon", 0.1), (RUN, "a rho of steps", "claim.zcdp_rho", 0.1),
        (RUN, "clipping by L1", "run.clipping", "l1"), (RUN, "sampling of a fixed size", "run.sampling", "fixed"), (RUN, "another mechanism", "mechanism", "laplace"),
        (RUN, "dimension less", "run.dimension", lambda x: x - 1), (RUN, "a coarser lattice", "run.lattice_exponent", lambda x: x + 20),
        (MEAN, "unit of a person", "unit_of_privacy", "one person (column name, at most 1 row each)"), (MEAN, "rows of a person", "person", {"column": "a", "rows": 1}),
        (MEAN, "condition invented", "condition", "that it rains"), (PLANNED, "no condition on the stated sensitivity", "claim.condition", None),
        (MEAN, "seeded", "randomness", "noise was seeded: no privacy guarantee"), (MEAN, "sampler of another kind", "sampler", "a better one"),
        (MEAN, "hash of the file", "output_sha256", lambda x: x[:-1] + ("0" if x[-1] != "0" else "1")), (MEAN, "version of tomorrow", "version", "9.9.9"),
        (MEAN, "time of tomorrow", "time", "2999-01-01T00:00:00Z"), (PLANNED, "slot 0", "plan.slot", 0), (MEAN, "schema /9", "schema", "sotto.certificate/9")):
    row(b, what, put(path, value))
row(PLANNED, "another slot", put("plan.slot", lambda x: x + 1), "ledger")
row(MEAN, "purpose", put("purpose", "none of yours"), "ledger")
row(MEAN, "input commitment", put("input_commitment", "0" * 64), "ledger")
row(RUN, "steps beyond the limits", each_of(put("run.steps.charged", 2**41), put("run.reservations", lambda x: [x[0] | {"steps": 2**41}])), mine=REFUSED + UNDECIDED)

# ---- JSON that is read in two ways, and numbers that are none
for what, old, new in (
        ("delta twice", b'"delta":', b'"delta": 1e-9, "delta":'), ("steps twice", b'"charged":', b'"charged": 1, "charged":'), ("NaN", b'"dimension": ', b'"dimension": NaN'),
        ("Infinity", b'"dimension": ', b'"dimension": Infinity'), ("1e999", b'"dimension": ', b'"dimension": 1e999 '), ("twenty digits", b'"dimension": ', b'"dimension": 1844674407370955161'),
        ("1e-999", b'"delta": ', b'"delta": 1e-999 '), ("digits of another script", b'"dimension": ', '"dimension": ٣'.encode()), ("a fraction of steps", b'"dimension": ', b'"dimension": 0.'),
        ("leading zero", b'"dimension": ', b'"dimension": 0'), ("plus sign", b'"dimension": ', b'"dimension": +'), ("hexadecimal", b'"dimension": ', b'"dimension": 0x'),
        ("minus", b'"dimension": ', b'"dimension": -'), ("true", b'"steps": {', b'"steps": true, "x": {'), ("a comment", b"{", b"{ /* */"), ("byte order mark", b"{", b"\xef\xbb\xbf{"),
        ("a byte that is no text", b'"mechanism": "', b'"mechanism": "\xff'), ("a NUL", b'"mechanism": "', b'"mechanism": "\\u0000'), ("half a pair", b'"mechanism": "', b'"mechanism": "\\ud800'),
        ("something behind", b"{", b"{} {"), ("an array", b"{", b"[{"), ("deep nesting", b"{", b'{"deep": ' + b"[" * 5000 + b"]" * 5000 + b", ")):
    row(RUN, what, text(old, new), "bytes")
row(RUN, "cut off", lambda b: setattr(b, "text", b.text[:-20]), "bytes")
row(RUN, "empty", lambda b: setattr(b, "text", b""), "bytes")

# ---- the signature, for a reader who names the key
row(MEAN, "honest and signed", lambda b: None, "bytes", HOLDS, HOLDS, trust=True)
row(MEAN, "one space more than was signed", lambda b: setattr(b, "text", b.text + b" "), "bytes", trust=True)
row(MEAN, "signature removed", lambda b: setattr(b, "signature", None), "bytes", trust=True)
for what, member, value in (("of another key", "public_key", "0" * 64), ("in capitals", "signature", str.upper), ("one digit", "signature", lambda x: ("0" if x[0] != "0" else "1") + x[1:]),
                            ("of another scheme", "algorithm", "none"), ("cut", "signature", lambda x: x[:-2])):
    def sign(b, member=member, value=value):
        b.signature = b.signature | {member: value(b.signature[member]) if callable(value) else value}
    row(MEAN, f"signature {what}", sign, "bytes", trust=True)


# ---- the ledger: lines as bytes, then numbers by one who makes every hash anew
def lines(change):
    return lambda b: change(b.lines)


def at(b, event):
    return next(i for i, line in enumerate(b.lines) if line["event"] == event)


row(MEAN, "a byte of the ledger", lambda b: setattr(b, "ledger", b.ledger.replace(b'"mechanism":"gaussian"', b'"mechanism":"gaussiaN"', 1)), "ledger bytes")
row(MEAN, "the charge dropped", lambda b: setattr(b, "ledger", b"".join(x for x in b.ledger.splitlines(True) if b.certificate["ledger"]["hash"].encode() + b'"}\n' not in x)), "ledger bytes")
row(MEAN, "a member twice in a line", lambda b: setattr(b, "ledger", b.ledger.replace(b'{"schema"', b'{"delta":0,"schema"', 1)), "ledger bytes")
row(MEAN, "the ledger empty", lambda b: setattr(b, "ledger", b""), "ledger bytes")
row(MEAN, "the ledger reversed", lambda b: setattr(b, "ledger", b"".join(reversed(b.ledger.splitlines(True)))), "ledger bytes")
row(RUN, "the reservation dropped", lambda b: b.lines.remove(line_of(b)), "everything")
row(MEAN, "the charge twice", lambda b: b.lines.insert(b.lines.index(line_of(b)) + 1, {**line_of(b), "hash": "x"}), "everything")
row(PLANNED, "the plan dropped", lambda b: b.lines.pop(at(b, "plan")), "everything")
row(PLANNED, "the slot spent twice", lambda b: b.lines.insert(at(b, "planned") + 1, {**b.lines[at(b, "planned")], "hash": "x"}), "everything")
row(PLANNED, "a plan without the event", lambda b: b.lines[at(b, "plan")]["events"].pop(0), "everything")
row(PLANNED, "a plan that recorded half", lambda b: b.lines[at(b, "plan")]["epsilon"].update(lower=0.0, upper=b.lines[at(b, "plan")]["epsilon"]["upper"] / 2), "everything")
row(MEAN, "a budget that grows", lambda b: b.lines.append({**b.lines[at(b, "budget")], "epsilon": 99.0, "hash": "x"}), "everything")
row(MEAN, "columns that hold more", lambda b: b.lines[at(b, "budget")]["columns"]["boxes"][1]["box"].__setitem__(1, b.lines[at(b, "budget")]["columns"]["boxes"][1]["box"][1] * 1.01), "everything")
row(MEAN, "an unknown event", lambda b: b.lines.append({**line_of(b), "event": "refund", "hash": "x"}), "everything")
for b, what, path, value in (
        (MEAN, "records less epsilon", "epsilon", lambda x: {"lower": x["lower"] / 2, "upper": x["upper"] / 2}), (MEAN, "records less delta", "delta", lambda x: x / 1000),
        (MEAN, "takes half", "any_order.offers.0.1", lambda x: x / 2), (MEAN, "takes of no column", "any_order.took", lambda x: [None for _ in x]),
        (MEAN, "offers nothing", "any_order.offers", []), (MEAN, "larger scale", "scale", lambda x: x * 2), (MEAN, "smaller sensitivity", "sensitivity.l2", lambda x: x / 2),
        (MEAN, "less rho", "zcdp_rho", lambda x: x / 2), (RUN, "takes half", "any_order.offers.0.1", lambda x: x / 2), (RUN, "fewer steps", "steps", lambda x: x - 1),
        (RUN, "half the rate", "sample_rate", lambda x: x / 2), (RUN, "another run", "run", "0" * 32), (RUN, "seeded", "randomness", "seeded"),
        (RUN, "another noise", "scale", lambda x: x * 2),
        (PLANNED, "another scale than planned", "scale", lambda x: x * 2), (PLANNED, "of another plan", "plan.id", "0" * 64)):
    row(b, f"the line {what}", entry(path, value), "everything")
row(RUN, "the line another multiplier", entry("noise_multiplier", lambda x: x * 2), "everything")


def bound(b):
    """The released line of a certificate that was changed: salt and hashes of what lies there now."""
    charge = b.certificate["ledger"].get("charge")
    for line in b.lines:
        if line["event"] == "released" and line["charge"] == charge:
            line["certificate"] = sha256((line["salt"] + sha256(b.text.rstrip(b"\n"))).encode())


def ask(bundle, what, change, way, mine, theirs, trust):
    f = bundle.forge()
    f.signature = copy.deepcopy(bundle.signature)
    change(f)
    if way in ("certificate", "ledger"):
        f.said()
    elif way == "everything":
        f.chained().renamed_in_certificate()
        for _ in range(2):
            bound(f), f.chained()
    arguments = [f.lay_out(), *(["--ledger", "f.jsonl"] if way in ("ledger", "ledger bytes", "everything") else []), *(["--trust", "office.key.pub"] if trust else [])]
    beside = arguments[0] + ".certificate.json.signature.json"
    if trust and f.signature:
        with open(beside, "w") as out:
            json.dump(f.signature, out)
    elif os.path.exists(beside):
        os.remove(beside)
    code, said = python_says(*arguments)
    found = subprocess.run([sotto, "verify", *arguments], capture_output=True, text=True, check=False)
    good = code in mine and found.returncode in theirs
    if not good:
        print(f"WRONG {os.path.basename(f.name)}, {what} ({way}): sotto verify says {found.returncode}, the other verifier {code}\n{found.stdout}{found.stderr}{said}", flush=True)
    return good


for bundle, name in zip(bundles, names):
    bundle.name, bundle.signature = name, None
with open(names[0] + MEAN.end + ".certificate.json.signature.json") as f:
    MEAN.signature = json.load(f)
for bundle in bundles:  # the control: nothing is forged
    rows.insert(0, (bundle, "honest", lambda b: None, "everything", HOLDS, HOLDS, False))
asked = [one for number, one in enumerate(rows) if number < 3 or number % each == turn % each]
wrong = sum(not ask(*one) for one in asked)
print(f"{len(rows)} rows, {len(asked)} asked, {wrong} wrong")
sys.exit(1 if wrong or len(rows) < 120 else 0)

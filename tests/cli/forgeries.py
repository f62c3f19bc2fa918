"""Forged releases: what a forger makes of an honest file, its certificate and its ledger, asked of both verifiers.
    forgeries.py VERIFIER SOTTO K/EACH NAME...    NAME.npy or NAME.safetensors with NAME.jsonl; of EACH forgeries the Kth is asked about

A forgery is a folder's content after one change: of a member of the certificate (another value, null, left out), of the file (a bit, the
values of another release, values without noise or too small for it, with the hash in the certificate corrected), of the ledger (lines changed,
left out, doubled; hashes and links made anew). Both verifiers must refuse it, and accept what is honest."""
import copy, json, struct, subprocess, sys
from bundles import Bundle, changed, leaves, python_says

sotto, (turn, each), names = sys.argv[2], map(int, sys.argv[3].split("/")), sys.argv[4:]
wrong = asked = made = 0


def ask(bundle, what, with_ledger, refused=True):
    """A forgery is counted, and of EACH the Kth is asked about."""
    global wrong, asked, made
    made += 1
    if refused and made % each != turn % each:
        return
    asked += 1
    arguments = [bundle.lay_out(), *(["--ledger", "f.jsonl"] if with_ledger else [])]
    mine, text = python_says(*arguments)
    found = subprocess.run([sotto, "verify", *arguments], capture_output=True, text=True, check=False)
    good = (1, 65) if refused else (0,)
    if mine not in good or found.returncode not in good:
        wrong += 1
        print(f"WRONG {what}{'' if with_ledger else ', no ledger'}: sotto verify says {found.returncode}, the other verifier {mine}\n"
              f"{found.stdout}{found.stderr}{text}")


def members(b, name):
    for path in leaves(b.certificate):
        for how in ("another", "null", "left out"):
            f = b.forge()
            f.certificate = changed(b.certificate, path, how)
            if f.certificate is not None:
                ask(f.said(), f"{name}: {'.'.join(map(str, path))} {how}", True)


# What nothing can contradict without the ledger is not among them: the purpose, the classes' giver, a time in the past.
ALONE = ("scale", "scale_exact", "dimension", "lattice_exponent", "schema", "randomness", "guarantee.statement", "sensitivity.statement",
         "sensitivity.source", "output_sha256", "unit_of_privacy")


def members_alone(b, name):
    for member in ALONE:
        for how in ("another", "left out") if member not in ("randomness", "unit_of_privacy") else ("another",):
            f = b.forge()
            f.certificate = changed(b.certificate, tuple(member.split(".")), how)
            if member == "randomness":
                f.certificate["randomness"] = "noise was seeded: no privacy guarantee"
            ask(f.said(), f"{name}: {member} {how}", False)
    for member, value in (("version", "99"), ("version", "9.0.0"), ("time", "9999-01-01T00:00:00Z"), ("time", "2024-02-31T00:00:00Z"),
                          ("time", "yesterday"), ("schema", "sotto.certificate/9"), ("mechanism", "nothing")):
        f = b.forge()
        f.certificate[member] = value
        ask(f.said(), f"{name}: {member} {value}", False)


def data_of(b):
    """Where the values begin in the file, their letter and number."""
    if b.end == ".npy":
        begin = 10 + struct.unpack("<H", b.file[8:10])[0]
        letter = {b"<f4": "f", b"<f8": "d", b"<i8": "q"}[b.file[:begin].split(b"'descr': '")[1][:3]]
    else:
        begin, letter = 8 + struct.unpack("<Q", b.file[:8])[0], "f"
    return begin, letter, (len(b.file) - begin) // struct.calcsize(letter)


def files(b, others, name):
    begin, letter, count = data_of(b)
    for at in (0, begin // 2, begin, len(b.file) - 1):
        data = bytearray(b.file)
        data[at] ^= 1
        f = b.forge()
        f.file = bytes(data)
        for ledger in (True, False):
            ask(f, f"{name}: byte {at} of the file", ledger)
        ask(b.forge().with_file(bytes(data)), f"{name}: byte {at} of the file, hash corrected", True)
    for cut in (b.file[:-1], b.file + b"x", b""):
        ask(b.forge().with_file(cut), f"{name}: {len(cut)} bytes of the file, hash corrected", True)
    bare = {"zeros": [0] * count, "small": [1] * count if letter == "q" else [1e-9 * i for i in range(count)]}
    for kind, values in bare.items():  # as Certificate.save() of an array without noise once did
        ask(b.forge().with_file(b.file[:begin] + struct.pack(f"<{count}{letter}", *values)), f"{name}: {kind} for values", True)
    for other_name, other in others:
        ask(b.forge().with_file(other.file), f"{name}: the file of {other_name}", True)
        f = b.forge()
        f.certificate, f.ledger = copy.deepcopy(other.certificate), other.ledger
        ask(f.with_file(b.file), f"{name}: certificate and ledger of {other_name}", True)
        f = b.forge()
        f.ledger = other.ledger
        ask(f, f"{name}: the ledger of {other_name}", True)


def values_alone(b, name):
    """Arrays that were never noised, with the hash corrected, and no ledger to ask."""
    begin, letter, count = data_of(b)
    step = 2.0 ** b.certificate["lattice_exponent"]
    for kind, values in (("zeros", [0.0] * count), ("thirds", [1 / 3 + i for i in range(count)]),
                         ("on the lattice and too small", [(2 * i + 1) * step / 2 for i in range(count)])):
        # the lattice of K-norm noise is as fine as doubles, and whole numbers may be zeros
        if letter == "d" and b.certificate["mechanism"] in ("laplace", "logistic", "gaussian"):
            ask(b.forge().with_file(b.file[:begin] + struct.pack(f"<{count}d", *values)), f"{name}: {kind} for values", False)


def checksum_alone(b, name):
    """What only an unprotected head has, or one whose trainer added the noise: a checksum of weights, recipe and records."""
    size = struct.unpack("<Q", b.file[:8])[0]
    header = json.loads(b.file[8:8 + size])
    header["__metadata__"]["training_sha256"] = "0" * 64
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    ask(b.forge().with_file(struct.pack("<Q", len(text)) + text + b.file[8 + size:]), f"{name}: another training_sha256", False)


def ledgers(b, name):
    own = next(i for i, line in enumerate(b.lines) if line["hash"] == b.certificate["ledger"]["hash"])
    released = next(i for i, line in enumerate(b.lines) if line["event"] == "released" and line["charge"] == b.certificate["ledger"]["charge"])
    for at in (10, len(b.ledger) // 2, len(b.ledger) - 5):
        f = b.forge()
        f.ledger = b.ledger[:at] + bytes([b.ledger[at] ^ 1]) + b.ledger[at + 1:]
        ask(f, f"{name}: byte {at} of the ledger", True)
    f = b.forge()
    f.ledger = b.ledger[:-100]
    ask(f, f"{name}: the ledger cut", True)
    f.ledger = b""
    ask(f, f"{name}: the ledger emptied", True)

    def rewrite(what, change, in_certificate=True):
        f = b.forge()
        change(f.lines)
        f.chained()
        ask(f.renamed_in_certificate() if in_certificate else f, f"{name}: {what}", True)
    rewrite("no released line", lambda lines: lines.pop(released), False)
    rewrite("the released line twice", lambda lines: lines.insert(released + 1, {**lines[released], "hash": "x"}), False)
    rewrite("no charge", lambda lines: lines.pop(own), False)
    rewrite("the charge twice", lambda lines: lines.insert(own + 1, {**lines[own], "hash": "x"}), False)
    rewrite("charge and released line exchanged", lambda lines: lines.insert(own, lines.pop(released)), False)
    rewrite("an unknown event", lambda lines: lines.append({**lines[own], "event": "refund", "hash": "x"}), False)
    for member in ("salt", "output", "certificate"):
        rewrite(f"released: another {member}", lambda lines: lines[released].update({member: "0" * 64}), False)
    rewrite("released: of another charge", lambda lines: lines[released].update(charge=lines[released]["charge"] + 1), False)
    # lines of other content, hashes made anew, in the certificate too: the released line is of the old one
    for path in leaves({k: v for k, v in b.lines[own].items() if k not in ("hash", "prev", "index")}):
        rewrite(f"charge: {'.'.join(map(str, path))}", lambda lines: lines.__setitem__(own, changed(lines[own], path, "another")))
    f = b.forge()
    f.certificate["ledger"] = {"index": b.lines[own]["index"], "hash": b.lines[own]["hash"]}
    for r in f.certificate.get("run", {}).get("reservations", ()):
        r["index"] = r.pop("charge")
    ask(f.said(), f"{name}: the certificate counts lines, as early ones did", True)
    f.certificate["ledger"]["charge"] = b.certificate["ledger"]["charge"]
    ask(f.said(), f"{name}: the certificate counts both", True)


bundles = [(name, Bundle(name)) for name in names]
for name, b in bundles:
    ask(b, f"{name}: honest", True, refused=False)
    ask(b, f"{name}: honest", False, refused=False)
    made -= 2
    members(b, name)
    members_alone(b, name)
    files(b, [other for other in bundles if other[0] != name], name)
    if b.end == ".npy":
        values_alone(b, name)
    elif b"sotto.head/" in b.file:
        checksum_alone(b, name)
    ledgers(b, name)
print(f"{made} forgeries of {len(bundles)} releases, {asked} questions to both verifiers")
sys.exit(1 if wrong or made < 120 else 0)

"""A released file with its certificate and ledger, and how a forger changes it: for forgeries.py and forged_rows.py."""
import contextlib, copy, hashlib, importlib.util, io, json, os, sys

spec = importlib.util.spec_from_file_location("verifier", sys.argv[1])
verifier = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verifier)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Bundle:
    """A released file, its certificate as a document, the lines of its ledger."""

    def __init__(self, name):
        self.end = ".npy" if os.path.exists(name + ".npy") else ".safetensors"
        self.file, text = read(name + self.end), read(name + self.end + ".certificate.json")
        self.certificate, self.text = json.loads(text), text
        self.lines = [json.loads(line) for line in read(name + ".jsonl").splitlines()]
        self.ledger = read(name + ".jsonl")

    def forge(self):
        other = copy.copy(self)
        other.certificate, other.lines = copy.deepcopy(self.certificate), copy.deepcopy(self.lines)
        return other

    def said(self):
        """The certificate as it was changed, in the form of the honest one."""
        self.text = json.dumps(self.certificate, indent=2).encode() + b"\n"
        return self

    def with_file(self, data):
        self.file, self.certificate["output_sha256"] = data, sha256(data)
        return self.said()

    def chained(self):
        """Hashes, links and places of the lines as they are now; what names the hash of a line names its new one."""
        out, before, renamed = [], "0" * 64, {}
        for i, line in enumerate(self.lines):
            line = {**line, "index": i, "prev": before}
            old = line.pop("hash")
            line |= {"entry": renamed.get(line["entry"], line["entry"])} if "entry" in line else {}
            line |= {"plan": line["plan"] | {"id": renamed.get(line["plan"]["id"], line["plan"]["id"])}} if "plan" in line else {}
            body = json.dumps(line, separators=(",", ":"), ensure_ascii=False)
            before = renamed[old] = sha256(body.encode())
            out.append(body[:-1] + ',"hash":"%s"}\n' % before)
        self.ledger, self.renamed = "".join(out).encode(), renamed
        return self

    def renamed_in_certificate(self):
        c = self.certificate
        for place in [c["ledger"], *c.get("run", {}).get("reservations", ())]:
            place["hash"] = self.renamed.get(place["hash"], place["hash"])
        if "plan" in c:
            c["plan"]["id"] = self.renamed.get(c["plan"]["id"], c["plan"]["id"])
        return self.said()

    def lay_out(self):
        for data, path in ((self.file, "f" + self.end), (self.text, "f" + self.end + ".certificate.json"), (self.ledger, "f.jsonl")):
            with open(path, "wb") as f:
                f.write(data)
        return "f" + self.end


def python_says(*arguments):
    out, kept, sys.argv = io.StringIO(), sys.argv, ["sotto-verify.py", *arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = verifier.main()
    sys.argv = kept
    return code, out.getvalue()


def leaves(at, path=()):
    if isinstance(at, (dict, list)) and at:
        for key in at if isinstance(at, dict) else range(len(at)):
            yield from leaves(at[key], path + (key,))
    else:
        yield path


def changed(document, path, how):
    """The document with one member of another value, null, or left out; None where that is no change."""
    out = copy.deepcopy(document)
    at = out
    for key in path[:-1]:
        at = at[key]
    old = at[path[-1]]
    if how == "left out" and isinstance(at, dict):
        del at[path[-1]]
    elif how == "null" and old is not None:
        at[path[-1]] = None
    elif how == "another":
        at[path[-1]] = not old if isinstance(old, bool) else old + "x" if isinstance(old, str) else old * 1.001 if isinstance(old, float) else \
            old + 1 if isinstance(old, int) else "x"
    else:
        return None
    return out

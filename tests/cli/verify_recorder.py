"""sotto-verify.py, which also writes down what it was asked and how it answered: for the browser's verifier, which must answer the same.
Another test takes this file in the place of sotto-verify.py. SOTTO_VERIFIER: the real one. SOTTO_RECORD: where the questions go, one a line."""
import base64, contextlib, io, json, os, re, sys

asked_directly, __name__ = __name__ == "__main__", "verifier"  # the other file is not to start by itself
with open(os.environ["SOTTO_VERIFIER"], encoding="utf-8") as source:
    exec(compile(source.read(), os.environ["SOTTO_VERIFIER"], "exec"))
answered = main
# every epsilon that is said of the release or of the ledger, and of how many charges
FIGURES = re.compile(r"(?:epsilon(?: at most)?|what) (infinite|[\d.e+-]*\d)", re.I)
ABOUT = re.compile(r"^  (?:claim|together|any order) .*|^.*: (?:together|any order of choices:) .*", re.M)


def asked(arguments):
    """The files of a question as the page takes them, or None: it is about usage, or a file is missing."""
    named, files, trust = {}, [], []
    for word in (words := iter(arguments)):
        if word == "--trust":
            trust.append(next(words))
        else:
            named[word[2:] if word.startswith("--") else "file"] = next(words) if word.startswith("--") else word
    tail, file = ".certificate.json", named.get("file")
    if file:
        certificate = file if file.endswith(".json") else file + tail
        beside = named.get("released") or (file if certificate != file else file[:-len(tail)] if file.endswith(tail) else None)
        found = {"certificate": certificate, "signature": certificate + ".signature.json", "released": beside, "ledger": named.get("ledger")}
    else:
        found = {"ledger": named.get("total")}
    for role, path in found.items():
        if path and os.path.exists(path):
            files.append((role, path))
    files += [("key", key) for key in trust if len(key) != 64]
    if not files or any(path and path.endswith(".jsonl") and os.path.exists(path + ".new") for path in found.values()):
        return None
    data = [{"role": role, "name": os.path.basename(path), "data": base64.b64encode(open(path, "rb").read()).decode()} for role, path in files]
    return {"files": data, "trust": [key for key in trust if len(key) == 64]}


def main():
    arguments, out = sys.argv[1:], io.StringIO()
    with contextlib.redirect_stdout(out):
        code = answered()
    sys.stdout.write(out.getvalue())
    said = [re.sub("; the certificate says.*", "", line) for line in ABOUT.findall(out.getvalue())]
    try:
        question = asked(arguments)
    except (OSError, StopIteration):
        question = None
    if question and code in (0, 1, 2, 65):
        with open(os.environ["SOTTO_RECORD"], "a", encoding="utf-8") as out:
            out.write(json.dumps({**question, "what": os.environ.get("SOTTO_WHAT", " ".join(arguments)), "code": code, "figures": FIGURES.findall("".join(said))}) + "\n")
    return code


if asked_directly:
    sys.exit(main())

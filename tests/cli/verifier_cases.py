"""What tests/cli/verifier*.bats ask of the stand-alone verifier, which is called within this process: a start
takes longer than a check.  verifier_cases.py VERIFIER forgeries FOLDER | offers SOTTO LEDGER... | settlements SOTTO LEDGER | conditions GOLDEN | curves | steps SOTTO EFFORT | runs SOTTO FILE... | totals SOTTO LEDGER... | alike SOTTO COUNT FILE... | members SOTTO NAME... | proofs HEAD... | signatures SOTTO FILE KEY"""
import contextlib, copy, decimal, functools, hashlib, importlib.util, io, json, math, os, random, re, struct, subprocess, sys
from fractions import Fraction

spec = importlib.util.spec_from_file_location("verifier", sys.argv[1])
verifier = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verifier)
verifier.gaussian = functools.lru_cache(maxsize=None)(verifier.gaussian)  # a hundred forgeries are of one scale and delta
wrong = 0


def expect(ok, text):
    global wrong
    if not ok:
        wrong += 1
        print("WRONG " + text)


def ask(*arguments):
    """Exit code and text."""
    out, kept, sys.argv = io.StringIO(), sys.argv, ["sotto-verify.py", *arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = verifier.main()
    sys.argv = kept
    return code, out.getvalue()


def words_hold(text, name):
    lines = text.splitlines()
    expect("verified" not in text.lower(), f"{name}: says verified")
    for line in lines[1:]:
        if line.startswith("  proved "):
            expect(line in ("  proved       none", "  proved       the account alone, for noise of that scale and the stated "
                            "sensitivity", "  proved       sensitivity and account, for training by the stated recipe",
                            "  proved       sensitivity and account, for the stated statistic of so many records",
                            "  proved       sensitivity and account, for randomised response on each label"), f"{name}: {line}")
            expect("recipe" not in line or any(done in text for done in ("sensitivity derived again from the file's recipe", "noise, rate and steps agree with the file's recipe")),
                   f"{name}: {line}")
            expect(line.endswith("none") or "epsilon re-derived" in text and "does NOT verify" not in text,
                   f"{name}: proves what was not derived")


def conditions(golden):
    """A condition on a line, and below it the sentences that it becomes."""
    with open(golden, encoding="utf-8") as lines:
        for part in ("\n" + lines.read().rstrip()).replace("\n    ", "\t").split("\n")[1:]:
            text, *said = part.split("\t")
            expect(list(verifier.sentences(text)) == said, f"{text}: {list(verifier.sentences(text))}, expected {said}")


def forgeries(folder):
    counts, kinds = {}, set()
    for name in sorted(os.listdir(folder)):
        where = os.path.join(folder, name)
        files = os.listdir(where)
        certificate = next(f for f in files if f.endswith(".certificate.json"))
        arguments = [os.path.join(where, certificate)]
        arguments += ["--ledger", os.path.join(where, "work.jsonl")] if "work.jsonl" in files else []
        signed = "office.key.pub" in files
        code, text = ask(*arguments, *(["--trust", os.path.join(where, "office.key.pub")] if signed else []))
        _, kind, answer = name.split("-")
        counts[answer] = counts.get(answer, 0) + 1
        kinds.add(kind)
        words_hold(text, name)
        if answer == "refused":
            expect(code in (1, 65) and "consistent" not in text, f"{name}: {code} {text}")
        elif answer == "unsigned":
            expect(code == 0 and "consistent, NOT signed" in text, f"{name}: {code} {text}")
        elif answer == "signed":
            expect(code == 0 and "consistent, signed" in text, f"{name}: {code} {text}")
        else:
            expect(code in (1, 65) and "consistent" not in text, f"{name}: {code} {text}")
    expect(len(kinds) == 11 and counts["refused"] + counts["unsigned"] >= 60 and counts["signed"] == 2 and
           counts["broken"] + 1 == counts["refused"] + counts["unsigned"], f"{counts} {kinds}")


def chained(lines, path, again=None):
    """A ledger of these lines, with hashes that fit. What names a charge by its hash names it still. again: (line, member) that stands
    there twice."""
    before, renamed = "0" * 64, {}
    with open(path, "w") as f:
        for number, line in enumerate(lines):
            named = line.get("hash")
            line = {key: value for key, value in line.items() if key != "hash"} | {"prev": before}
            line |= {"entry": renamed.get(line["entry"], line["entry"])} if line["event"] == "settled" else {}
            if isinstance(plan := line.get("plan"), dict) and isinstance(plan.get("id"), str):
                line["plan"] = plan | {"id": renamed.get(plan["id"], plan["id"])}
            text = json.dumps(line, separators=(",", ":"))
            if again and again[0] == number:
                text = '{"%s":%s,%s' % (again[1], json.dumps(line[again[1]]), text[1:])
            before = renamed[named] = hashlib.sha256(text.encode()).hexdigest()
            f.write(f'{text[:-1]},"hash":"{before}"}}\n')


def settlements(sotto, ledger):
    """A settlement that is repeated, of no open reservation, of no or more steps, behind the released file, or of more: refused by both."""
    with open(ledger) as f:
        honest = [json.loads(text) for text in f]
    at, reserved = (next(i for i, line in enumerate(honest) if line["event"] == event) for event in ("settled", "reserve"))
    released = {"schema": "sotto.ledger/1", "event": "released", "charge": 0, "salt": "0" * 64, "output": "0" * 64, "certificate": "0" * 64}
    released |= {key: honest[at][key] for key in ("index", "time", "nonce", "prev")}

    def changed(number, **members):
        lines = copy.deepcopy(honest)
        lines[number] |= members
        return lines
    box = honest[reserved]["any_order"]["offers"][0]
    more = honest[at]["any_order"] | {"offers": [[box[0], box[1] * 2, box[2]]]}
    forged = {"as it is": honest, "twice": honest[:at + 1] + honest[at:], "released before": honest[:at] + [released] + honest[at:],
              "of another run": changed(at, run="0" * 32), "of no step": changed(at, steps=0), "of more": changed(at, any_order=more),
              "of more steps": changed(at, steps=honest[reserved]["steps"] + 1)}
    for what, lines in forged.items():
        chained([line | {"index": index} for index, line in enumerate(copy.deepcopy(lines))], "forged.jsonl")
        code, text = ask("--total", "forged.jsonl")
        theirs = subprocess.run([sotto, "ledger", "show", "forged.jsonl"], capture_output=True, check=False, text=True)
        expect((code, theirs.returncode) == ((0, 0) if what == "as it is" else (1, 65)), f"{what}: {code} {text} {theirs.returncode} {theirs.stderr}")


def offers(sotto, *ledgers):
    """Each number of each box that a charge offers, a part in a million too small: refused by both. Too large: accepted. Boxes above the
    curve of a run, a hundredth too small, are below the epsilon that its line records."""
    def asked(lines, by, what):
        chained(lines, "forged.jsonl")
        code, text = ask("--total", "forged.jsonl")
        theirs = subprocess.run([sotto, "ledger", "show", "forged.jsonl"], capture_output=True, check=False, text=True)
        refuses, words = by < 1, "offers less in 'any_order'"
        expect((code == 1) == refuses and (words in text) == refuses, f"{ledger}: {what} times {by}: {code} {text}")
        expect((theirs.returncode == 65 and words in theirs.stderr) == refuses,
               f"{ledger}: {what} times {by}: sotto says {theirs.returncode} {theirs.stderr}")
    count = 0
    for ledger in ledgers:
        with open(ledger) as f:
            honest = [json.loads(text) for text in f]
        code, text = ask("--total", ledger)
        expect(code == 0 and "derived again" in text, f"{ledger}: {text}")
        run = any(line["event"] == "reserve" for line in honest)
        by = 1e-2 if run else 1e-6
        for number, line in enumerate(honest):
            for i, box in enumerate(line.get("any_order", {}).get("offers", [])):
                for member in (0, 1):
                    for times in (1 - by, 1 + by) if box[member] else ():
                        lines = copy.deepcopy(honest)
                        lines[number]["any_order"]["offers"][i][member] *= times
                        asked(lines, times, f"line {number + 1}, offer {i}, number {member}")
                        count += 1
            for i, column in enumerate(line.get("any_order", {}).get("columns", {}).get("boxes", [])):
                lines = copy.deepcopy(honest)
                lines[number]["any_order"]["columns"]["boxes"][i]["box"][0 if column["box"][0] else 1] *= 1 + 1e-6
                chained(lines, "forged.jsonl")
                code, text = ask("--total", "forged.jsonl")
                theirs = subprocess.run([sotto, "ledger", "show", "forged.jsonl"], capture_output=True, check=False, text=True)
                expect(code == 1 and "columns hold more" in text and theirs.returncode == 65 and "'columns' hold more" in theirs.stderr,
                       f"{ledger}: column {i} too large: {code} {text} {theirs.stderr}")
    expect(count >= 3 * len(ledgers), f"{count} forgeries")


def proofs(*files):
    """The sensitivity of each head, as sotto proved it; and no other one passes: a larger one is of other records."""
    for file in files:
        data = open(file, "rb").read()
        facts = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])["__metadata__"]
        with open(file + ".certificate.json") as f:
            certificate = json.load(f)
        stated, rows = certificate["sensitivity"], (certificate.get("person") or {"rows": 1})["rows"]
        recipe, records = json.loads(facts["recipe"]), int(facts["records"])
        expect(ask(file)[0] == 0, file + ": refused")
        found = verifier.convex_sensitivity(recipe, records) * rows
        expect(abs(found / stated["l2"] - 1) < 1e-9, f"{file}: {found} but {stated}")
        for name, by in (("l1", 1 - 1e-6), ("l2", 1 - 1e-6), ("l1", 1 + 1e-6), ("l2", 1 + 1e-6)):
            checks = verifier.Checks()
            verifier.check_proof(checks, {**certificate, "sensitivity": {**stated, name: stated[name] * by}}, recipe, records)
            expect(checks.failed and not checks.proof, f"{file}: {name} times {by} passes")
        for wrong_recipe in ({**recipe, "lambda": 0}, {**recipe, "clip": "1"}, {"trainer": "convex"}):
            checks = verifier.Checks()
            verifier.check_proof(checks, certificate, wrong_recipe, records)
            expect(checks.failed and not checks.proof, f"{file}: {wrong_recipe} passes")


def leaves(at, path=()):
    if isinstance(at, (dict, list)) and at:
        for key in at if isinstance(at, dict) else range(len(at)):
            yield from leaves(at[key], path + (key,))
    else:
        yield path




def members(sotto, *names):
    for name in names:
        certificate = next(f for f in os.listdir(".") if f.startswith(name + ".") and f.endswith(".certificate.json"))
        released = certificate[:-len(".certificate.json")]
        with open(certificate) as f:
            document = json.load(f)
        for path in leaves(document):
            changed = copy.deepcopy(document)
            at = changed
            for key in path[:-1]:
                at = at[key]
            old = at[path[-1]]
            at[path[-1]] = old + "x" if isinstance(old, str) else old * 1.001 if isinstance(old, float) else old + 1 \
                if isinstance(old, int) else "x"
            with open("changed.certificate.json", "w") as f:
                json.dump(changed, f)
            arguments = ["changed.certificate.json", "--released", released, "--ledger", name + ".jsonl"]
            code, text = ask(*arguments)
            theirs = subprocess.run([sotto, "verify", *arguments], capture_output=True, check=False).returncode
            where = ".".join(map(str, path))
            words_hold(text, where)
            expect(code != 0 and theirs != 0, f"{name}: {where} changed: sotto verify says {theirs}, this verifier {code}: {text}")


NOTHING_THERE, TWICE = object(), object()


def mutants(document):
    """Every member of a document in the wrong: (path, value in its place)."""
    def every(at, path=()):
        for key in at if isinstance(at, dict) else range(len(at)):
            yield path + (key,), at[key]
            if isinstance(at[key], (dict, list)):
                yield from every(at[key], path + (key,))
    for path, old in every(document):
        other = ["x", 5, True, [], {}, None, NOTHING_THERE, 0, -1, 1e308, 10**30, float("nan"), 0.5, "NaN"] + [TWICE] * (len(path) == 1)
        if isinstance(old, str):
            other += [old.upper(), old + "x", ""]
        elif isinstance(old, (int, float)) and not isinstance(old, bool):
            other += [str(old), old * 2, old / 2, -old]
        yield from ((path, value) for value in other if value is TWICE or value is NOTHING_THERE or not (type(value) is type(old) and value == old))
    yield ("unknown",), 1


def put(document, path, value):
    changed = copy.deepcopy(document)
    at = changed
    for key in path[:-1]:
        at = at[key]
    if value is NOTHING_THERE:
        del at[path[-1]]
    elif value is not TWICE:
        at[path[-1]] = value
    return changed


FREE = ("index", "prev", "hash", "time", "nonce")  # the chain itself: other tests


def alike(sotto, count, *files):
    """Of each kind of line so many mutants, and of each certificate: program and verifier take them or refuse them, both. Which ones is drawn
    from a seed; 'all' takes every one."""
    draw, answers = random.Random(1), {True: 0, False: 0}

    def some(found):
        found = list(found)
        return found if count == "all" else draw.sample(found, min(int(count), len(found)))

    def compare(what, mine, theirs):
        code, text = ask(*mine)
        theirs = subprocess.run([sotto, *theirs], capture_output=True, check=False, text=True)
        answers[code == 0] += 1
        if code == 0 and "NOT re-derived" in text and "re-derived" in theirs.stderr and theirs.returncode == 1:
            return  # the account of sampled steps, of which this program says so
        if "its noise multiplier is larger than its noise over its norm" in text and theirs.returncode == 0:
            return  # the program takes the multiplier as it stands
        expect(code in (0, 1, 65) and theirs.returncode in (0, 1, 65) and (code == 0) == (theirs.returncode == 0),
               f"{what}: sotto says {theirs.returncode} {theirs.stderr.strip()}, this verifier {code}: {text}")
    for file in files:
        with open(file) as f:
            if not file.endswith(".jsonl"):
                document = json.load(f)
                for path, value in some(mutants(document)):
                    with open("mutant.certificate.json", "w") as out:
                        text = json.dumps(put(document, path, value))
                        out.write('{"%s":%s,%s' % (path[0], json.dumps(document[path[0]]), text[1:]) if value is TWICE else text)
                    what = f"{file}: {path} as {'twice' if value is TWICE else 'nothing' if value is NOTHING_THERE else value!r}"
                    compare(what, ["mutant.certificate.json"], ["verify", "mutant.certificate.json"])
                continue
            honest = [json.loads(text) for text in f]
        last = {(line["event"], line.get("mechanism")): number for number, line in enumerate(honest)}
        for number in last.values():
            for path, value in some((path, value) for path, value in mutants(honest[number]) if path[0] not in FREE):
                lines = [put(line, path, value) if i == number else line for i, line in enumerate(honest)]
                if not isinstance(lines[number].get("event"), str) or lines[number]["event"] == "settled" and "entry" not in lines[number]:
                    continue  # chained() reads these
                if isinstance(lines[number].get("entry"), (list, dict)):
                    continue
                chained(lines, "mutant.jsonl", (number, path[0]) if value is TWICE else None)
                what = f"{file}: line {number + 1}, {path} as {'twice' if value is TWICE else 'nothing' if value is NOTHING_THERE else value!r}"
                compare(what, ["--total", "mutant.jsonl"], ["ledger", "show", "mutant.jsonl"])
    expect(min(answers.values()) > 0, f"{answers}")
    print(f"{sum(answers.values())} mutants, of which both took {answers[True]}")


def curves():
    """exp, ln, Phi and the hockey stick in whole numbers, against 60 digits and more; T = 1 against the curve itself; no finer grid is above."""
    draw, one, Decimal = random.Random(1), verifier.ONE, decimal.Decimal
    guard, worst = Decimal(verifier.GUARD) / one, Decimal(0)
    for _ in range(30):
        t, x = draw.uniform(0.02, 4), math.exp(draw.uniform(-8, 20))
        if abs(math.log(x) / t) + t > 20:
            continue
        fixed_t, fixed_x = int(t * 2**60) << verifier.BITS - 60, int(x * 2**60) << verifier.BITS - 60
        with decimal.localcontext() as context:
            context.prec = 110
            t, x = Decimal(fixed_t) / one, Decimal(fixed_x) / one
            ln = x.ln()
            expect(abs(Decimal(verifier.fixed_ln(fixed_x)) / one - ln) < guard / 2**100, f"ln {x}")
            expect(abs(Decimal(verifier.fixed_exp(verifier.fixed_ln(fixed_x))) / one / x - 1) < guard / 2**100, f"exp of ln {x}")
            true = verifier.normal_cdf(t / 2 - ln / t) - x * verifier.normal_cdf(-t / 2 - ln / t)
            worst = max(worst, true - Decimal(verifier.hockey_stick(fixed_t, fixed_x)) / one)
    expect(worst < guard / 4, f"a curve is too low by {worst / guard} of what is added to it")
    for q, t in ((0.2, 0.5), (0.5, 0.125)):
        exact = [int(x * 2**60) << verifier.BITS - 60 for x in (q, t)]
        for (adjacency, sampling), of in verifier.STEPS_OF.items():
            found = [verifier.epsilon_of_unit(adjacency, sampling, Fraction(q), Fraction(t), 1, 1e-4, 1, finer) for finer in range(3)]
            x = int(found[2].exp() * one)
            delta = of(verifier.hockey_stick, *exact, x)
            if adjacency == "zero-out":  # and a record more
                w = one - ((one - exact[0]) * x >> verifier.BITS)
                delta = max(delta, w * verifier.hockey_stick(exact[1], exact[0] * x // w) >> verifier.BITS if w > 0 else 0)
            delta /= one
            expect(0.985e-4 < delta <= 1e-4, f"one step, {adjacency}, {sampling}, {q}, {t}: delta is {delta}")
            expect(found[0] >= found[1] >= found[2], f"{adjacency}, {sampling}: a finer grid is above: {found}")
    for rows in (1, 3):  # a rate next to 1 against the closed form
        near, exact = (verifier.epsilon_of_unit("replace-one", "poisson", q, Fraction(1, 10), 20, 1e-6, rows) for q in (1 - Fraction(1, 2**30), 1))
        expect(exact <= near <= exact * Decimal("1.01"), f"rate next to 1, {rows} rows: {near} but {exact}")


STEPS = ((0.0341, 6.98, 586, 1e-6), (0.0341, 2.551, 586, 1e-6), (0.1, 1.5, 100, 1e-5), (0.05, 1, 20, 1e-5), (0.2, 2, 1, 1e-5), (0.5, 8, 100, 1e-5),
         (0.1, 4, 500, 1e-5), (0.25, 10, 2000, 1e-8), (0.004, 0.4, 500, 1e-5), (0.02, 20, 5000, 1e-5), (0.03, 0.7, 3000, 1e-5), (1, 10, 50, 1e-6),
         (0.01, 0.8, 1000, 1e-5), (0.00427, 0.5, 1172, 1e-6), (0.00427, 1, 1172, 1e-6), (0.01, 1.1, 10000, 1e-5),
         (0.0001, 0.5, 50000, 1e-9), (0.002, 2, 500000, 1e-8), (0.001, 1, 100000, 1e-6), (0.001, 0.6, 20000, 1e-6))


def steps(sotto, count):
    """The verifier's own epsilon beside that of sotto: never below the lower end, at most 1 % above the upper one. An epsilon that belongs to
    more noise, a smaller rate, fewer steps or a larger delta is refused."""
    def account(q, sigma, steps, delta, *options):
        command = [sotto, "account", *([] if "--mechanism" in options else ["--mechanism", "gaussian"]), "--adjacency", "replace-one", "--noise-multiplier", repr(sigma), "--sample-rate", repr(q),
                   "--steps", str(steps), "--delta", repr(delta), "--json", *options]
        return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    def ask_of(adjacency, sampling, q, sigma, steps, delta, rows, stated):
        return verifier.confirm(adjacency, sampling, Fraction(q), 1 / Fraction(sigma), steps, delta, rows, decimal.Decimal(stated))
    for q, sigma, steps, delta in STEPS[:int(count)]:
        theirs = account(q, sigma, steps, delta)
        lesser = [account(q, 1.1 * sigma, steps, delta), account(0.8 * q, sigma, steps, delta), account(q, sigma, steps, min(10 * delta, 0.5))]
        lesser += [account(q, sigma, int(0.7 * steps), delta)] if steps > 1 else []
        for adjacency, of in (("replace-one", lambda a: a["epsilon"]), ("zero-out", lambda a: a["other"]["epsilon"])):
            what, stated = f"{adjacency}, {q}, {sigma}, {steps}, {delta}", of(theirs)
            ok, e = ask_of(adjacency, "poisson", q, sigma, steps, delta, 1, stated["upper"])
            expect(ok and stated["lower"] <= e <= decimal.Decimal(stated["upper"]) * decimal.Decimal("1.01"), f"{what}: {e}, sotto says {stated}")
            for less in lesser:
                if of(less)["upper"] < 0.98 * stated["upper"]:  # of a smaller part nothing is said
                    ok, e = ask_of(adjacency, "poisson", q, sigma, steps, delta, 1, of(less)["upper"])
                    expect(ok is False, f"{what}: {of(less)['upper']} passes: {ok}, {e}")
    theirs = account(0.1, 8.0, 50, 1e-5, "--sampling", "fixed")["epsilon"]
    for by in (1, 0.97):
        ok, e = ask_of("replace-one", "fixed", 0.1, 8.0, 50, 1e-5, 1, theirs["upper"] * by)
        expect(ok == (by == 1) and e >= theirs["lower"], f"fixed, {by}: {ok}, {e}, sotto says {theirs}")
    for rows, mechanism, q, sigma, steps in ((3, "gaussian", 0.1, 8.0, 50), (5, "laplace", 0.1, 20.0, 50), (5, "logistic", 0.1, 20.0, 50), (10, "gaussian", 0.0341, 69.9, 586),
                                             (4, "gaussian", 0.01, 1.5, 60), (60, "gaussian", 0.02, 40.0, 50))[:2 * int(count)]:
        theirs = account(q, sigma, steps, 1e-5, "--rows-per-person", str(rows), "--mechanism", mechanism, *([] if mechanism == "gaussian" else ["--clipping", "l1"]))
        for adjacency, of in (("replace-one", theirs["epsilon"]), ("zero-out", theirs["other"]["epsilon"])):
            for by in (1, 0.97):
                ok, e = verifier.confirm(adjacency, "poisson", Fraction(q), 1 / Fraction(sigma), steps, 1e-5, rows, decimal.Decimal(of["upper"] * by), mechanism)
                expect(ok == (by == 1) and e >= of["lower"], f"{rows} rows, {mechanism}, {adjacency}, {by}: {ok}, {e}, sotto says {of}")
    for mechanism, q, scale, steps in (("laplace", 0.1, 4.0, 50), ("logistic", 0.05, 3.0, 60), ("laplace", 1.0, 20.0, 30), ("logistic", 1.0, 20.0, 30)):
        theirs = account(q, scale, steps, 1e-5, "--mechanism", mechanism, "--clipping", "l1")
        for adjacency, of in (("replace-one", theirs["epsilon"]), ("zero-out", theirs["other"]["epsilon"])):
            for by in (1, 0.97):
                ok, e = verifier.confirm(adjacency, "poisson", Fraction(q), 1 / Fraction(scale), steps, 1e-5, 1, decimal.Decimal(of["upper"] * by), mechanism)
                expect(ok == (by == 1) and e >= of["lower"], f"{mechanism}, {q}, {adjacency}, {by}: {ok}, {e}, sotto says {of}")


def other_steps(file, c):
    """The head with a recipe of twice the steps, in steps.safetensors, all hashes computed again."""
    with open(file, "rb") as f:
        data = f.read()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    header, weights = json.loads(data[8:end]), data[end:]
    facts = header["__metadata__"]
    facts["recipe"] = re.sub(r'("(?:epochs|steps)":)(\d+)', lambda m: m[1] + str(2 * int(m[2])), facts["recipe"])
    facts["recipe_hash"] = hashlib.sha256(facts["recipe"].encode()).hexdigest()
    line = "sotto head 1: recipe %s, records %s, data %s, encoder %s, values %d\n" % (
        facts["recipe_hash"], facts.get("records", "0"), facts.get("data_fingerprint", ""), facts.get("encoder_sha256", ""), len(weights) // 4)
    names = sorted((name for name in header if name != "__metadata__"), key=lambda name: (int(name.split(".")[0]), name.endswith("bias")))
    facts["training_sha256"] = hashlib.sha256(line.encode() + b"".join(weights[slice(*header[name]["data_offsets"])] for name in names)).hexdigest()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    forged = struct.pack("<Q", len(text)) + text + weights
    c["output_sha256"] = hashlib.sha256(forged).hexdigest()
    with open("steps.safetensors", "wb") as f, open("steps.safetensors.certificate.json", "w") as beside:
        f.write(forged)
        json.dump(c, beside)


def runs(sotto, *files):
    """Certificates of runs with a smaller epsilon in every place where one stands: refused. Beyond the limits: not decided."""
    for file in files:
        with open(file + ".certificate.json") as f:
            honest = json.load(f)
        code, text = ask(file)
        expect(code == 0 and "re-derived here; the certificate says" in text and "account of sampled steps: NOT" not in text, f"{file}: {code} {text}")
        for by in (0.98, 0.9, 0.5):
            for other in (False, True):
                c = copy.deepcopy(honest)
                claim = c["guarantee"]["proved"] if isinstance(c["guarantee"]["proved"], dict) else c["guarantee"]["conditional"]
                if other and not claim.get("other"):
                    continue
                some = claim["other"] if other else claim
                some["epsilon"] = {end: value and value * by for end, value in some["epsilon"].items()}
                claim["bounds"] = claim["bounds"] if other else {name: e and e * by for name, e in claim["bounds"].items()}
                person = "; unit of privacy: " + verifier.unit_of(c) if "person" in c else ""
                c["guarantee"]["statement"] = verifier.statement(claim, claim.get("condition") or "", person, verifier.up)
                with open("forged.certificate.json", "w") as f:
                    json.dump(c, f)
                code, text = ask("forged.certificate.json")
                theirs = subprocess.run([sotto, "verify", "forged.certificate.json"], capture_output=True, check=False).returncode
                expect(code == theirs == 1 and "is not confirmed; this program finds at most" in text, f"{file}, {by}, other {other}: {code} {theirs} {text}")
        expect("noise, rate and steps agree with the file's recipe" in ask(file)[1], f"{file}: {text}")
        other_steps(file, copy.deepcopy(honest))
        code, text = ask("steps.safetensors")
        theirs = subprocess.run([sotto, "verify", "steps.safetensors"], capture_output=True, check=False).returncode
        expect(code == theirs == 1 and "steps in the file: the recipe says " in text, f"{file}, other steps: {code} {theirs} {text}")
        checks, c = verifier.Checks(), copy.deepcopy(honest)
        c["run"]["steps"]["charged"] = 2**41
        claim = c["guarantee"]["proved"] if isinstance(c["guarantee"]["proved"], dict) else c["guarantee"]["conditional"]
        expect(c["run"]["sample_rate"] == 1 or not verifier.check_account_of_run(checks, c, claim) and checks.undecided, f"{file}: 2^41 steps are decided")
        # a distribution that confirms whatever is stated: the second bound, by Renyi divergence, is below three times the truth
        checks, c, kept = verifier.Checks(), copy.deepcopy(honest), verifier.confirm
        claim = c["guarantee"]["proved"] if isinstance(c["guarantee"]["proved"], dict) else c["guarantee"]["conditional"]
        claim["epsilon"] = {end: 3 * value for end, value in claim["epsilon"].items()}
        verifier.confirm = lambda *facts: (True, facts[7])
        refused = not verifier.check_account_of_run(checks, c, claim) and "is below the stated lower end" in checks.failed
        verifier.confirm = kept
        expect(refused or c["run"]["sample_rate"] == 1 or "person" in c or c["mechanism"] != "gaussian", f"{file}: a planted error in the first bound shows nowhere: {checks.failed}")


def totals(sotto, *ledgers):
    """The total of each ledger beside that of the program. A run's line, or a plan's, that records 2 % less than what it says is refused."""
    for ledger in ledgers:
        with open(ledger) as f:
            honest = [json.loads(text) for text in f]
        code, text = ask("--total", ledger)
        mine = float(text.split("together epsilon at most ")[1].split()[0])
        theirs = json.loads(subprocess.run([sotto, "account", "--ledger", ledger, "--json"] + ([] if ledger == "pure.jsonl" else ["--delta", "1e-6"]),
                                           capture_output=True, check=True).stdout)["together"]
        expect(code == 0 and theirs["epsilon_lower"] <= mine <= theirs["epsilon"] * 1.01, f"{ledger}: {text}, sotto says {theirs}")
        for number, line in enumerate(honest):
            for by in (0.98, 0.5, 0.999) if line["event"] in ("reserve", "plan") else ():
                lines = copy.deepcopy(honest)
                lines[number]["epsilon"] = {end: e * by for end, e in line["epsilon"].items()}
                chained(lines, "forged.jsonl")
                code, text = ask("--total", "forged.jsonl")
                expect(code == (0 if by == 0.999 else 1) and ("is not confirmed; this program finds at most" in text) == (by != 0.999), f"{ledger}, {by}: {code} {text}")


def signatures(sotto, released, key):
    """Signatures that follow no rule of RFC 8032, or that libsodium refuses: both verifiers do."""
    beside = released + ".certificate.json.signature.json"
    with open(beside) as f:
        honest = json.load(f)
    r, s = honest["signature"][:64], int.from_bytes(bytes.fromhex(honest["signature"][64:]), "little")
    small, beyond = verifier.point_encode(verifier.ZERO).hex(), (s + verifier.ORDER).to_bytes(32, "little").hex()
    other = verifier.public_key(bytes(32)).hex()
    for change in ({}, {"signature": r + beyond}, {"signature": small + "00" * 32, "public_key": small},
                   {"signature": small + "00" * 32}, {"public_key": other}, {"public_key": "ff" * 32},
                   {"signature": honest["signature"].upper()}, {"signature": honest["signature"][:-2]},
                   {"algorithm": "ed25519"}, {"schema": "sotto.signature/2"}, {"signature": 1}):
        with open(beside, "w") as f:
            json.dump({**honest, **change}, f)
        code, text = ask(released, "--trust", key)
        theirs = subprocess.run([sotto, "verify", released, "--trust", key], capture_output=True, check=False).returncode
        expect(code == theirs == (1 if change else 0), f"{change}: sotto verify says {theirs}, this verifier {code}: {text}")


command, arguments = sys.argv[2], sys.argv[3:]
{"forgeries": forgeries, "conditions": conditions, "alike": alike, "offers": offers, "settlements": settlements, "members": members, "curves": curves, "steps": steps, "runs": runs, "proofs": proofs, "totals": totals, "signatures": signatures}[command](*arguments)
sys.exit(1 if wrong else 0)

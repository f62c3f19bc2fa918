"""Releases: the same bits as the program's, what is charged and what is refused, certificates, verification, keys."""

import json
import logging
import os
import pathlib
import pickle
import struct
import subprocess

import numpy as np
import pytest

import sotto

program = os.environ.get("SOTTO", "sotto")


def sotto_program(*args, ok=True):
    done = subprocess.run([program, *map(str, args), "--quiet"], capture_output=True, check=False, text=True)
    assert (done.returncode == 0) == ok, done.stderr
    return done


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, a in tensors.items():
        header[name] = {"dtype": {"f4": "F32", "f8": "F64"}[a.dtype.str[1:]], "shape": list(a.shape), "data_offsets": [len(data), len(data) + a.nbytes]}
        data += a.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    raw = path.read_bytes()
    n = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + n])
    header.pop("__metadata__", None)
    return {k: np.frombuffer(raw[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]], {"F32": "f4", "F64": "f8"}[v["dtype"]]).reshape(v["shape"]) for k, v in header.items()}


@pytest.fixture
def ledger(tmp_path):
    return sotto.Ledger(tmp_path / "clinic.jsonl", dataset="clinic-2026", budget=(1.0, 1e-5))


def spent(ledger):
    return len(ledger._lines())


# ---- the same bits as the program's
@pytest.mark.parametrize("mechanism, options, dtype", [
    ("gaussian", {"epsilon": 0.5, "delta": 1e-6, "l2": 0.01}, "f8"), ("logistic", {"scale": 0.1, "l2": 0.04, "delta": 1e-6}, "f4"),
    ("laplace", {"epsilon": 0.5, "l1": 0.01}, "f8"), ("discrete-laplace", {"epsilon": 0.5, "l1": 2}, "i8")])
def test_array_as_the_program(tmp_path, mechanism, options, dtype):
    x = (np.random.default_rng(1).normal(0, 1, (3, 7)) * 1e9).astype(dtype)
    np.save(tmp_path / "x.npy", x)
    flags = [y for k, v in options.items() for y in ("--" + k, v)]
    sotto_program("protect", "--vector", tmp_path / "x.npy", "--mechanism", mechanism, *flags, "--dataset-id", "a", "--insecure-noise-seed", 7, "-o", tmp_path / "y.npy")
    noisy, certificate = sotto.release(x, mechanism=mechanism, **options, ledger=sotto.Ledger(dataset="b"), insecure_seed=7)
    theirs = np.load(tmp_path / "y.npy")
    assert noisy.dtype == theirs.dtype and noisy.tobytes() == theirs.tobytes()
    assert certificate.insecure and certificate.epsilon is None and not certificate.proved
    document = json.loads((tmp_path / "y.npy.certificate.json").read_text())
    same = {"mechanism", "scale", "scale_exact", "sensitivity", "guarantee", "sampler", "randomness", "dimension", "lattice_exponent"}
    assert {k: document[k] for k in same} == {k: certificate.to_dict()[k] for k in same}


def test_state_dict_as_the_program(tmp_path):
    rng = np.random.default_rng(2)
    state = {"0.weight": rng.normal(size=(4, 3)).astype("f4"), "0.bias": rng.normal(size=4)}
    before = {k: v.copy() for k, v in state.items()}
    write_safetensors(tmp_path / "x.safetensors", state)
    sotto_program("protect", "--vector", tmp_path / "x.safetensors", "--epsilon", 1, "--delta", 1e-5, "--l2", 0.04, "--dataset-id", "a", "--insecure-noise-seed", 3, "-o", tmp_path / "y.safetensors")
    noisy, _ = sotto.release(state, mechanism="logistic", epsilon=1, delta=1e-5, l2=0.04, ledger=sotto.Ledger(dataset="b"), insecure_seed=3)
    theirs = read_safetensors(tmp_path / "y.safetensors")
    assert list(noisy) == list(state)
    for k in state:
        assert np.array_equal(state[k], before[k])  # the input is not changed
        assert noisy[k].dtype == state[k].dtype and np.array_equal(noisy[k], theirs[k]) and not np.array_equal(noisy[k], state[k])


def test_choices_and_labels_as_the_program(tmp_path):
    rng = np.random.default_rng(3)
    scores, labels = rng.normal(0, 30, 50), rng.integers(-1, 4, 200)
    np.save(tmp_path / "s.npy", scores)
    np.save(tmp_path / "l.npy", labels)
    sotto_program("protect", "--vector", tmp_path / "s.npy", "--mechanism", "permute-and-flip", "--choices", 4, "--epsilon", 1, "--l1", 1, "--dataset-id", "a", "--insecure-noise-seed", 5, "-o", tmp_path / "c.npy")
    sotto_program("protect", "--vector", tmp_path / "l.npy", "--mechanism", "randomised-response", "--classes", 3, "--epsilon", 1, "--l1", 1, "--dataset-id", "a2", "--insecure-noise-seed", 5, "-o", tmp_path / "r.npy")
    ledger = sotto.Ledger(dataset="b")
    assert np.array_equal(sotto.select(scores, l1=1, epsilon=1, choices=4, ledger=ledger, insecure_seed=5)[0], np.load(tmp_path / "c.npy"))
    assert np.array_equal(sotto.randomise(labels, classes=3, epsilon=1, ledger=ledger, insecure_seed=5)[0], np.load(tmp_path / "r.npy"))


def test_ledger_as_the_program(ledger):
    sotto.release([1.0, 2.0], mechanism="laplace", l1=0.1, epsilon=0.25, ledger=ledger, purpose="table 1")
    shown = json.loads(sotto_program("ledger", "show", ledger.path, "--json").stdout)
    assert [e.to_dict()["epsilon"] for e in ledger.entries()] == [e.get("epsilon") for e in shown["entries"]]
    assert str(ledger) == sotto_program("ledger", "show", ledger.path).stdout
    told = json.loads(sotto_program("account", "--ledger", ledger.path, "--delta", 1e-5, "--json").stdout)
    total = ledger.total(1e-5)
    assert total.proved is None and tuple(total.conditional) == (told["conditional"]["epsilon_lower"], told["conditional"]["epsilon"])
    assert ledger.budget == total.budget == (1.0, 1e-5)


# ---- doubles stay doubles: without this, these neighbours would have disjoint outputs (guarantee.md, item 1)
def test_float64_is_not_rounded_before_the_noise():
    seen = {}
    for x in (1e9 + 31, 1e9 + 33):
        ledger = sotto.Ledger(dataset=f"set-{x}")
        seen[x] = np.array([sotto.release([x], mechanism="laplace", l1=2, epsilon=1, ledger=ledger)[0][0] for _ in range(20)])
    a, b = seen.values()
    assert len(set(a)) == 20 and a.min() < b.max() and b.min() < a.max()


# ---- refusals
def test_columns_are_fixed_with_the_budget(tmp_path):
    options = {"dataset": "kept", "budget": (1.7, 1e-6)}
    with pytest.raises(ValueError, match="columns= are of a budget"):
        sotto.Ledger(tmp_path / "l.jsonl", dataset="kept", columns=[(0.6, 1e-8, 1)])
    with pytest.raises(ValueError, match="does not fit into epsilon 1.7"):
        sotto.Ledger(tmp_path / "l.jsonl", columns=[(2, 1e-8, 1)], **options)
    for wrong in ([(0.6, 1e-8)], [(0.6, 1e-8, 1, 1)], (0.6, 1e-8, 1), ["0.6:1e-8:1"], [(None, 0, 1)], "all", 5):
        with pytest.raises(sotto.errors.InvalidArgument, match=r"columns is .*; expected \(pure, failure, share\) of each"):
            sotto.Ledger(tmp_path / "l.jsonl", columns=wrong, **options)
    for wrong in ((1,), (1, 1e-6, 3), "1", [None, 0]):
        with pytest.raises(sotto.errors.InvalidArgument, match=r"budget is .*; expected epsilon, or a pair"):
            sotto.Ledger(tmp_path / "l.jsonl", dataset="kept", budget=wrong)
    assert not (tmp_path / "l.jsonl").exists()
    sotto.Ledger(tmp_path / "rows.jsonl", dataset="rows", budget=(1, 1e-6), columns=np.array([[0.6, 1e-8, 1]]))
    ledger = sotto.Ledger(tmp_path / "l.jsonl", columns=iter([(0.6, 1e-8, 1)]), **options)
    for _ in range(3):
        sotto.release(np.zeros(2), mechanism="laplace", epsilon=0.2, delta=0, l1=1, ledger=ledger)
    sotto.release(np.zeros(2), mechanism="gaussian", scale=5, delta=1e-6, l2=1, ledger=ledger)
    with pytest.raises(sotto.BudgetExceeded, match="any order of choices"):
        sotto.release(np.zeros(2), mechanism="laplace", epsilon=0.2, delta=0, l1=1, ledger=ledger)
    with pytest.raises(sotto.BudgetExceeded, match="fixed, for good"):
        sotto.Ledger(tmp_path / "l.jsonl", columns=[(0.1, 1e-8, 1)], **options)


def test_texts_of_the_ledger_stand_in_its_budget_line(tmp_path):
    card = {"contact": "privacy@clinic.example", "curator": "the clinic", "use": "bed plans", "region": "Hesse", "sector": "health", "rationale": "as in 2025"}
    for name in card:
        with pytest.raises(sotto.errors.InvalidArgument, match=f"{name}= is of a budget; give budget= too"):
            sotto.Ledger(tmp_path / "l.jsonl", dataset="texts", **{name: card[name]})
    with pytest.raises(sotto.errors.InvalidArgument, match="301 bytes; expected at most 300"):
        sotto.Ledger(tmp_path / "l.jsonl", dataset="texts", budget=1, use="x" * 301)
    assert not (tmp_path / "l.jsonl").exists()
    ledger = sotto.Ledger(tmp_path / "l.jsonl", dataset="texts", budget=(1, 1e-6), **card)
    line = ledger.entries()[-1]
    assert {name: getattr(line, name) for name in card} == card


def test_a_text_with_a_nul_is_refused(ledger):
    lines = spent(ledger)
    with pytest.raises(sotto.errors.InvalidArgument, match="NUL"):  # C would read the name of another data set
        sotto.Ledger(dataset="people\0of another town").path
    for wrong in ({"purpose": "a trial\0and more", "epsilon": 0.1}, {"max_tpr": "0.02@0.01\0"}):
        with pytest.raises(sotto.errors.InvalidArgument, match="NUL"):
            sotto.release(np.zeros(2), mechanism="laplace", l1=1, ledger=ledger, **wrong)
    assert spent(ledger) == lines


def test_budget_is_refused_before_anything_is_charged(ledger):
    x, lines = np.ones(3), spent(ledger)
    with pytest.raises(sotto.BudgetExceeded, match="budget") as e:
        sotto.release(x, mechanism="laplace", l1=1, epsilon=2, ledger=ledger)
    assert e.value.status == "EBUDGET" and "charged" not in str(e.value) and spent(ledger) == lines and np.all(x == 1)
    with pytest.raises(sotto.BudgetExceeded, match="not larger"):
        sotto.Ledger(ledger.path, budget=(2.0, 1e-5), dataset="clinic-2026")
    assert sotto.Ledger(ledger.path, dataset="clinic-2026", budget=(0.5, 1e-5)).budget == (0.5, 1e-5)
    sotto.Ledger(ledger.path, dataset="clinic-2026", budget=(0.5, 1e-5))
    assert spent(ledger) == lines + 1  # the same budget is written once


@pytest.mark.parametrize("change, text", [
    ({"epsilon": None}, "give exactly one of scale="), ({"scale": 1}, "give exactly one of scale="), ({"epsilon": -1}, "epsilon"), ({"l1": None}, "sensitivity"),
    ({"mechanism": "x"}, "mechanism"), ({"mechanism": "exponential"}, "selects"), ({"values": [np.nan]}, "NaN"), ({"values": []}, "no numbers"),
    ({"values": {"n": np.arange(3)}}, "n has dtype int64"), ({"values": "x"}, "dtype"), ({"values": np.ones(2, np.longdouble)}, "float64 or shorter"), ({"ledger": "clinic.jsonl"}, "sotto.Ledger"),
    ({"l1": "x"}, "l1: .x. is not a number")])
def test_bad_input_charges_nothing(ledger, change, text):
    given = {"values": [1.0], "mechanism": "laplace", "l1": 0.1, "epsilon": 0.1, "ledger": ledger, **change}
    lines = spent(ledger)
    with pytest.raises(ValueError, match=text):
        sotto.release(given.pop("values"), **given)
    assert spent(ledger) == lines


def test_refusals_do_not_print_private_values(ledger):
    for call in (lambda: sotto.release(["secret"], mechanism="laplace", l1=1, epsilon=0.1, ledger=ledger), lambda: sotto.randomise([["secret"]], classes=2, epsilon=0.1, ledger=ledger)):
        with pytest.raises(ValueError) as e:
            call()
        assert "secret" not in str(e.value)


# ---- neighbours: one record with a value beyond 2^53 must show in nothing but the numbers that have noise
@pytest.mark.parametrize("dtype, ends", [("i8", (2**53 + 1, 2**62, -(2**53) - 1, -(2**63))), ("u8", (2**53 + 1, 2**64 - 1))])
@pytest.mark.parametrize("call", [
    lambda x, ledger: sotto.release(x, mechanism="laplace", l1=1, epsilon=0.01, ledger=ledger, insecure_seed=1),
    lambda x, ledger: sotto.release(x, mechanism="discrete-laplace", l1=1, epsilon=0.01, ledger=ledger, insecure_seed=1),
    lambda x, ledger: sotto.select(x, l1=1, epsilon=0.01, ledger=ledger, insecure_seed=1)])
def test_whole_numbers_beyond_2_53_are_cut_in_silence(call, dtype, ends, tmp_path, recwarn, capfd, caplog):
    caplog.set_level(logging.DEBUG)
    shown = []
    for i, end in enumerate((7, *ends)):
        x = np.array([3, end, 5], dtype)
        out, certificate = call(x, sotto.Ledger(tmp_path / f"{i}.jsonl", dataset=f"set-{i}"))
        told = certificate.to_dict()
        for name in ("created", "time", "output_sha256", "ledger"):
            told.pop(name, None)
        text = json.dumps(told).replace(f"set-{i}", "set") + capfd.readouterr().err + "".join(r.getMessage() for r in caplog.records)
        shown.append((text.replace(f"set-{i}", "set").replace(f"/{i}.jsonl", "/x.jsonl"), np.shape(out), len(recwarn)))
        caplog.clear()
        if i:
            near = np.array([3, np.sign(float(end)) * 2**53, 5])
            same = call(near, sotto.Ledger(tmp_path / f"near-{i}.jsonl", dataset=f"near-{i}"))[0]
            caplog.clear()
            assert np.array_equal(out, same)  # the end stands for it
    assert len(set(shown)) == 1, shown


def test_unknown_parameters(ledger):
    with pytest.raises(TypeError, match="'purpos'; did you mean 'purpose'"):
        sotto.release([1.0], mechanism="laplace", l1=1, epsilon=0.1, ledger=ledger, purpos="x")
    with pytest.raises(TypeError, match="budget_epsilon"):  # the ledger's
        sotto.release([1.0], mechanism="laplace", l1=1, epsilon=0.1, ledger=ledger, budget_epsilon=9)


def test_one_ledger_for_a_data_set(ledger, tmp_path):
    sotto.release([1.0], mechanism="laplace", l1=0.1, epsilon=0.1, ledger=ledger)
    with pytest.raises(sotto.errors.InvalidArgument, match="is .*clinic.jsonl, not"):
        sotto.release([1.0], mechanism="laplace", l1=0.1, epsilon=0.1, ledger=sotto.Ledger(tmp_path / "other.jsonl", dataset="clinic-2026"))
    with pytest.raises(sotto.errors.InvalidArgument, match="is the ledger of data set 'clinic-2026'"):
        sotto.Ledger(ledger.path, dataset="other")
    assert sotto.Ledger(ledger.path).dataset == sotto.Ledger(dataset="clinic-2026").dataset == "clinic-2026"
    assert sotto.Ledger(dataset="clinic-2026").path == ledger.path
    with pytest.raises(sotto.errors.InvalidArgument, match="public set"):
        sotto.release([1.0], mechanism="laplace", l1=0.1, epsilon=0.1, ledger=sotto.Ledger(dataset="fashion-mnist"))
    with pytest.raises(ValueError, match="dataset="):
        sotto.Ledger()


def test_a_lock_that_another_machine_left_is_told(ledger, tmp_path, monkeypatch):
    monkeypatch.setenv("SOTTO_LEDGER_LOCK", "file")
    lock = tmp_path / "there" / "l.jsonl.lock"
    lock.parent.mkdir()
    here = sotto.Ledger(tmp_path / "there" / "l.jsonl", dataset="clinic-2027")
    sotto.release([1.0], mechanism="laplace", l1=0.1, epsilon=0.1, ledger=here)
    assert not lock.exists()
    gone = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, check=True, text=True).stdout.strip()
    machine = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip() + "/" + os.readlink("/proc/self/ns/pid")
    lock.write_text(f"{os.uname().nodename} {gone} {machine} 2026-01-02T10:03:00Z\n")
    with pytest.raises(sotto.errors.Locked, match=f"process {gone} since 2026-01-02 10:03 UTC; if that process is gone, remove "):
        sotto.release([1.0], mechanism="laplace", l1=0.1, epsilon=0.1, ledger=here)
    assert lock.exists()


def test_read_from_data_is_a_condition(ledger):
    y, certificate = sotto.randomise([0, 1, 2, 1.5, -3], classes=3, epsilon=0.1, ledger=ledger)
    assert certificate.proved and certificate.condition is None and certificate.guarantee == "proved" and set(y) <= {0, 1, 2}
    assert (certificate.mechanism, certificate.adjacency, certificate.unit) == ("randomised-response", "replace-one", "one record")
    certificate = sotto.randomise([0, 1, 2], classes=3, epsilon=0.1, ledger=ledger, read_from_data=["classes"])[1]
    assert not certificate.proved and "classes" in certificate.condition


# ---- what was charged is named
def test_an_exception_after_the_charge_names_it(tmp_path):
    class Interrupt(logging.Handler):
        def emit(self, record):
            if "opened a new ledger" in record.getMessage():  # logged when the entry is on disk
                raise KeyboardInterrupt

    ledger, handler, log = sotto.Ledger(dataset="clinic"), Interrupt(), logging.getLogger("sotto")
    log.addHandler(handler)
    level = log.level
    log.setLevel(logging.INFO)
    try:
        with pytest.raises(KeyboardInterrupt) as e:
            sotto.release(np.zeros(5), mechanism="laplace", l1=0.1, epsilon=0.125, ledger=ledger)
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
    told = " ".join(map(str, [*e.value.args, *getattr(e.value, "__notes__", ())]))
    assert "epsilon 0.125 at delta 0 was charged: charge 0" in told and ledger.path in told
    noisy, certificate = e.value.result  # the call was done
    assert noisy.shape == (5,) and certificate.ledger_entry == 0 and spent(ledger) == 1


# ---- certificates and verification
def test_a_certificate_is_a_claim(ledger):
    scores, membership = np.arange(20.0), np.arange(20) > 9
    certificate = sotto.randomise([0, 1], classes=2, epsilon=0.125, ledger=ledger)[1]
    assert sotto.audit(scores=scores, membership=membership, claim=certificate).claim.epsilon == pytest.approx(0.125, abs=1e-15)
    with pytest.raises(ValueError, match="seeded"):
        unlimited = sotto.Ledger(dataset="other")  # no budget holds with seeded noise
        sotto.audit(scores=scores, membership=membership, claim=sotto.randomise([0, 1], classes=2, epsilon=0.125, ledger=unlimited, insecure_seed=1)[1])


@pytest.fixture
def released(ledger, tmp_path):
    noisy, certificate = sotto.release(np.arange(4) / 4, mechanism="gaussian", l2=0.01, epsilon=0.5, delta=1e-6, ledger=ledger, records=400)
    path = tmp_path / "noisy.npy"
    np.save(path, noisy)
    with pytest.raises(sotto.errors.InvalidArgument, match="save"):
        certificate.html()
    assert certificate.save(f"{path}.certificate.json", output=path) == certificate.path == f"{path}.certificate.json"
    return path, certificate


def test_certificate(released, ledger):
    path, c = released
    assert c.guarantee == "conditional" and not c.proved and not c.insecure and c.measured is None
    assert "sensitivity" in c.condition and c.sensitivity.source == "given" and c.sensitivity.l2 == 0.01
    assert isinstance(c.epsilon, sotto.Interval) and 0.49 < c.epsilon.lower <= float(c.epsilon) <= 0.5 and c.delta == 1e-6
    assert isinstance(c.account, sotto.account.Account) and c.account.mechanism == "gaussian" and c.scale == c.account.scale
    assert c == sotto.Certificate.load(path) == sotto.Certificate.load(c.path) == pickle.loads(pickle.dumps(c))
    html = c._repr_html_()
    assert html.count("<tr>") == 3 and "<th>proved</th><td>none</td>" in html and len(repr(c).splitlines()) <= 8
    page = c.html(ledger=ledger)
    assert page.startswith("<!") and "CONDITIONAL" in c.text(ledger=ledger)
    assert page == subprocess.run([program, "certificate", path, "--ledger", ledger.path, "--html"], capture_output=True, text=True, check=True).stdout
    with pytest.raises(OSError, match="none.json"):
        c.html(ledger=ledger, audit="none.json")
    for markdown, option in ((False, "--card"), (True, "--model-card")):
        subprocess.run([program, "certificate", path, "--ledger", ledger.path, option, f"{path}{option}"], capture_output=True, check=True)
        with open(f"{path}{option}", encoding="utf-8") as f:
            assert c.card(ledger=ledger, markdown=markdown) == f.read()
    with pytest.raises(AttributeError):
        c.epsilon = 1
    assert c.show()._repr_html_().startswith('<iframe srcdoc="&lt;!') and 'sandbox="allow-scripts"' in c.show()._repr_html_()


def test_verify_as_the_program(released, ledger):
    path, c = released
    v = sotto.verify(path, ledger=ledger)
    told = json.loads(sotto_program("verify", path, "--ledger", ledger.path, "--json").stdout)
    assert v.to_dict() == told and str(v) == sotto_program("verify", path, "--ledger", ledger.path).stdout
    assert v.guarantee == "conditional" and not v.proved and v.failed is None and v.signed_by is None
    assert {k.outcome for k in v.checks} == {"passed", "not-made"}
    assert c.verify(ledger=ledger).to_dict() == told


def test_only_what_came_out_is_saved(ledger, tmp_path):
    values = {"w": np.arange(6.0).reshape(2, 3) / 7, "b": np.float32([1, 2])}
    noisy, c = sotto.release(values, mechanism="laplace", l1=0.1, epsilon=0.5, ledger=ledger)
    lines = len(ledger._lines())
    np.savez(tmp_path / "bare.npz", **values)
    np.savez(tmp_path / "part.npz", w=noisy["w"])
    np.savez(tmp_path / "noisy.npz", **noisy)
    (tmp_path / "noisy.pickle").write_bytes(pickle.dumps(noisy))
    for name, text in (("bare.npz", "other values than came out"), ("part.npz", "other values than came out"), ("noisy.pickle", "cannot be compared")):
        with pytest.raises(sotto.errors.InvalidArgument, match=text):
            c.save(tmp_path / f"{name}.certificate.json", tmp_path / name)
    assert len(ledger._lines()) == lines and c.path is None
    for _ in range(2):  # the same again is the same
        c.save(tmp_path / "noisy.npz.certificate.json", tmp_path / "noisy.npz")
        assert len(ledger._lines()) == lines + 1
    assert sotto.verify(tmp_path / "noisy.npz", ledger=ledger).failed is None
    with pytest.raises(sotto.errors.InvalidArgument, match="was read from a document"):
        pickle.loads(pickle.dumps(c)).save(tmp_path / "x.json", tmp_path / "bare.npz")
    for made, again in ((sotto.randomise([0, 1, 1], classes=2, epsilon=0.1, ledger=ledger), [0, 1, 1, 1]),
                        (sotto.select([0.0, 9.0], l1=1, epsilon=0.1, ledger=ledger), [7]),
                        (sotto.release_statistic(np.ones((9, 2)), "mean", range=(0, 1), mechanism="laplace", epsilon=0.1, ledger=ledger), [1.0, 1.0])):
        np.save(tmp_path / "a.npy", made[0])
        made[1].save(tmp_path / "a.npy.certificate.json", tmp_path / "a.npy")
        np.save(tmp_path / "b.npy", again)
        with pytest.raises(sotto.errors.InvalidArgument, match="other values"):
            made[1].save(tmp_path / "b.npy.certificate.json", tmp_path / "b.npy")


def edit(path, change):
    document = json.loads(pathlib.Path(path).read_text())
    change(document)
    pathlib.Path(path).write_text(json.dumps(document))


@pytest.mark.parametrize("change", [lambda d: d.update(scale=d["scale"] * 2), lambda d: d["guarantee"]["conditional"].update(delta=1e-9),
                                    lambda d: d["ledger"].update(charge=7), lambda d: d.update(output_sha256="0" * 64), lambda d: d.update(records=4)])
def test_a_forged_certificate_is_refused(released, ledger, change):
    path, c = released
    edit(c.path, change)
    with pytest.raises((sotto.GateFailed, sotto.errors.InvalidArgument)) as e:
        sotto.verify(path, ledger=ledger)
    if isinstance(e.value, sotto.GateFailed):
        assert e.value.result.failed and e.value.result.to_dict()["valid"] is False


@pytest.mark.parametrize("forge", [lambda l: l[:1], lambda l: l[1:], lambda l: l[::-1], lambda l: [x.replace('"delta":9.9', '"delta":1.9') for x in l],
                                   lambda l: [x for x in l if '"released"' not in x]])
def test_a_forged_ledger_is_refused(released, ledger, forge):
    path, _ = released
    lines = ledger._lines()
    pathlib.Path(ledger.path).write_text("".join(forge(lines)))
    with pytest.raises((sotto.GateFailed, sotto.errors.InvalidArgument)):
        sotto.verify(path, ledger=ledger)
    if len(forge(lines)) == len(lines):
        for call in (ledger.verify, lambda: sotto.release([1.0], mechanism="laplace", l1=0.1, epsilon=0.1, ledger=ledger)):
            with pytest.raises(sotto.errors.InvalidArgument):
                call()


def test_a_plan_is_charged_once(tmp_path):
    events = tmp_path / "events.yaml"
    events.write_text("schema: sotto.events/1\nadjacency: replace-one\nevents:\n"
                      "- {mechanism: laplace, scale: 0.01, l1: 0.001, dimension: 2, count: 2}\n")
    ledger = sotto.Ledger(tmp_path / "l.jsonl", dataset="b", budget=(1.0, 1e-6))
    plan = ledger.plan(events, purpose="tables")
    before = ledger.total(1e-6).proved
    assert plan["slots"][0]["count"] == 2 and abs(plan["epsilon"]["upper"] - 0.2) < 1e-9

    def release(slot, **changed):
        return sotto.release([0.5, 0.5], **{"mechanism": "laplace", "scale": 0.01, "l1": 0.001, "delta": 0, "ledger": ledger,
                                            "planned": f"{plan['plan'][:16]}:{slot}"} | changed)

    with pytest.raises(sotto.errors.InvalidArgument, match="scale is planned as 0.01"):
        release(2, scale=0.02)
    release(2)
    with pytest.raises(sotto.errors.BudgetExceeded, match="slot 2 of plan .* is spent"):
        release(2)
    release(1)
    assert ledger.total(1e-6).conditional == before or ledger.total(1e-6).proved == before
    assert [e.event for e in ledger.entries()] == ["budget", "plan", "planned", "planned"]
    with pytest.raises(sotto.errors.BudgetExceeded):
        ledger.plan(events, delta=0) and [ledger.plan(events) for _ in range(5)]


def test_signatures(released, tmp_path):
    path, c = released
    key = sotto.key.new(tmp_path / "office.key")
    assert (tmp_path / "office.key").stat().st_mode & 0o777 == 0o600
    with pytest.raises(sotto.errors.FileError):
        sotto.key.new(tmp_path / "office.key")
    with pytest.raises(sotto.GateFailed, match="not signed"):
        sotto.verify(path, trust=key)
    assert os.path.exists(c.sign(tmp_path / "office.key"))
    assert sotto.verify(path, trust=[key]).signed_by == sotto.verify(path, trust=tmp_path / "office.key.pub").signed_by == key
    sotto.key.new(tmp_path / "other.key")
    with pytest.raises(sotto.GateFailed, match="which trust= does not name") as e:
        sotto.verify(path, trust=tmp_path / "other.key.pub")
    assert "signature" in e.value.result.failed
    with pytest.raises(sotto.errors.InvalidArgument):
        c.sign(tmp_path / "office.key.pub")


def test_tables_of_a_ledger(ledger):
    assert sotto.Ledger(dataset="new").entries() == [] and "nothing was charged" in str(sotto.Ledger(dataset="new"))
    sotto.release([1.0], mechanism="laplace", l1=0.1, epsilon=0.1, ledger=ledger, purpose="<b>")
    entry = ledger.entries()[-1]
    assert (entry.event, entry.mechanism, entry.purpose, round(entry.epsilon, 9)) == ("release", "laplace", "<b>", 0.1)
    assert "&lt;b&gt;" in ledger._repr_html_() and "<b>" not in ledger._repr_html_()
    pandas = pytest.importorskip("pandas")
    frame = ledger.to_dataframe()
    assert isinstance(frame, pandas.DataFrame) and list(frame.event) == ["budget", "release"]


def test_tensors(ledger):
    torch = pytest.importorskip("torch")
    net = torch.nn.Linear(3, 2)
    state, _ = sotto.release(net.state_dict(), mechanism="gaussian", l2=1e-3, epsilon=0.5, delta=1e-6, ledger=ledger)
    assert all(isinstance(v, torch.Tensor) and v.dtype == torch.float32 for v in state.values())
    net.load_state_dict(state)

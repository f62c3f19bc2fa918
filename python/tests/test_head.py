"""Heads: the same files as the program's, plain and private; nothing that depends on private records; interrupts; canaries."""

import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest

import sotto

program = os.environ.get("SOTTO", "sotto")


def sotto_program(*args):
    done = subprocess.run([program, *map(str, args), "--quiet"], capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    x = rng.normal(0, 1, (300, 5)).astype("f4") + 2 * np.eye(3, 5, dtype="f4")[y]
    return x / np.linalg.norm(x, axis=1, keepdims=True), y


@pytest.fixture
def files(records, tmp_path):
    np.save(tmp_path / "x.npy", records[0])
    np.save(tmp_path / "y.npy", records[1])
    return ["--features", tmp_path / "x.npy", "--labels", tmp_path / "y.npy"]


# ---- the same as the program's
@pytest.mark.parametrize("options", [{"epochs": 5, "hidden": [8], "seed": 3}, {"trainer": "sgd", "lr": 0.5, "epochs": 3},
                                     {"trainer": "convex", "classes": 3, "lambda_": 0.1, "steps": 50}])
def test_plain_as_the_program(records, files, tmp_path, options):
    flags = [y for k, v in options.items() for y in ("--" + k.rstrip("_"), ",".join(map(str, v)) if isinstance(v, list) else v)]
    sotto_program("head", *files, *flags, "-o", tmp_path / "theirs.safetensors")
    head = sotto.train_head(*records, **options)
    theirs = sotto.Head.load(tmp_path / "theirs.safetensors")
    assert head.certificate is None and head.recipe.to_dict() == theirs.recipe.to_dict()
    assert all(np.array_equal(a, b) for a, b in zip(head.weights.values(), theirs.weights.values()))
    head.save(tmp_path / "ours.safetensors")
    if options.get("trainer") != "convex":  # the source of the classes has another name there
        assert (tmp_path / "ours.safetensors").read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()
    sotto_program("predict", "--head", tmp_path / "theirs.safetensors", *files[:2], "-o", tmp_path / "p.npy")
    assert np.array_equal(head.predict_proba(records[0]), np.load(tmp_path / "p.npy"))


@pytest.mark.parametrize("trainer, options", [("dp-sgd", {"noise_multiplier": 3, "batch": 60, "lr": 1, "momentum": 0.5}), ("dp-adam", {"noise_multiplier": 2, "epochs": 2, "hidden": [4]}),
                                              ("covariance", {"epsilon": 2}), ("taylor", {"epsilon": 1, "noise": "laplace"}), ("dp-sgd", {"noise_multiplier": 2, "adjacency": "zero-out", "epochs": 2})])
def test_private_as_the_program(records, files, tmp_path, trainer, options):
    flags = [y for k, v in options.items() for y in ("--" + k.replace("_", "-"), v[0] if isinstance(v, list) else v)]
    theirs = tmp_path / "theirs.safetensors"
    sotto_program("head", *files, "--classes", 3, "--trainer", trainer, *flags, "--delta", 1e-4, "--dataset-id", "a", "--insecure-noise-seed", 5, "-o", theirs)
    head = sotto.train_head(*records, classes=3, trainer=trainer, delta=1e-4, **options, ledger=sotto.Ledger(dataset="b", same_people_as=["a"]), insecure_seed=5)
    assert all(np.array_equal(a, b) for a, b in zip(head.weights.values(), sotto.Head.load(theirs).weights.values()))
    document = json.loads(pathlib.Path(f"{theirs}.certificate.json").read_text())
    ours = head.certificate.to_dict()
    assert {k: document[k] for k in ("guarantee", "mechanism", "scale", "records", "sensitivity")} == {k: ours[k] for k in ("guarantee", "mechanism", "scale", "records", "sensitivity")}
    assert head.certificate.insecure and head.certificate.epsilon is None


def test_private(records, tmp_path):
    ledger = sotto.Ledger(tmp_path / "l.jsonl", dataset="clinic", budget=(2.0, 1e-4))
    head = sotto.train_head(*records, classes=3, trainer="dp-sgd", epsilon=1.5, batch=100, lr=2, ledger=ledger, purpose="first")
    c = head.certificate
    assert c.proved and c.delta == 1e-4 and 1.49 < c.epsilon.lower <= float(c.epsilon) <= 1.5 and c.adjacency == "replace-one" and c.measured is None
    assert head.score(*records) > 0.6 and "proved" not in repr(head).replace(c.statement, "")
    total = ledger.total(1e-4)
    assert total.conditional is None and float(total.proved) == float(c.epsilon)
    entry = ledger.entries()[-1]
    assert (entry.event, entry.purpose) == ("reserve", "first")
    path = head.save(tmp_path / "h.safetensors")
    assert sotto.verify(path, ledger=ledger).proved and sotto.Head.load(path).certificate == c
    same = pickle.loads(pickle.dumps(head))
    assert np.array_equal(same.logits(records[0]), head.logits(records[0])) and same.certificate == c
    lines = len(ledger._lines())
    with pytest.raises(sotto.BudgetExceeded):
        sotto.train_head(*records, classes=3, trainer="dp-sgd", epsilon=1.5, ledger=ledger)
    assert len(ledger._lines()) == lines
    # the same people under another name: identities decide, and no charge tells of another set
    assert sotto.train_head(*records, classes=3, trainer="covariance", epsilon=1.5, ledger=sotto.Ledger(dataset="other")).certificate.proved
    both = sotto.Ledger(dataset="third", same_people_as="clinic")
    with pytest.raises(sotto.BudgetExceeded):
        sotto.train_head(*records, classes=3, trainer="covariance", epsilon=1.5, ledger=both)
    # two runs with noise of the operating system differ
    a, b = (sotto.train_head(*records, classes=3, trainer="covariance", epsilon=0.1, delta=1e-4, ledger=ledger) for _ in range(2))
    assert not np.array_equal(a.logits(records[0]), b.logits(records[0]))


def test_groups(records, tmp_path):
    x, y = records
    names = np.array([f"p{i % 40}" for i in range(len(x))])
    how = dict(classes=3, trainer="dp-sgd", batch=10, noise_multiplier=2.0, delta=1e-3, insecure_seed=5)
    head = sotto.train_head(x, y, groups=names, ledger=sotto.Ledger(dataset="a"), **how)
    most = max(np.unique(names, return_counts=True)[1])
    assert head.certificate.unit == f"one person (at most {most} rows each, sampled as one of 40 persons, as stated by the caller)"
    honest = sotto.train_head(x, y, groups=names, ledger=sotto.Ledger(dataset="c"), **{**how, "insecure_seed": None})
    assert honest.certificate.epsilon is not None and not honest.certificate.proved
    one = sotto.train_head(x[:40], y[:40], ledger=sotto.Ledger(dataset="d"), **{**how, "insecure_seed": None})
    assert float(honest.certificate.epsilon) == float(one.certificate.epsilon)  # that of 40 records
    for groups, text in ((names[:-1], "expected the person of each"), ([None] * len(x), "missing"), ([np.nan] * len(x), "missing"), (np.array([1, "a"] * len(x), object)[:len(x)], "one type")):
        ledger = sotto.Ledger(dataset="e")
        with pytest.raises(ValueError, match=text):
            sotto.train_head(x, y, groups=groups, ledger=ledger, **how)
        assert ledger.entries() == []
    with pytest.raises(ValueError, match="makes no difference"):
        sotto.train_head(x, y, groups=names, classes=3, trainer="covariance", epsilon=1, ledger=sotto.Ledger(dataset="f"))


def test_answers(records):
    x, y = records
    head = sotto.train_head(x, y, epochs=3)
    z, p = head.logits(x), head.predict_proba(x)
    e = np.exp(z - z.max(1, keepdims=True))
    assert np.allclose(p, e / e.sum(1, keepdims=True), atol=1e-6) and p.dtype == np.float32
    assert np.array_equal(head.predict(x), z.argmax(1)) and head.score(x, y) == np.mean(z.argmax(1) == y)
    w = head.weights
    assert np.allclose(z, x @ w["0.weight"].T + w["0.bias"], atol=1e-5) and list(head.classes_) == [0, 1, 2] and head.inputs == 5
    again = sotto.Head.from_state_dict(w)
    assert np.array_equal(again.logits(x), z) and again.recipe is None
    r = sotto.attack(head, "ml-leaks-3", member=(x[:150], y[:150]), nonmember=(x[150:], y[150:]))
    assert 0 <= r.worst.auc.estimate <= 1
    with pytest.raises(ValueError, match="5"):
        head.logits(x[:, :3])


def test_tensors(records):
    torch = pytest.importorskip("torch")
    x, y = records
    head = sotto.train_head(x, y, epochs=2, hidden=[7])
    net = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.ReLU(), torch.nn.Linear(7, 3))
    net.load_state_dict(head.state_dict())
    assert np.allclose(net(torch.from_numpy(x)).detach().numpy(), head.logits(x), atol=1e-5)
    assert np.array_equal(sotto.Head.from_state_dict(net.state_dict()).logits(x), head.logits(x))


# ---- refusals, before anything is charged
@pytest.mark.parametrize("change, text", [
    ({"classes": None}, "public classes"), ({"ledger": None}, "ledger="), ({"epsilon": None}, "exactly one"), ({"noise_multiplier": 1}, "exactly one"),
    ({"epsilon": -1}, "epsilon"), ({"trainer": "adam"}, "adds none"), ({"trainer": "x"}, "trainer"), ({"batch": 0}, "batch"), ({"canary_kind": "dirac"}, "canaries=K"),
    ({"canaries": 5}, "output="), ({"output": "/dev/null/nowhere.safetensors"}, "nowhere"), ({"x": np.zeros(3)}, "shape"), ({"x": np.zeros((7, 2))}, "7 records")])
def test_bad_input_charges_nothing(records, change, text):
    ledger = sotto.Ledger(dataset="clinic")
    given = {"x": records[0], "y": records[1], "classes": 3, "trainer": "dp-sgd", "epsilon": 1, "ledger": ledger, **change}
    with pytest.raises((ValueError, OSError), match=text):
        sotto.train_head(given.pop("x"), given.pop("y"), **given)
    assert ledger.entries() == []


def test_plain_refuses_what_is_private(records):
    with pytest.raises(ValueError, match="epsilon= needs a trainer with noise"):
        sotto.train_head(*records, epsilon=1)
    with pytest.raises(TypeError, match="'epoch'; did you mean 'epochs'"):
        sotto.train_head(*records, epoch=1)
    with pytest.raises(ValueError, match="NaN"):
        sotto.train_head(np.full((4, 2), np.nan), [0, 1, 0, 1])


# ---- private records: neighbours look alike but for the noise
TELL = """
import os, sys, warnings, logging
import numpy as np, sotto
for folder in sys.argv[2:]:  # a process of its own for each, which does not import everything again
    child = os.fork()
    if not child:
        os.chdir(folder)
        os.environ["XDG_DATA_HOME"] = os.path.join(folder, "home")
        for fd, name in (1, "said.out"), (2, "said.err"):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600), fd)
        break
    with open(os.path.join(folder, "code"), "w") as f:
        f.write(str(os.waitpid(child, 0)[1]))
else:
    sys.exit()
logging.basicConfig(level=logging.DEBUG, format="%(levelname)s %(message)s")
x, y = np.load("x.npy"), np.load("y.npy", allow_pickle=False)
ledger = sotto.Ledger("l.jsonl", dataset="clinic")
h = sotto.train_head(x, y, classes=3, trainer=sys.argv[1], epsilon=1, delta=1e-4, ledger=ledger, output="head.safetensors")
print(h, h.certificate, {k: v.shape for k, v in h.weights.items()}, h.recipe.to_dict())
"""


@pytest.mark.parametrize("trainer", ["dp-sgd", "covariance"])
def test_nothing_that_is_said_depends_on_private_records(records, tmp_path, trainer):
    x, y = records[0].astype("f8"), records[1].astype("i8")
    row = x[0].copy()
    neighbours = {"as it is": (row, y[0]), "nan": (np.full(5, np.nan), 3), "huge": (np.full(5, 1e300), 17), "no label": (row, -1)}
    folders = {name: tmp_path / name.replace(" ", "") for name in neighbours}
    for name, folder in folders.items():
        folder.mkdir()
        x[0], y[0] = neighbours[name]
        np.save(folder / "x.npy", x)
        np.save(folder / "y.npy", y)
    subprocess.run([sys.executable, "-c", TELL, trainer, *map(str, folders.values())], check=True)
    told = {name: ((folder / "code").read_text(), (folder / "said.out").read_text(), (folder / "said.err").read_text().replace(str(folder), ""),
                   sorted((p.name, p.stat().st_size) for p in folder.iterdir() if p.suffix == ".safetensors")) for name, folder in folders.items()}
    assert told["as it is"][0] == "0" and "differentially private" in told["as it is"][1], told["as it is"][2]
    assert len(set(map(str, told.values()))) == 1, told


# ---- interrupts
LONG = """
import os, sys
import numpy as np, sotto
rng = np.random.default_rng(0)
x, y = rng.normal(size=(20000, 64)).astype("f4"), rng.integers(0, 10, 20000)
ledger = sotto.Ledger("l.jsonl", dataset="clinic")
print("start", flush=True)
sotto.train_head(x, y, classes=10, trainer="dp-sgd", noise_multiplier=10, batch=2000, epochs=20000, ledger=ledger, progress=lambda *a: print("step", flush=True), **eval(sys.argv[1]))
"""


@pytest.mark.parametrize("output", [{}, {"output": "h.safetensors"}])
def test_ctrl_c_names_the_charge(tmp_path, output):
    p = subprocess.Popen([sys.executable, "-c", LONG, repr(output)], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in p.stdout:
        if line == "step\n":
            break
    p.send_signal(signal.SIGINT)
    p.send_signal(signal.SIGINT)  # a second one changes nothing
    told = p.communicate(timeout=60)[1]
    assert "KeyboardInterrupt" in told and "was charged: charge 0 of" in told and "epsilon " in told
    assert len((tmp_path / "l.jsonl").read_text().splitlines()) == 2
    assert (tmp_path / "h.safetensors.checkpoint").exists() == bool(output) and not (tmp_path / "h.safetensors").exists()


@pytest.mark.parametrize("method", ["train_head", "train_network"])
def test_a_head_that_cannot_be_saved_is_kept(records, tmp_path, method):
    output = tmp_path / "h.safetensors"
    (tmp_path / "h.safetensors.provenance.json").mkdir()  # of a file that lay there before: it goes last
    how = {"train_head": {"trainer": "dp-sgd", "noise_multiplier": 5, "epochs": 1}, "train_network": {"dp_sgd": True, "model": "mlp", "noise_multiplier": 5, "steps": 1, "batch": 300}}
    with pytest.raises(sotto.SottoError, match="provenance.json") as e:
        getattr(sotto, method)(*records, classes=3, ledger=sotto.Ledger(dataset="clinic"), output=output, **how[method])
    told = " ".join(map(str, [*e.value.args, *getattr(e.value, "__notes__", ())]))
    assert "was charged" in told and "charge 0 of" in told and "is `result` of this exception" in told and e.value.result.certificate.proved


# ---- canaries
def test_canaries_as_the_program(records, files, tmp_path):
    options = {"trainer": "covariance", "epsilon": 8, "delta": 1e-4}
    flags = [y for k, v in options.items() for y in ("--" + k, v)]
    theirs, ours = tmp_path / "theirs.safetensors", tmp_path / "ours.safetensors"
    sotto_program("head", *files, "--classes", 3, *flags, "--canaries", 20, "--dataset-id", "a", "--insecure-noise-seed", 5, "-o", theirs)
    head = sotto.train_head(*records, classes=3, **options, canaries=20, output=ours, ledger=sotto.Ledger(dataset="b", same_people_as="a"), insecure_seed=5)
    assert all(np.array_equal(a, b) for a, b in zip(head.weights.values(), sotto.Head.load(theirs).weights.values()))
    a, b = (np.load(f"{p}.canaries.npz") for p in (theirs, ours))
    assert sorted(a) == sorted(b) and np.array_equal(a["black_box"], b["black_box"])
    assert pathlib.Path(f"{ours}.coins.json").stat().st_mode & 0o777 == 0o600
    plain = sotto.train_head(*records, canaries=20, output=tmp_path / "plain.safetensors")
    assert plain.certificate is None and (tmp_path / "plain.safetensors.canaries.npz").exists()


# ---- data sets
def test_source(records, tmp_path):
    x, y = records
    data = sotto.Dataset(x, y, classes=3, dataset="clinic-2026")
    assert np.array_equal(data.features, x) and np.array_equal(data.labels, y) and data.classes_by == "the caller" and data.images is None
    part = data.take(np.arange(0, 300, 2))
    ledger = sotto.Ledger(dataset="clinic-2026")
    head = sotto.train_head(part.features, part.labels, trainer="covariance", epsilon=1, delta=1e-4, source=part, ledger=ledger)
    assert head.classes == 3 and head.certificate.proved and head.certificate.to_dict()["records"] == 150
    with pytest.raises(ValueError, match="belong to data set 'clinic-2026', not to 'other'"):
        sotto.train_head(x, y, classes=3, trainer="covariance", epsilon=1, source=data, ledger=sotto.Ledger(dataset="other"))
    with pytest.raises(ValueError, match="public classes"):
        sotto.train_head(x, y, trainer="covariance", epsilon=1, source=sotto.Dataset(x, y, dataset="clinic-2026"), ledger=ledger)
    with pytest.raises(ValueError, match="twice"):
        data.take([1, 1])
    with pytest.raises(ValueError, match="record 0 has label 2"):
        sotto.Dataset(x, y, classes=2)
    images = sotto.Dataset(np.arange(48, dtype=np.uint8).reshape(4, 3, 2, 2), [0, 1, 0, 1], classes=2)
    assert images.images.shape == (4, 3, 2, 2) and images.features is None and images.take([3]).images[0, 0, 0, 0] == 36


# ---- arrays that change meanwhile
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_no_other_thread_changes_what_was_clipped(records, tmp_path, dtype):
    """The caller's arrays are overwritten while training goes on: the same weights as if they were not."""
    def train(name, spoil):
        x, y = np.array(records[0], dtype), np.array(records[1])

        def progress(*_):
            if spoil:
                x[:], y[:] = 1e6, 0
        return sotto.train_head(x, y, classes=3, trainer="dp-sgd", noise_multiplier=3, batch=60, epochs=6, lr=1, delta=1e-4, insecure_seed=5, progress=progress,
                                ledger=sotto.Ledger(tmp_path / f"{name}.jsonl", dataset=name)), x

    (kept, x), (spoiled, changed) = train("kept", False), train("spoiled", True)
    assert (changed == 1e6).all() and (x != 1e6).any()
    assert all(np.array_equal(a, b) for a, b in zip(kept.weights.values(), spoiled.weights.values()))


def test_types_are_refused_before_a_charge(records, tmp_path):
    ledger = sotto.Ledger(tmp_path / "types.jsonl", dataset="types")
    for labels in (records[1] + .5, records[1].astype("f4")):
        with pytest.raises(sotto.errors.InvalidArgument, match=r"y has dtype float.*astype\(int\)"):
            sotto.train_head(records[0], labels, classes=3, trainer="dp-sgd", noise_multiplier=3, batch=60, ledger=ledger)
        with pytest.raises(sotto.errors.InvalidArgument, match="labels has dtype float"):
            sotto.randomise(labels, classes=3, epsilon=1, ledger=ledger)
    assert ledger.entries() == []
    sotto.randomise(records[1].tolist()[:-1] + [.5], classes=3, epsilon=1, ledger=ledger)  # a list has no type: one label must not decide


def test_a_limit_of_time_costs_what_was_done(tmp_path):
    """Of 16,000 steps: the call stops after one or more of them, and goes on inside the budget. A stop by hand pays for all."""
    draw = np.random.default_rng(1)
    x, labels = draw.normal(size=(2000, 64)).astype("f4"), draw.integers(0, 2, 2000)
    ledger = sotto.Ledger(tmp_path / "l.jsonl", dataset="clock", budget=(2.2, 1e-5))

    def call():
        return sotto.train_head(x, labels, classes=2, hidden=[32], trainer="dp-adam", batch=64, epochs=500, epsilon=2, delta=1e-5,
                                ledger=ledger, output=tmp_path / "h.safetensors", threads=1)

    charges, seconds = lambda: [e for e in ledger.entries() if e.event == "reserve"], 1e-6
    while not charges():  # on any machine: before the call, in its account, and at last in its steps
        with sotto.time_limit(3600), pytest.raises(sotto.SottoError) as e, sotto.time_limit(seconds):
            call()
        assert e.value.status == "ESTOPPED"
        if seconds < 1e-5:
            assert "before the call began" in str(e.value)
        seconds *= 1.5
    assert "was charged" in str(e.value) and ledger.total(1e-5).together.upper < 1.9
    assert call().certificate.epsilon.upper <= 2.01 and ledger.total(1e-5).together.upper <= 2.2
    with pytest.raises(ValueError, match="expected more than 0"), sotto.time_limit(0):
        pass


@pytest.mark.parametrize("train", [lambda x, y, **given: sotto.train_head(x, y, classes=3, trainer="dp-sgd", batch=60, epochs=2, noise_multiplier=3, delta=1e-4, **given),
                                   lambda x, y, **given: sotto.train_network(x, y, classes=3, model="mlp", hidden=[4], dp_sgd=True, batch=60, steps=4, noise_multiplier=3,
                                                                             delta=1e-4, **given)])
def test_a_run_spends_the_slot_of_a_plan(records, tmp_path, train):
    ledger = sotto.Ledger(tmp_path / "l.jsonl", dataset="b", budget=(4.0, 1e-4))
    with pytest.raises(sotto.errors.InvalidArgument, match="as an event of a plan this run is") as error:
        train(*records, ledger=ledger, planned="00000000:1")
    events = tmp_path / "events.yaml"
    events.write_text("schema: sotto.events/1\nadjacency: replace-one\nevents:\n- " + error.value.hint.partition("this run is ")[2] + "\n")
    plan = ledger.plan(events, delta=1e-4)
    slot, before = f"{plan['plan']}:{plan['slots'][0]['slot']}", ledger.total(1e-4).proved
    assert plan["slots"][0]["count"] == 1 and plan["slots"][0]["steps"] in (4, 10)
    with pytest.raises(sotto.errors.InvalidArgument, match="fixed sampling is planned as 0, asked as 1"):
        train(*records, ledger=ledger, planned=slot, sampling="fixed")
    certificate = train(*records, ledger=ledger, planned=slot, output=tmp_path / "m.safetensors").certificate
    assert certificate.to_dict()["plan"] == {"id": plan["plan"], "slot": 1} and ledger.total(1e-4).proved == before
    sotto.verify(tmp_path / "m.safetensors", ledger=ledger)
    with pytest.raises(sotto.errors.BudgetExceeded, match="slot 1 of plan .* is spent"):
        train(*records, ledger=ledger, planned=slot)

"""Defences: the same bits as the program's; refusals name parameters; defended rows say what shaped them."""

import json
import os
import subprocess

import numpy as np
import pytest

from sotto._shaped import shaped_of
from sotto.lab.defend import Defence, defences

program = os.environ.get("SOTTO", "sotto")


def told_by_program(*args):
    done = subprocess.run([program, *map(str, args), "--json", "--quiet"], capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_defence_as_the_program(tmp_path):
    rng = np.random.default_rng(3)
    p = rng.dirichlet([0.3] * 4, 120).astype("f4")
    member = np.arange(120) % 2
    np.save(tmp_path / "p.npy", p)
    np.save(tmp_path / "m.npy", member)
    rows = f"{tmp_path}/p.npy:{tmp_path}/m.npy"
    told = told_by_program("defend", "memguard", "--input", rows, "--known", rows, "--attacker", rows, "--adaptive", "--budget", 0.5,
                           "--set", "epochs=20", "--set", "steps=30", "-o", tmp_path / "q.npy")
    d = Defence("memguard", known=p, protected_label=member, budget=0.5, settings={"epochs": 20, "steps": 30})
    q = d.apply(p)
    assert np.array_equal(q, np.load(tmp_path / "q.npy")) and np.array_equal(q.argmax(1), p.argmax(1)) and np.allclose(q.sum(1), 1, atol=1e-5)
    assert np.array_equal(d.apply(p[:7]), q[:7]) and abs(d.cost(p).mean() - told["distortion"]["expected"]) < 1e-9
    result = d.measure(p, member, attacker=(p, member))
    for column in ("before", "after", "adaptive"):
        ours = {a.name: a.accuracy.estimate for a in getattr(result, column).attackers}
        assert ours and all(0 <= v <= 1 for v in ours.values())


def test_defences():
    kinds = {d.name: d for d in defences()}
    assert kinds["memguard"].posteriors and not kinds["attriguard"].posteriors and kinds["memguard"].budget == 1
    for change, text in ({"name": "x"}, "no defence 'x'"), ({"settings": {"x": 1}}, "x"), ({"budget": -1}, "budget"), ({"known": None}, "rows|needs|known"):
        with pytest.raises(ValueError, match=text):
            Defence(**{"name": "memguard", "known": np.eye(3), "protected_label": [0, 1, 0], **change})
    with pytest.raises(ValueError, match="probabilities"):
        Defence("temperature").apply([[3.0, 4.0]])
    with pytest.raises(TypeError, match="'budge'; did you mean 'budget'"):
        Defence("temperature", budge=1)


def test_defended_rows():
    known = np.random.default_rng(2).normal(size=(40, 4)).astype("f4")
    d = Defence("attriguard", known=known, protected_label=np.arange(40) % 2, budget=.5, settings={"epochs": 1})
    assert {s.what for s in shaped_of(d.apply(known))} == {"defence"}
    assert not shaped_of(Defence("temperature", budget=.5).apply(np.full((2, 2), .5)))



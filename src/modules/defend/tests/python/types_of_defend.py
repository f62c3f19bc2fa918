# What mypy accepts, and what it refuses (python/tests/test_types.py).
import sotto
from sotto.lab.defend import Defence, DefenceResult, defences

Defence("memguard", budget=.5, seed=1)
names: list[str] = [d.name for d in defences()]
result: DefenceResult = Defence("temperature").measure([[1.0]], [1], attacker=([[1.0]], [1]))
Defence("memguard", budgt=.5)  # wrong
Defence("memguard", budget="half")  # wrong
sotto.Defence  # wrong
sotto.lab.defnd  # wrong

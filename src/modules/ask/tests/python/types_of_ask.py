# What mypy accepts, and what it refuses (python/tests/test_types.py).
import sotto
from sotto.lab.ask import Answers, Table

t = Table("t.csv", schema="s.yaml", ledger=sotto.Ledger(dataset="d"), person="who", rows_per_person=3)
r: Answers = t.ask("count", "mean age", epsilon=1, delta=1e-6)
path: str = r.to_csv("a.csv")
t.ask("count", epsilom=1)  # wrong
t.ask("count", epsilon="one")  # wrong
Table("t.csv")  # wrong

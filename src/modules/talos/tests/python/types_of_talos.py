# What mypy accepts, and what it refuses (python/tests/test_types.py).
import numpy as np
import sotto
from sotto.lab.talos import Talos

sotto.pretrain(np.zeros((4, 32, 32), np.uint8), part=Talos([0, 1, 0, 1], lambda_=1.0, alternation="joint"))
Talos([0, 1], alternation="jont")  # wrong

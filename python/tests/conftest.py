"""For pytest without `run`, which loads the fixtures itself: tests of modules lie beside this folder."""

import sys

if "fixtures" not in sys.modules:
    from fixtures import *  # noqa: F403

import os
import signal

import pytest

os.environ.setdefault("SOTTO_NUM_THREADS", "1")  # threads that wait for each other take long on a machine with other work
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests were started in the background, which ignores it


def pytest_addoption(parser):
    parser.addoption("--shard", default="1/1", help="K/N: every Nth file, from the Kth on")


def pytest_collection_modifyitems(config, items):
    k, n = map(int, config.getoption("--shard").split("/"))
    files = sorted({item.path for item in items})
    config.hook.pytest_deselected(items=[item for item in items if files.index(item.path) % n != k - 1])
    items[:] = [item for item in items if files.index(item.path) % n == k - 1]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Ledgers and their registry, of this test alone."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"

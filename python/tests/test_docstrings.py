"""The examples in docstrings run. They see `sotto`, and `folder`, an empty one."""

import doctest
import importlib
import pkgutil

import pytest

import sotto

modules = [m.name for m in pkgutil.walk_packages(sotto.__path__, "sotto.") if m.name not in ("sotto._sotto", "sotto._program")]


@pytest.mark.parametrize("name", modules)
def test_docstrings(name, tmp_path):
    try:
        module = importlib.import_module(name)
    except ImportError as e:  # of an extra that is not installed
        pytest.skip(str(e))
    assert doctest.testmod(module, extraglobs={"sotto": sotto, "folder": tmp_path}).failed == 0

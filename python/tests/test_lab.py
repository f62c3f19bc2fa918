"""Modules lie in sotto.lab, each where its build has it; names that moved there are found for one release."""

import importlib
import os
import sys
import types

import pytest
from headers import module_folders

import sotto


@pytest.mark.skipif("SOTTO_INCLUDES" not in os.environ, reason="of the tests in the source tree")
def test_the_modules_are_those_of_the_build():
    assert sotto.lab.modules == sorted(module_folders())


@pytest.mark.parametrize("name", sotto.lab.modules)
def test_each_is_found_by_its_name(name):
    module = getattr(sotto.lab, name)
    assert module is importlib.import_module(f"sotto.lab.{name}") and module.__doc__
    for shown in module.__all__:
        assert hasattr(module, shown)


def test_a_module_that_is_not_there():
    with pytest.raises(AttributeError, match="sotto.lab has no module 'none'; this build has "):
        sotto.lab.none  # noqa: B018
    with pytest.raises(ImportError, match="none"):
        from sotto.lab import none  # noqa: F401


@pytest.fixture
def moved(monkeypatch):
    """A module `new` with a name that was in the package."""
    module = types.ModuleType("sotto.lab.new")
    module.Thing = object()
    monkeypatch.setitem(sys.modules, "sotto.lab.new", module)
    monkeypatch.setattr(sotto.lab, "modules", ["new"])
    monkeypatch.setattr(sotto, "_MOVED", {"Thing": "new", "Other": "gone"})
    return module


def test_a_name_that_moved(moved):
    with pytest.warns(DeprecationWarning, match="^sotto.Thing is now sotto.lab.new.Thing$") as told:
        assert sotto.Thing is moved.Thing
    assert told[0].filename == __file__


def test_a_name_whose_module_is_not_built(moved):
    with pytest.raises(AttributeError, match="^sotto.Other is of the module gone, which this build of sotto does not have"):
        sotto.Other  # noqa: B018
    assert not hasattr(sotto, "Other")


def test_other_names_are_as_ever(moved):
    with pytest.raises(AttributeError, match="module 'sotto' has no attribute 'Thin'"):
        sotto.Thin  # noqa: B018


def test_every_name_that_moved_is_there():
    for name, module in sotto._MOVED.items():
        if module in sotto.lab.modules:
            assert name in getattr(sotto.lab, module).__all__
        assert name not in sotto.__all__

"""The public headers of the library under test: include/sotto, and those of the modules that its build holds; the folders of these modules."""
import os
import pathlib

include = pathlib.Path(__file__).parents[2] / "include"


def lab_headers():
    folders = [pathlib.Path(folder) for folder in os.environ.get("SOTTO_INCLUDES", "").split(":")]
    named = [name for f in folders if (f / "modules/names.txt").exists() for name in (f / "modules/names.txt").read_text().split()]
    return [f / f"sotto/lab/{name}.h" for name in named for f in folders if (f / f"sotto/lab/{name}.h").exists()]


def public_headers():
    return [*(include / "sotto").rglob("*.h"), *lab_headers()]


def module_folders():
    """By name, of those with Python: src/modules/NAME."""
    folders = {header.stem: header.parents[3] for header in lab_headers()}
    return {name: folder for name, folder in folders.items() if (folder / "python").exists()}

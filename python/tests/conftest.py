import pytest


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Ledgers and their registry, of this test alone."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"

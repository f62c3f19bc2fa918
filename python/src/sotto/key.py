"""Keys that sign certificates (Ed25519): who vouches for one."""

from __future__ import annotations

import os

from ._call import c_text, ffi, lib, run, text_of

__all__ = ["new", "public", "sign"]


def new(path: str | os.PathLike[str]) -> str:
    """Makes a key pair; returns the public key as 64 digits. `path` (mode 0600) holds both keys, PATH.pub the public one, which is to
    be handed out. Raises FileError if one of them exists.

    >>> key = sotto.key.new(folder / "office.key")
    >>> len(key), key == sotto.key.public(folder / "office.key.pub")
    (64, True)
    """
    run(lib.sotto_key_new, c_text(path))
    return public(path)


def public(path: str | os.PathLike[str]) -> str:
    """The public key of either file."""
    key = ffi.new("char[]", lib.SOTTO_KEY_TEXT)
    run(lib.sotto_key_public, key, ffi.NULL, c_text(path))
    return text_of(key)


def sign(certificate: str | os.PathLike[str], key: str | os.PathLike[str]) -> str:
    """Signs a certificate's file, byte for byte, by the key pair of file `key`; returns the path of the signature."""
    run(lib.sotto_sign, c_text(certificate), c_text(key))
    return os.fspath(certificate) + ".signature.json"

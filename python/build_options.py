#!/usr/bin/env python3
"""Writes src/sotto/_options.py: the types of keyword arguments that stand in option tables of the library.

Help and defaults stay in the tables (`sotto VERB --help all`): only names and types are repeated here.

usage: PYTHONPATH=FOLDER build_options.py > src/sotto/_options.py     (FOLDER: where the package was built)
       PYTHONPATH=FOLDER build_options.py NAME > ../src/modules/NAME/python/_NAME_options.py     (a module: its OPTION_TYPES)"""
import importlib
import inspect
import sys

import sotto
from sotto import _call
from sotto._call import lib
from sotto._ledger import _OF_THE_LEDGER

# Type: the function whose arguments they are (its own parameters are left out), and its tables, of which perhaps some rows only.
TYPES = {
    "AuditOptions": (sotto.audit, "audit_input", "generative_input", "token_input", "attribute_input",
                     "audit"),
    "CanaryAuditOptions": (None, "audit:set|fpr|confidence|delta|seed|bootstrap"),
    "AttackOptions": (sotto.attack, "attack", "audit:fpr|confidence|delta"),
    "EncoderAttackOptions": (sotto.attack_encoder, "encoder_attack", "audit:fpr|confidence|delta|seed"),
    "PretrainOptions": (sotto.pretrain, "pretrain"),
    "ScatteringOptions": (sotto.scatter, "scattering"),
    "ViewOptions": (sotto.Encoder.embed_views, "view"),
    "ImportOptions": (sotto.Encoder.from_weights, "encoder_import"),
    "ShadowOptions": (None, "shadow"),
    "HeadOptions": (sotto.train_head, "head_recipe", "head_privacy", "spend", "canary"),
    "RecipeOptions": (sotto.sample_sensitivity, "head_recipe"),
    "NetworkOptions": (sotto.train_network, "train", "train_privacy", "spend", "canary"),
    "AnswerOptions": (sotto.Network.predict, "answer"),
    "ReleaseOptions": (sotto.release, "release", "spend"),
    "ChoiceOptions": (None, "release:records|scale|epsilon|max_tpr|max_advantage|delta", "spend"),
    "ProtectOptions": (sotto.protect_head, "protect:mechanism", "release", "spend"),
    "StatisticOptions": (sotto.release_statistic, "protect", "release", "spend"),
    "SpendOptions": (sotto.release_records, "spend"),
}
# Rows that arguments of Python replace: files become arrays, and what the program takes apart is given in parts.
LEFT_OUT = {"loci", "claim", "claim_epsilon", "claim_delta", "shard", "shards", "target", "target_command", "size", "dimension", "sensitivity",
            "output", *_OF_THE_LEDGER}
MORE = {"ImportOptions": {"height": "int", "width": "int"}, "AttackOptions": {"shard": "tuple[int, int]"},
        "HeadOptions": {"canary_public": "Any"}, "NetworkOptions": {"canary_public": "Any"}}
SHORT = {"insecure_noise_seed": "insecure_seed"}  # what the package calls it


def type_of(o):
    numbers = {lib.SOTTO_OPTION_FLAG: "bool", lib.SOTTO_OPTION_COUNT: "int", lib.SOTTO_OPTION_SEED: "int", lib.SOTTO_OPTION_REAL: "float",
               lib.SOTTO_OPTION_SIZES: "int | Sequence[int]", lib.SOTTO_OPTION_REALS: "float | Sequence[float]",
               lib.SOTTO_OPTION_LIST: "str | Sequence[str]", lib.SOTTO_OPTION_INPUT: "Any"}
    if o.name == "max_tpr":  # (tpr, fpr), or as on the command line
        return "tuple[float, float] | str"
    if o.type in numbers:
        return numbers[o.type]
    if o.range:
        return f"Literal[{', '.join(repr(n) for n in o.range.split('|'))}]"
    return "str | PathLike[str]"


def rows(function, tables):
    taken = set(inspect.signature(function).parameters) if function else set()
    for name in tables:
        table, _, only = name.partition(":")
        for o in _call.table(table, True):
            if o.name not in taken | LEFT_OUT and (not only or o.name in only.split("|")):
                taken.add(o.name)
                yield o


def main():
    types = importlib.import_module(f"sotto.lab.{sys.argv[1]}").OPTION_TYPES if len(sys.argv) > 1 else TYPES
    print('"""Types of keyword arguments that stand in option tables of the library. Made by build_options.py; not for editing."""\n')
    print("from __future__ import annotations\n\nfrom collections.abc import Sequence\nfrom os import PathLike\nfrom typing import Any, Literal, TypedDict")
    for name, (function, *tables) in types.items():
        print(f"\n\nclass {name}(TypedDict, total=False):")
        print(f'    """Of {function.__qualname__}()."""\n' if function else f'    """Of the options {" and ".join(tables)}."""\n')
        for o in rows(function, tables):
            kind = type_of(o)
            print(f"    {SHORT.get(o.name, o.name)}: {kind}{'' if kind == 'Any' else ' | None'}")
        for member, kind in MORE.get(name, {}).items():
            print(f"    {member}: {kind}{'' if kind == 'Any' else ' | None'}")


if __name__ == "__main__":
    main()

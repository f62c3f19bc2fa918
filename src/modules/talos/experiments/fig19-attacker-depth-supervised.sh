#!/usr/bin/env bash
# Fig. 19 of the Talos paper (../talos.sh), scaled: as Fig. 11, of a supervised network.
# Claim T3.
# usage: src/modules/talos/experiments/fig19-attacker-depth-supervised.sh FOLDER; settings, and what a killed run does: library.sh. Figures share a FOLDER.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
model supervised
attribute supervised
line supervised put_depths

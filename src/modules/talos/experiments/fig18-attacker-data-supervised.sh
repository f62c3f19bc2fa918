#!/usr/bin/env bash
# Fig. 18 of the Talos paper (../talos.sh), scaled: as Fig. 10, of a supervised network.
# Claim T2: what it leaks hardly depends on the share.
# usage: src/modules/talos/experiments/fig18-attacker-data-supervised.sh FOLDER; settings, and what a killed run does: library.sh. Figures share a FOLDER.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
model supervised
attribute supervised
line supervised put_shares

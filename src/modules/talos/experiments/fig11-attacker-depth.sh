#!/usr/bin/env bash
# Fig. 11 of the Talos paper (../talos.sh), scaled: networks of 3 to 6 layers read the attribute from contrastive
# embeddings.
# Claim T3: three layers suffice, more does not help or hurts.
# usage: src/modules/talos/experiments/fig11-attacker-depth.sh FOLDER; settings, and what a killed run does: library.sh. Figures share a FOLDER.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
model contrastive
attribute contrastive
line contrastive put_depths

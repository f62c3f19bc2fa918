#!/usr/bin/env bash
# Fig. 4 of the Talos paper (../talos.sh), scaled: a network on the answers of a shadow that was trained alike
# (two largest posteriors, right or wrong) tells members of the head from strangers.
# Claim T5: contrastive models (.50 to .64 there) leak less than supervised ones (.54 to .94). AUC here; guessing is .5.
# The number in the name is a guess: the excerpt that this project has does not show it.
# usage: src/modules/talos/experiments/fig04-membership.sh FOLDER; settings, and what a killed run does: library.sh. Figures share a FOLDER.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
for m in contrastive supervised; do
  model $m
  membership $m
  line $m put_membership shadow-network
done

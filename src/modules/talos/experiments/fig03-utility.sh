#!/usr/bin/env bash
# Fig. 3 of the Talos paper (../talos.sh), scaled: accuracy of the task, by linear heads on frozen contrastive
# embeddings and on a supervised network's last layer but one.
# There: contrastive at least as good on 96-pixel pictures after 100 epochs (UTKFace, ResNet-18 .858 / .876; Places20 .910 / .839). After
# minutes on 1,500 pictures the supervised network is expected to be ahead.
# The number in the name is a guess: the excerpt that this project has does not show it.
# usage: src/modules/talos/experiments/fig03-utility.sh FOLDER; settings, and what a killed run does: library.sh. Figures share a FOLDER.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
for m in contrastive supervised; do
  model $m
  membership $m
  line $m put_task
done

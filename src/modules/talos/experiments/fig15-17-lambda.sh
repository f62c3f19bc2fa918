#!/usr/bin/env bash
# Figs. 15 to 17 of the Talos paper (../talos.sh), scaled: task, membership and attribute at several lambdas; which of
# them to take is decided by an attacker who trains afresh and by the other axes, never by the classifier that Talos trained against.
# There (UTKFace, ResNet-18; lambda 0 to 5): attribute .701 .655 .658 .610 .602 .605, task .858 .843 .839 .842 .844 .842; not monotone. As
# published (talos-LAMBDA) the loss has no lower end and the encoder is lost; bounded-LAMBDA: notes/results.md.
# The numbers in the name are a guess: the excerpt that this project has does not show them.
# usage: src/modules/talos/experiments/fig15-17-lambda.sh FOLDER; settings, and what a killed run does: library.sh. Figures share a FOLDER.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
all contrastive
line contrastive row
for m in "${talos[@]}"; do
  all "$m"
  line "$m" row
done
choose

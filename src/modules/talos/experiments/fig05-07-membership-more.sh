#!/usr/bin/env bash
# Figs. 5 to 7 of the Talos paper (../talos.sh), scaled: thresholds on confidence, entropy and modified entropy,
# label-only attacks, and what membership has to do with overfitting; besides, who pre-trained the encoder (not in the paper).
# The excerpt that this project has does not show which of the three is which. There: within .01 of Fig. 4, entropy worst, label-only a little
# less; the gap between training and test accuracy goes with the attack.
# usage: src/modules/talos/experiments/fig05-07-membership-more.sh FOLDER; settings, and what a killed run does: library.sh. Figures share a FOLDER.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
for m in contrastive supervised; do
  all "$m"
  line "$m" put_membership class-confidence class-entropy class-modified-entropy correctness boundary
  put_gap "$m"
done
line contrastive put_membership encoder-mi-vector encoder-mi-set encoder-mi-threshold encoder-contrastive encoder-norm-ratio

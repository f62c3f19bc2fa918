#!/usr/bin/env bash
# Fig. 10 of the Talos paper (../talos.sh), scaled: the attacker of contrastive embeddings knows 10 to 90 % of the
# records.
# Claim T1: with 10 % he finds more than with all of them on a supervised model (last line). There (UTKFace, ResNet-18): .536 .557 .572 .594
# .643 .661 .683 .691 .695.
# usage: src/modules/talos/experiments/fig10-attacker-data.sh FOLDER; settings, and what a killed run does: library.sh. Figures share a FOLDER.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
for m in contrastive supervised; do
  model $m
  attribute $m
done
line contrastive put_shares
line supervised put_attribute

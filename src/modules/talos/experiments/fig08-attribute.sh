#!/usr/bin/env bash
# Fig. 8 of the Talos paper (../talos.sh), scaled: an attacker reads the attribute from embeddings; he knows it
# of all records that trained the encoder.
# There (UTKFace, commonest value .421): contrastive .595 to .701, supervised .422. The commonest value of synthetic-faces has .42 too.
# usage: src/modules/talos/experiments/fig08-attribute.sh FOLDER; settings, and what a killed run does: library.sh. Figures share a FOLDER.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
for m in contrastive supervised; do
  model $m
  attribute $m
  line $m put_attribute
done

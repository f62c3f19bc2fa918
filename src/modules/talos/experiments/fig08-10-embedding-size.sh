#!/usr/bin/env bash
# Figs. 8 and 10 of the Talos paper (../talos.sh), scaled: what the width of the embedding has to do with the attribute
# (claim T4). Encoders of 64, 128, 512 and 1,280 numbers (NETWORKS; resnet50 would give
# 2,048). 10 epochs unless EPOCHS says otherwise: about half an hour of processor time, most of it resnet18.
# There: contrastive embeddings of 512 numbers (ResNet-18) leak more than those of 1,280 and 2,048; no such order among supervised ones. Width
# and network change together, there and here.
# usage: src/modules/talos/experiments/fig08-10-embedding-size.sh FOLDER; settings, and what a killed run does: library.sh. Figures share a FOLDER.
EPOCHS=${EPOCHS:-10}
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
for m in contrastive supervised; do
  for net in ${NETWORKS:-resnet8 keras-simclr resnet18 mobilenetv2}; do
    target "$m-$net" "$net"
    membership "$m-$net" none
    attribute "$m-$net"
    line "$m-$net" put_task
    line "$m-$net" put_attribute
  done
done

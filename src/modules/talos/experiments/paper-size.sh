#!/usr/bin/env bash
# Talos at the paper's own rate (3e-4), batch (512) and image size (96 x 96): its network (ResNet-18), views and temperature, 100 epochs,
# beside the same encoder without Talos. The data is a stand-in (synthetic-faces) and each quarter has 2,500 images, so
# an epoch has 4 steps; the paper's UTKFace has 11. Under Talos (odd-even, as published) the classifier is trained for as many epochs more.
# usage: src/modules/talos/experiments/paper-size.sh FOLDER; settings, and what a killed run does: library.sh
SET=${SET:-synthetic-faces-s96} RECORDS=${RECORDS:-2500} EPOCHS=${EPOCHS:-100} BATCH=512 ENCODER=resnet18-imagenet TALOS=${TALOS:-talos-1}
PRETRAIN="--lr 3e-4 --loss simclr --temperature 0.07 --augmentation simclr --brightness 0.8 --jitter 0.2 --vertical-flip"
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
for m in contrastive "${talos[@]}"; do
  target "$m"
  membership "$m" none
  attribute "$m"
  line "$m" put_task
  line "$m" put_attribute
done

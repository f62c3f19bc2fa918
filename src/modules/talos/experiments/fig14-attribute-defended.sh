#!/usr/bin/env bash
# Fig. 14 of the Talos paper (../talos.sh), scaled: the attribute under the defences, by an attacker who trains
# on what the defence makes (adaptive).
# Claim T6 (UTKFace, ResNet-18): .701 plain, .602 Talos. T8: .689 AttriGuard, .422 Olympus, MemGuard as plain.
# usage: src/modules/talos/experiments/fig14-attribute-defended.sh FOLDER; settings, and what a killed run does: library.sh. Figures share a FOLDER.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
all contrastive
for m in "${talos[@]}"; do all "$m"; done
defended
for m in contrastive "${talos[@]}" olympus attriguard memguard; do line "$m" put_attribute; done

#!/usr/bin/env bash
# Fig. 13 of the Talos paper (../talos.sh), scaled: membership under the defences by a network on the answers of a
# shadow that was trained and defended in the same way (adaptive).
# Claim T7: it stays low under Talos (.507 before and after on UTKFace, ResNet-18); Olympus raises it to .588; MemGuard lowers it.
# usage: src/modules/talos/experiments/fig13-membership-defended.sh FOLDER; settings, and what a killed run does: library.sh. Figures share a FOLDER.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
all contrastive
for m in "${talos[@]}"; do all "$m"; done
defended
for m in contrastive "${talos[@]}" olympus attriguard memguard; do line "$m" put_membership shadow-network; done

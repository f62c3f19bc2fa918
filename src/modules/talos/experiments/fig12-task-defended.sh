#!/usr/bin/env bash
# Fig. 12 of the Talos paper (../talos.sh), scaled: accuracy of the task under Talos, MemGuard, Olympus and
# AttriGuard.
# There (UTKFace, ResNet-18): .858 plain, .844 Talos, .853 AttriGuard, .867 Olympus. MemGuard keeps every label.
# usage: src/modules/talos/experiments/fig12-task-defended.sh FOLDER; settings, and what a killed run does: library.sh. Figures share a FOLDER.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
all contrastive
for m in "${talos[@]}"; do all "$m"; done
defended
for m in contrastive "${talos[@]}" olympus attriguard memguard; do line "$m" put_task; done

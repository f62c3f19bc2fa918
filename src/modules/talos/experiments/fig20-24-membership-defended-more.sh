#!/usr/bin/env bash
# Figs. 20 to 24 of the Talos paper (../talos.sh), scaled: thresholds (confidence, entropy, modified entropy, correctness)
# and labels alone (HopSkipJump) against the defended heads, with shadows defended alike.
# Claim T7: all stay as low under Talos as without; MemGuard brings modified entropy to .500 there.
# usage: src/modules/talos/experiments/fig20-24-membership-defended-more.sh FOLDER; settings, and what a killed run does: library.sh. Figures share a FOLDER.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
all contrastive
for m in "${talos[@]}"; do all "$m"; done
defended
for m in contrastive "${talos[@]}" olympus attriguard memguard; do
  line "$m" put_membership class-confidence class-entropy class-modified-entropy correctness boundary
done

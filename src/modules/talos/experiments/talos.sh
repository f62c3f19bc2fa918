#!/usr/bin/env bash
# "Quantifying and Mitigating Privacy Risks of Contrastive Learning" (He & Zhang, CCS 2021), scaled to minutes on 2 cores: one step for each
# group of its figures; figNN-*.sh are the single figures, on the same folder. The data is a stand-in (synthetic-faces: hair as the task,
# one of five families as the attribute; or cifar10-kinds) and small, so claims are about directions, not about the paper's numbers.
#   models       contrastive and supervised encoders of one network, each with a shadow trained alike; linear heads   (Figs. 3, 12: utility)
#   attribute    an attacker of embeddings, 10 .. 90 % of its records, networks of 3 .. 6 layers              (Figs. 8, 10, 11, 18, 19: T1-T3)
#   sizes        the same on encoders of 64 (resnet8), 128 (keras-simclr), 512 (resnet18) and 1,280 (mobilenetv2) numbers         (T4; slow)
#   membership   thresholds, a shadow's attack network and labels only, on the heads' answers; EncoderMI and contrastive loss on the encoders
#                                                                                                                (Figs. 4-7, 20-24: T5, T7)
#   talos        each of TALOS: utility, attribute, membership with shadows trained by Talos too (adaptive)          (Figs. 12-17: T6, T7)
#   select       which of them: by an attacker who trains afresh, never by the classifier that Talos trained against (metrics.jsonl)
#   baselines    Olympus and AttriGuard on embeddings, MemGuard on posteriors, attacked adaptively                   (Figs. 12-14: T8)
#   joint        all of them on three axes at once: sotto compare, report.html with the Pareto front
# usage: src/modules/talos/experiments/talos.sh FOLDER [STEP]...      (default: models attribute membership talos select baselines joint); settings: library.sh
# shellcheck source-path=SCRIPTDIR source=library.sh
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
shift
[ $# -gt 0 ] || set -- models attribute membership talos select baselines joint
for step; do
  case $step in
    models) for m in contrastive supervised; do model $m; done ;;
    attribute)
      for m in contrastive supervised; do
        model $m
        attribute $m
        line $m put_shares
        line $m put_depths
      done ;;
    sizes)
      for m in contrastive supervised; do
        for net in ${NETWORKS:-resnet8 keras-simclr resnet18 mobilenetv2}; do
          target "$m-$net" "$net"
          membership "$m-$net" none
          attribute "$m-$net"
          line "$m-$net" put_task
          line "$m-$net" put_attribute
        done
      done ;;
    membership | talos)
      for m in $([ "$step" = talos ] && echo "${talos[@]}" || echo contrastive supervised); do
        all "$m"
        line "$m" row
      done ;;
    select) choose ;;
    baselines)
      all contrastive
      defended
      for m in contrastive olympus attriguard memguard; do line $m row; done ;;
    joint)
      compared contrastive supervised "${talos[@]}" olympus attriguard memguard
      "$sotto" compare "${models[@]}" --title "Talos and others on $set, $n images" --force -o "$out/joint" ;;
    *) echo "unknown step '$step'" >&2; exit 64 ;;
  esac
done

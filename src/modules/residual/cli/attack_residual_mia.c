/* The help of sotto attack residual-mia; the attack itself is a row of the attacks. */
#include "options/options.h"

static const struct subcommand subcommands[] = {
    {"residual-mia", "",
     "train a shadow model, with the target's noise or without, and an attack model on its answers",
     "target|target-command|member-features|member-labels|nonmember-features|nonmember-labels|attacker-"
     "features|"
     "attacker-labels|mismatch|plain-shadows|repeats|cache|fpr|seed|output"},
    {NULL}};

const struct verb_part verb_part_attack_residual_mia = {
    .verb = "attack",
    .examples = "  sotto attack residual-mia --target model.safetensors --member-features xm.npy "
                "--member-labels ym.npy "
                "--nonmember-features xn.npy --nonmember-labels yn.npy --attacker-features xa.npy "
                "--attacker-labels ya.npy "
                "--cache shadows -o residual",
    .subcommands = subcommands};

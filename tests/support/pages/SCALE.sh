# What docs/SCALE.md takes as given: an experiment, here a small one.
# shellcheck shell=bash
cat > CONFIG.yaml <<'END'
name: small
data: {set: synthetic-images-n600, public: 64, private: 60, heldout: 100}
pretrain: {epochs: 1, batch: 32}
head: {epochs: 2}
attack: {names: [loss]}
END

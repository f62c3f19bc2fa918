#!/bin/bash
# An experiment by many tasks of a Slurm job array, then one job that merges:
#   job=$(sbatch --parsable --array=0-63 examples/slurm-array.sh CONFIG.yaml /shared/FOLDER)
#   sbatch --dependency=afterany:"$job" examples/slurm-array.sh CONFIG.yaml /shared/FOLDER
#SBATCH --cpus-per-task=2
#SBATCH --time=04:00:00
#SBATCH --requeue
set -eu
# Nodes of several kinds: export SOTTO_ISA=v3, the level that all of them have.
work=(sotto run "$1" -o "$2" --threads "${SLURM_CPUS_PER_TASK:-2}")
if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
  exec "${work[@]}" --worker
fi
exec "${work[@]}"

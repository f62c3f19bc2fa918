#!/bin/bash
# One pre-training run on all tasks of a Slurm job, in order exact: the same bits on any number of them. It goes on from its checkpoint when
# it is requeued, on other nodes or on another number of them:
#   sbatch --nodes=4 examples/slurm-pretrain.sh --data cifar10 --batch 1024 --epochs 100 -o /shared/encoder.safetensors
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
set -u
srun --mpi=pmix sotto pretrain --order exact --threads "${SLURM_CPUS_PER_TASK:-1}" "$@" &
step=$!
trap 'kill -USR1 $step' USR1 # before the job's time ends: to all ranks, which write a checkpoint and end with 130
wait $step
code=$?
while kill -0 $step 2> /dev/null; do wait $step; code=$?; done # a signal interrupts the wait
case $code in
  75 | 130) scontrol requeue "$SLURM_JOB_ID" ;; # 75: a rank heard nothing of the others
esac
exit $code

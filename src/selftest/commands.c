#include "selftest/commands.h"

#define HEAD "head --features ../X.npy --labels ../y.npy --classes 3 "
#define TOY "--dataset-id toy "
#define NOISY_HEAD HEAD TOY "-o h.safetensors --delta 1e-3 "
/* Every record in every step: the account is a closed form, and nothing dilutes the attack. */
#define DP_HEAD NOISY_HEAD "--batch 24 --epochs 1 --noise-multiplier 6 "
#define CONVEX HEAD "-o h.safetensors --lambda 0.1 "
#define PROTECT_HEAD "protect --head ../prepared/h.safetensors " TOY "--epsilon 1 --delta 1e-3 -o p.safetensors"
#define PROTECT "protect --vector ../v.npy " TOY "--epsilon 1 -o p.npy "
#define IMPORT_IMAGES "data import ../set --name toy --dataset-id toy"
#define TRAIN "train --data toy --classes 3 " TOY "--delta 1e-3 --dtype f32 --backend dnnl -o m.safetensors "
#define DP_TRAIN TRAIN "--dp-sgd --model mlp --hidden 4 --batch 24 --epochs 1 --noise-multiplier 6"
#define IMPORT_TABLE "data import ../people.csv --name toy --dataset-id toy "
#define SPLIT "data split toy --parts train=24 --one-hot "
#define TABLE_HEAD "head --features ../prepared/d/train-features.npy --labels ../prepared/d/train-labels.npy " \
                   "--classes 2 --delta 1e-3 -o h.safetensors --trainer covariance --noise-multiplier 6"

static const struct release_row releases[] = {
    {"protect: logistic", NEIGHBOURS_VECTOR, {0}, PROTECT "--l1 2", "p.npy", 0, 0},
    {"protect: logistic, delta", NEIGHBOURS_VECTOR, {0}, PROTECT "--l2 2 --delta 1e-3", "p.npy", 0, 0},
    {"protect: logistic, constant time", NEIGHBOURS_VECTOR, {0},
     PROTECT "--l1 2 --l2 2 --delta 1e-3 --constant-time", "p.npy", 0, 0},
    {"protect: laplace", NEIGHBOURS_VECTOR, {0}, PROTECT "--mechanism laplace --l1 2", "p.npy", 0, 0},
    {"protect: laplace on f4", NEIGHBOURS_FLOATS, {0}, PROTECT "--mechanism laplace --l1 2", "p.npy", 0, 0},
    {"protect: gaussian", NEIGHBOURS_VECTOR, {0}, PROTECT "--mechanism gaussian --l2 2 --delta 1e-3", "p.npy", 0, 0},
    {"protect: knorm", NEIGHBOURS_VECTOR, {0}, PROTECT "--mechanism knorm --l1 2", "p.npy", 0, 0},
    {"protect: discrete-laplace", NEIGHBOURS_WHOLE, {0}, PROTECT "--mechanism discrete-laplace --l1 2", "p.npy", 0, 0},
    {"protect: discrete-gaussian", NEIGHBOURS_WHOLE, {0},
     PROTECT "--mechanism discrete-gaussian --l2 2 --delta 1e-3", "p.npy", 0, 0},
    {"protect: exponential", NEIGHBOURS_SCORES, {0}, PROTECT "--mechanism exponential --l1 1", "p.npy", 0, 0},
    {"protect: randomised-response", NEIGHBOURS_LABELS, {0},
     PROTECT "--mechanism randomised-response --classes 3 --l1 1", "p.npy", 0, 0},
    {"protect: convex head", NEIGHBOURS_RECORDS, {CONVEX "--trainer convex --steps 20"}, PROTECT_HEAD,
     "p.safetensors", 0, 0},
    {"protect: convex-sgd head", NEIGHBOURS_RECORDS, {CONVEX "--trainer convex-sgd --epochs 2 --batch 8"},
     PROTECT_HEAD " --mechanism gaussian", "p.safetensors", 0, 0},
    {"protect: convex-lbfgs head", NEIGHBOURS_RECORDS, {CONVEX "--trainer convex-lbfgs"}, PROTECT_HEAD,
     "p.safetensors", 0, 0},
    {"head: dp-sgd", NEIGHBOURS_RECORDS, {0}, DP_HEAD "--trainer dp-sgd", "h.safetensors", 0, 0},
    {"head: dp-sgd, logistic, zero-out", NEIGHBOURS_RECORDS, {0},
     DP_HEAD "--trainer dp-sgd --noise logistic --adjacency zero-out", "h.safetensors", 0, 0},
    {"head: dp-adam, hidden layer, fixed sampling, fast noise", NEIGHBOURS_RECORDS, {0},
     DP_HEAD "--trainer dp-adam --hidden 3 --sampling fixed --noise-mode fast --json", "h.safetensors", 0, 0},
    {"head: covariance", NEIGHBOURS_RECORDS, {0}, NOISY_HEAD "--trainer covariance --noise-multiplier 6",
     "h.safetensors", 0, 0},
    {"head: functional", NEIGHBOURS_RECORDS, {0}, NOISY_HEAD "--trainer functional --noise-multiplier 6",
     "h.safetensors", 0, 0},
    {"head: functional-linear", NEIGHBOURS_RECORDS, {0},
     NOISY_HEAD "--trainer functional-linear --noise-multiplier 6", "h.safetensors", 0, 0},
    {"head: taylor", NEIGHBOURS_RECORDS, {0}, NOISY_HEAD "--trainer taylor --noise-multiplier 6", "h.safetensors",
     0, 0},
    {"train: dp-sgd", NEIGHBOURS_IMAGES, {IMPORT_IMAGES}, DP_TRAIN, "m.safetensors", 0, 0},
    {"train: dp-sgd, quantile clipping, fast noise", NEIGHBOURS_IMAGES, {IMPORT_IMAGES},
     DP_TRAIN " --clipping quantile --noise-mode fast --json", "m.safetensors", 0, 0},
    {"train: certify-inputs, labels released", NEIGHBOURS_IMAGES, {IMPORT_IMAGES},
     TRAIN "--model resnet8 --certify-inputs --radius 1 --input-noise 6 --noise-mode fast --label-epsilon 1 --epochs 1 --batch 24",
     "m.safetensors", 0, 0},
    {"data split: bounds by private releases", NEIGHBOURS_TABLE, {IMPORT_TABLE "--schema ../schema.yaml"},
     SPLIT "--private-fit 1 -o private", "private/encoding.json", 1, 0},
    {"head on a table, encoding declared", NEIGHBOURS_TABLE,
     {IMPORT_TABLE "--schema ../schema.yaml", SPLIT "-o d"}, TABLE_HEAD, "h.safetensors", 0, 0},
    {"head on a table, encoding fitted on public rows", NEIGHBOURS_TABLE,
     {"data import ../public.csv --name public --schema ../schema.yaml", IMPORT_TABLE "--schema ../schema.yaml",
      SPLIT "--fit-table public -o d"},
     TABLE_HEAD, "h.safetensors", 0, 0},
};

#define CHARGED_HEAD DP_HEAD "--trainer dp-sgd "

static const struct rule_row rules[] = {
    {"a row that is named twice is refused", NEIGHBOURS_RECORDS, {CHARGED_HEAD "--indices ../twice.npy"}, 65, NULL},
    {"... by train as well", NEIGHBOURS_IMAGES, {IMPORT_IMAGES, DP_TRAIN " --indices ../twice.npy"}, 65, NULL},
    {"arrays without identity are refused", NEIGHBOURS_RECORDS,
     {HEAD "-o h.safetensors --delta 1e-3 --noise-multiplier 6 --trainer covariance"}, 64, NULL},
    {"another order of the same people is charged to the same ledger", NEIGHBOURS_RECORDS,
     {CHARGED_HEAD "--budget-epsilon 1",
      "head --features ../Xr.npy --labels ../yr.npy --classes 3 " TOY
      "-o r.safetensors --delta 1e-3 --batch 24 --epochs 1 --noise-multiplier 6 --trainer dp-sgd"},
     77, NULL},
    {"a trainer does not widen the officer's budget", NEIGHBOURS_RECORDS,
     {"ledger init --dataset-id toy --budget 0.5,1e-3", CHARGED_HEAD "--budget-epsilon 100"}, 77, NULL},
    {"no charge where the output cannot be written: head", NEIGHBOURS_RECORDS,
     {HEAD TOY "-o none/h.safetensors --delta 1e-3 --noise-multiplier 6 --trainer covariance"}, 73, NULL},
    {"... protect", NEIGHBOURS_VECTOR, {"protect --vector ../v.npy " TOY "--epsilon 1 --l1 2 -o none/p.npy"}, 73, NULL},
    {"... train", NEIGHBOURS_IMAGES,
     {IMPORT_IMAGES, "train --data toy --classes 3 --delta 1e-3 --dtype f32 --backend dnnl -o none/m.safetensors --dp-sgd "
                     "--model mlp --hidden 4 --batch 24 --epochs 1 --noise-multiplier 6"},
     73, NULL},
    {"an output that is an input is refused", NEIGHBOURS_VECTOR,
     {"protect --vector ../v.npy " TOY "--epsilon 1 --l1 2 -o ../v.npy"}, 64, NULL},
    {"train: dp-sgd stands as conditional on its float sums", NEIGHBOURS_IMAGES, {IMPORT_IMAGES, DP_TRAIN}, 0,
     "m.safetensors.certificate.json"},
    {"an encoding fitted on the private rows makes epsilon conditional", NEIGHBOURS_TABLE,
     {IMPORT_TABLE "--label ill", SPLIT "-o ../prepared/d", TABLE_HEAD}, 0, "h.safetensors.certificate.json"},
};

const struct release_row *release_row(size_t i)
{
    return i < sizeof releases / sizeof *releases ? &releases[i] : NULL;
}

const struct rule_row *rule_row(size_t i)
{
    return i < sizeof rules / sizeof *rules ? &rules[i] : NULL;
}

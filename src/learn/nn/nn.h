/* nn.h - networks as arrays of layers: a model owns f32 parameters, a plan binds it to a batch size and a
 * backend.
 *
 * Tensors are NHWC inside (last index fastest), so that our own kernels, im2col and oneDNN see the same
 * layout; files hold PyTorch's layouts (conv O,I,H,W; dense O,I). A plan takes all its memory when it is
 * made; running it allocates nothing. Backends: "ref" (readable C, the oracle), "dnnl" (oneDNN)
 * and "winograd" (oneDNN, and 3x3 convolutions by minimal filtering). */
#ifndef NN_NN_H
#define NN_NN_H

#include "base/memory.h"
#include "base/sha256.h"
#include "sotto/private/io.h"

#include <stdbool.h>

enum nn_dtype { NN_F32, NN_BF16 };
struct nn_shape {
    size_t channels, height, width; /* vectors: height = width = 1 */
};

/* ---- backends ---- */
struct nn_backend;
/** "auto" (the first that there is: for embeddings and answers; what trainings mean by it is autotune.h),
 * "winograd", "dnnl", "ref". ENOTSUP: not built, or not on this CPU. */
sotto_status nn_backend_find(const struct nn_backend **out, const char *name);
const char *nn_backend_name(const struct nn_backend *b);
/** Can plans be made in bf16 here? */
int nn_backend_supports_bf16(const struct nn_backend *b);
/** "oneDNN 2.6.3 avx512_core_bf16", "reference". */
const char *nn_backend_title(const struct nn_backend *b);
/** Name of the backend that has such a title, here or on another machine; "" if none has. */
const char *nn_backend_of_title(const char *title);

/** "f32" or "bf16". ENOTSUP: bf16 without hardware for it; EINVAL. */
sotto_status nn_dtype_find(enum nn_dtype *out, const char *name, const struct nn_backend *backend);

/* ---- models ---- */
/** Noise after every residual sum, in training and in use (residual perturbation; residual_noise.h). gamma >=
 * 0. */
enum nn_noise_kind {
    NN_NOISE_NONE,
    NN_NOISE_ADDITIVE,      /* x + F(x) + gamma n */
    NN_NOISE_MULTIPLICATIVE /* x + F(x) + gamma x~ n, x~ = sign(x) max(|x|, floor) */
};
struct nn_noise {
    enum nn_noise_kind kind;
    double gamma, floor;
    int relative;    /* additive: gamma is in deviations of the result, one number over the whole batch, which
                        has a gradient too (as in the EnResNet code); else absolute */
    uint32_t stream; /* differs from that of other rows; set by the builder */
};
/** A classifier on the embedding that the encoder is trained against: dense layers, ReLU between, behind a
 * gradient reversal (layer_reverse.c). Its logits are a second output of plans. */
struct nn_adversary {
    size_t values; /* outputs; 0: no adversary */
    size_t hidden[4], hidden_count;
    double reversal; /* lambda >= 0 */
    int relu_logits; /* ReLU after the last layer too */
};
/** What a training leaves as it is. A frozen batch norm computes with its running statistics in training too: each channel
 * goes through one affine map, and records are not mixed. {0}: everything is trained. */
struct nn_freeze {
    int encoder;   /* all layers up to the embedding */
    size_t blocks; /* else those of the first so many blocks of the encoder (model.h) */
    size_t rows;   /* else so many first rows of the model (nn/plan/plan_influence.h) */
    int norms;     /* every batch norm */
};
/** Where a network was trained on normalised images, which padding with 0 forbids to fold into its first weights: a batch norm
 * that is always frozen, with the mean and the variance (less NN_NORM_EPSILON) of each channel as its running ones. A file of
 * weights has the row if it has its tensors. */
#define NN_INPUT_NORM "encoder.input"
#define NN_NORM_EPSILON 1e-5
struct nn_model;
struct model_kind;
struct nn_model_config {
    const char *name;              /* row of the model list (model_list.h) */
    const struct model_kind *kind; /* instead of a name: a network that is no choice of the user's; or NULL */
    struct nn_shape input;
    size_t classes;                 /* outputs of a classifier; 0: stop at the embedding */
    size_t hidden[8], hidden_count; /* mlp: hidden widths (ReLU between); cnn: of the convolutions, then of
                                       the dense layer */
    /* dense widths appended after the embedding, ReLU between, none after */
    size_t projector[4], projector_count;
    const char *norm; /* resnets: "batch" (default) or "group" */
    bool normalised;  /* the first row is NN_INPUT_NORM */
    /* Pre-activation resnets (resnet8, resnet20). */
    struct nn_noise noise;
    double input_noise, radius; /* noise on the input (0: none), clipped to this L2 norm first (0: not) */
    int no_skip;                /* leave out the residual sums */
    size_t members;             /* > 1: an ensemble of so many, logits averaged; one loss trains all */
    int separate_inputs;        /* members: each draws its own noise on the input, instead of sharing it */
    int average_softmax;        /* members: the mean is of their probabilities (outputs are its logarithms) */
    struct nn_adversary adversary;
    struct nn_freeze freeze; /* decides training alone, nothing in answers */
    int zero_classifier;     /* the classifier's first weights are 0 */
    int standardise; /* a map of each column, which nothing trains, between embedding and classifier */
    const struct sotto_context *ctx; /* asked while the network is made; or NULL */
};
/** The row's own name (static text), and the smallest side of an image that it takes. EINVAL: unknown; the
 * text lists the known ones. Either out may be NULL. */
sotto_status nn_model_find(const char **name, size_t *smallest_side, const char *asked);
/** How many values a file of it holds, running statistics included, and how many multiplications one record
 * takes forward (may be NULL). Errors as nn_model_create(). */
sotto_status nn_model_size(size_t *values, double *work, const struct nn_model_config *config);
double nn_model_work(const struct nn_model *m);
/** Does it compute with numbers of all records of a step in training, so that leaves of a step cannot run on their own?
 * Errors as nn_model_create(). */
struct nn_crossing {
    /* leaves wait for each other in the middle of a step: batch norm, relative noise, steps of an adversary */
    bool waits;
    bool norms; /* it is batch norm, whose plan takes no single row */
};
sotto_status nn_model_crosses(struct nn_crossing *out, const struct nn_model_config *config);
/** How many of `threads` are worth their barriers for so many multiplications in a pass: all, or one. */
int nn_threads_worth(double work, int threads);
/** Parameters initialised from rng_stream(seed, RNG_INIT, 0, tensor index). */
sotto_status nn_model_create(struct nn_model **out, const struct nn_model_config *config, uint64_t seed);
/** The same with 0 in place of what would be drawn: for weights of a file or of another network. */
sotto_status nn_model_create_blank(struct nn_model **out, const struct nn_model_config *config);
void nn_model_free(struct nn_model *m);
struct nn_shape nn_model_input(const struct nn_model *m);
bool nn_model_normalised(const struct nn_model *m);
/** Is the row among these weights? */
bool nn_tensors_normalised(const struct sotto_tensors *tensors);
size_t nn_model_embedding_width(const struct nn_model *m); /* D before projector / classifier */
size_t nn_model_output_width(const struct nn_model *m);
size_t nn_model_parameter_count(const struct nn_model *m, int with_projector);
/** Those that are not frozen: what optimizers move and what sums of examples' gradients hold. */
size_t nn_model_trained_count(const struct nn_model *m);
/** How many tensors those are. */
size_t nn_model_trained_tensors(const struct nn_model *m);
/** The share of them above the encoder: of the classifier or projector. */
size_t nn_model_top_count(const struct nn_model *m);
/** How many blocks the encoder has, of which a training can freeze the first; 0: none are known. */
size_t nn_model_blocks(const struct nn_model *m);
/** Of what block `block` makes of an image. */
struct nn_shape nn_model_block_shape(const struct nn_model *m, size_t block);
/** Sets the map of `standardise`: column c of the embedding becomes (x - mean[c]) * factor[c]. */
void nn_model_set_standardise(struct nn_model *m, const double *mean, const double *factor);
/** The map as x * scale[c] + shift[c]; without one 1 and 0. scale, shift (width of the embedding). */
void nn_model_get_standardise(double *scale, double *shift, const struct nn_model *m);
/** Adds all tensors (parameters and running statistics) under `prefix` followed by PyTorch's module names
 *  ("encoder.0.weight", "projector.2.bias", "classifier.weight"); and back. Import checks names, shapes and
 * finiteness of all before it changes any (EFORMAT). with_projector = 0 leaves the projector out. */
sotto_status nn_model_export(struct sotto_tensors *out, const struct nn_model *m, const char *prefix,
                             int with_projector);
sotto_status nn_model_import(struct nn_model *m, const struct sotto_tensors *in, const char *prefix,
                             int with_projector);
/** SHA-256 over names and values. EDIVERGED: a value is not finite; the text starts with `what`. */
sotto_status nn_tensors_sha256(char hex[SHA256_HEX], const struct sotto_tensors *tensors, const char *what);

/* ---- plans ---- */
struct nn_plan;
struct nn_plan_config {
    size_t batch; /* images per pass (SimCLR: 2N views) */
    enum nn_dtype dtype;
    const struct nn_backend *backend;
    int training;       /* plan backward too */
    int embedding_only; /* stop before projector / classifier */
    int input_gradient; /* with training: nn_plan_input_gradient() */
    size_t views;       /* > 0: with training, for nn_plan_clipped_sum(); rows of the batch per example */
    int every_result; /* no row's result is made row by row where it is read (plan_norms.h): with training all are in
                           memory after a forward pass */
    int leaf_norms; /* with leaves: batch norms compute with the moments of the leaf */
    int leaves;     /* works on several batches at a time, each with a memory of its own (nn/plan/leaves.h) */
    const struct sotto_context *ctx; /* asked while the plan is made, and by its passes until
                                        nn_plan_set_context(); or NULL */
    /* a plan of the same model, batch and dtype, which must outlive this one. This one is then linear: no biases, and each
     * activation has the slopes that it had in the other's last forward pass. It maps directions as the network maps inputs */
    const struct nn_plan *tangent_of;
};
/** Borrows the model, which must outlive the plan; several plans may share one. Uses the pool of
 * par_set_threads() as it is now. ENOTSUP: dtype on this backend, or a layer that mixes the examples of a
 * plan with views; EINVAL; ENOMEM. */
sotto_status nn_plan_create(struct nn_plan **out, struct nn_model *m, const struct nn_plan_config *config);
/** ENOTSUP: a layer that is trained has no gradient of a single example, so no plan of this model can have views. */
sotto_status nn_plan_check_examples(const struct nn_model *m);
void nn_plan_free(struct nn_plan *p);
/** From now on passes ask ctx whether to go on: before each layer, and within it between the images, blocks and chunks
 * that our own kernels take, and between the products of oneDNN. NULL, as at first: they do not. A pass that is
 * stopped leaves the rest undone: its results, and running statistics in training, are of no use, and later passes stay
 * stopped until the next call of this function. */
void nn_plan_set_context(struct nn_plan *p, const struct sotto_context *ctx);
size_t nn_plan_bytes(const struct nn_plan *p); /* the plan's two arenas; tables of some 10 KiB a layer and
                                                  oneDNN's code come on top */
float *nn_plan_input(struct nn_plan *p);       /* (N, H, W, C) f32: write the batch here */
const float *nn_plan_output(const struct nn_plan *p); /* (N, outputs) f32, after forward */
/** (N, outputs) f32: write dloss/doutput here before backward, which may overwrite it. NULL without
 * training. */
float *nn_plan_diff_output(struct nn_plan *p);
/** training != 0: batch statistics and dropout (keyed by seed, step). ESTOPPED: the plan's context said so; without
 * one, always OK. */
sotto_status nn_plan_forward(struct nn_plan *p, int training, uint64_t seed, uint64_t step);
/** What is called with the results (N, H, W, C) of the encoder's blocks from `first` on, which are overwritten afterwards. */
struct nn_block_reader {
    size_t first;
    void (*read)(void *user, size_t block, const float *values);
    void *user;
};
/** nn_plan_forward() of a f32 plan, without training. */
sotto_status nn_plan_forward_blocks(struct nn_plan *p, const struct nn_block_reader *reader);
/** Overwrites the gradients of every parameter. ESTOPPED likewise. */
sotto_status nn_plan_backward(struct nn_plan *p);
/** With top_only != 0, passes from now on give gradients of the layers above the encoder alone; other gradients
 * stay as they are, and sums of examples get nothing there. */
void nn_plan_train_top(struct nn_plan *p, int top_only);
/** The same for the gradient of the input alone: those of parameters are of no use after it. The plan was made with
 * input_gradient. */
sotto_status nn_plan_backward_input(struct nn_plan *p);
/** (N, H, W, C) f32, after backward: dloss/dinput. NULL unless the plan was made with input_gradient. */
const float *nn_plan_input_gradient(const struct nn_plan *p);
/** The adversary's logits (N, values) f32, and the place for dloss/dlogits, to be filled before backward.
 * With L_C written there, backward gives the adversary the gradient of L_C and the encoder that of L - lambda
 * L_C. NULL without an adversary, or if the plan stops at the embedding. */
const float *nn_plan_adversary_output(const struct nn_plan *p);
float *nn_plan_adversary_diff(struct nn_plan *p);
/** The backward pass for the adversary's parameters only; all other gradients are left as they are. */
sotto_status nn_plan_backward_adversary(struct nn_plan *p);
/** The adversary's logits again, with its current parameters, on the embeddings of the last forward pass. */
sotto_status nn_plan_forward_adversary(struct nn_plan *p);

/* ---- gradients of single examples (DP-SGD): a plan with views, f32 ----
 *
 * An example is `views` neighbouring rows; its gradient is the sum of theirs. What an example adds to a sum is
 * its gradient times a factor, cut to whole numbers. The factor, and all it is made of, is a function of the
 * example, the weights and the shape of the plan alone, not of its place or of the other rows (tests/property/
 * nn/test_examples.c, for every layer and backend). One that is not finite, or far too large for floats, adds
 * nothing. Norms are upper bounds that include the rounding of norm and gradient. */
enum nn_clipping {
    NN_CLIP_FLAT,      /* factor bound / max(n, norm), n the norm over all parameters (Abadi et al. 2016) */
    NN_CLIP_AUTOMATIC, /* bound / (n + gamma) (Bu et al. 2022) */
    NN_CLIP_LAYERS /* flat within every one of L layers with parameters, each with norm and bound / sqrt(L) */
};
struct nn_clip {
    enum nn_clipping kind;
    double norm;  /* gradients up to here keep their length, times bound / norm */
    double bound; /* norm of what an example adds, before it is cut: at most 2^50 */
    double gamma;
};
/** Neighbouring examples: chain c ends before example end[c] and begins where chain c - 1 ends; the last end is
 * the number of examples. Gradients of layers with one output position an example are added up in float within a chain of N
 * examples, from 0 and in their order: the sum is cut to whole numbers, and its error in L2 norm before is at most
 * N (N + 3) / 2 times 2^-24 (1 + 2^-10) bound. All other gradients are cut one by one. */
struct nn_chains {
    const uint32_t *end;
    size_t count;
};
/** Only the first `examples` of the next passes matter: results of other rows are not computed, or not read. */
void nn_plan_use(struct nn_plan *p, size_t examples);
/** Backward pass that ends with sum (as many as the model has trained parameters, in the order of
 * nn_model_tensors) += what examples 0 .. examples - 1 add. Whole numbers, so sums over several calls and plans
 * do not depend on their order while they stay below 2^53. diff_output: gradients of every row's OWN loss over
 * `views`; later rows are ignored. Overwrites activations. *whole: how many were not clipped, a private
 * number. ESTOPPED: the plan's context said so, and sum is of no use; without one, always OK. */
sotto_status nn_plan_clipped_sum(struct nn_plan *p, double *sum, size_t *whole, size_t examples,
                                 const struct nn_chains *chains, const struct nn_clip *clip);
/** Gives the optimizer the gradient scale * sum. */
void nn_model_set_gradient(struct nn_model *m, const double *sum, double scale, int threads);
/** From the last call: (layers, batch / views) factors, and the norms' upper bounds (batch / views). */
const double *nn_plan_clip_factors(const struct nn_plan *p);
const double *nn_plan_example_norms(const struct nn_plan *p);

/* ---- losses: scratch sizes come with the call; gradient is of the MEAN loss ---- */
/** Softmax cross-entropy. logits (N, K), labels (N); diff_logits may be NULL. Returns mean loss in nats. */
double loss_softmax_cross_entropy(float *diff_logits, const float *logits, const int64_t *labels, size_t n,
                                  size_t k);
/** The same of some rows of n: the sum of their losses, with the gradient of the mean over all n. */
double loss_softmax_sum(float *diff_logits, const float *logits, const int64_t *labels, size_t rows, size_t k,
                        size_t n);
enum ntxent_form {
    NTXENT_KERAS /* cross-view negatives only, both directions */,
    NTXENT_SIMCLR /* 2N-2 negatives */
};
struct ntxent; /* planned workspace */
/** n images, in leaves of `leaf` (nn/plan/leaves.h; n: one leaf), d outputs of each view. */
sotto_status ntxent_create(struct ntxent **out, enum ntxent_form form, size_t n, size_t d, size_t leaf,
                           const struct nn_backend *b);
void ntxent_free(struct ntxent *w);
/** From now on runs ask `stop` every 16 rows and before each block of rows; NULL, as at first: they do not. A run that is
 * stopped returns any number, and its gradient is of no use. */
struct par_stop;
void ntxent_set_stop(struct ntxent *w, struct par_stop *stop);
/** From now on a run is what all ranks of a team do together, each with all rows of z: diff_z has the rows of this rank's leaves,
 * loss and accuracy are of all. Where the team's transport fails, its next agreement says so. NULL: alone. ENOMEM. */
sotto_status ntxent_set_team(struct ntxent *w, const struct sotto_team *team);
/** z (2N, D): rows 0..N-1 first views, N..2N-1 second views, NOT normalised (done inside, eps 1e-12); diff_z
 * same shape. accuracy (may be NULL): share of rows and columns with the positive as arg-max. Returns mean
 * loss. */
double ntxent_run(struct ntxent *w, float *diff_z, double *accuracy, const float *z, float temperature);

/* ---- optimizers ---- */
struct nn_optimizer;
struct nn_optimizer_config {
    const char *name; /* "adam" or "sgd" */
    double beta1, beta2, epsilon, momentum, weight_decay;
    int nesterov;
    /* NULL: alone. Else each rank keeps the state of its segment of the tensors (par/tree_ranks.h), a step moves that by the
     * gradient there, and ranks, which do it together, get all values; where the transport fails, the next agreement says so */
    const struct sotto_team *team;
};
sotto_status nn_optimizer_create(struct nn_optimizer **out, const struct nn_model *m,
                                 const struct nn_optimizer_config *c);
void nn_optimizer_free(struct nn_optimizer *o);
void nn_optimizer_step(struct nn_optimizer *o, struct nn_model *m, double lr);
/** Of this process's state. */
size_t nn_optimizer_bytes(const struct nn_optimizer *o);
/** Back to its first state: moments 0, no step taken. */
void nn_optimizer_restart(struct nn_optimizer *o);
/** Checkpointing: moments and step count, bit for bit. On ranks rank 0 does either: it exports between gather and drop, or before
 * the first step, and shares what it has imported. */
sotto_status nn_optimizer_export(struct sotto_tensors *out, const struct nn_optimizer *o, const char *prefix);
sotto_status nn_optimizer_import(struct nn_optimizer *o, const struct sotto_tensors *in, const char *prefix);
/** The state of rank 0's, on all ranks of a team, each of which takes its segment if it keeps no more; errors of its transport.
 * NULL: nothing. */
sotto_status nn_optimizer_share(struct nn_optimizer *o, const struct sotto_team *team);
/** The state of all ranks' segments, on rank 0. Ranks, which have just agreed, do it together. ENOMEM; errors of the transport.
 * Alone, and where each rank keeps all: nothing. */
sotto_status nn_optimizer_gather(struct nn_optimizer *o);
/** Gives its memory back. */
void nn_optimizer_drop(struct nn_optimizer *o);

struct schedule {
    enum { SCHEDULE_CONSTANT, SCHEDULE_STEP, SCHEDULE_COSINE } kind; /* cosine: with linear warm-up */
    double lr, factor;
    uint64_t warmup_steps, total_steps, milestones[8];
    size_t milestone_count;
};
double schedule_at(const struct schedule *s, uint64_t step);

/* ---- a small matrix product for heads and losses: C = alpha op(A) op(B) + beta C, row-major, f32 ---- */
void nn_sgemm(const struct nn_backend *b, int trans_a, int trans_b, size_t m, size_t n, size_t k, float alpha,
              const float *A, size_t lda, const float *B, size_t ldb, float beta, float *C, size_t ldc);

#endif

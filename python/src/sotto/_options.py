"""Types of keyword arguments that stand in option tables of the library. Made by build_options.py; not for editing."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, TypedDict


class AuditOptions(TypedDict, total=False):
    """Of audit()."""

    # probabilities of the members, instead of logits (n, classes)
    member_probabilities: Any
    # probabilities of the non-members, instead of logits (m, classes)
    nonmember_probabilities: Any
    # true classes of the members, from 0 (n)
    member_labels: Any
    # true classes of the non-members, from 0 (m)
    nonmember_labels: Any
    # losses of the members, nats (n)
    member_losses: Any
    # losses of the non-members, nats (m)
    nonmember_losses: Any
    # scores, higher = more member-like (n)
    scores: Any
    # 1 for members, 0 for non-members, one for each score (n)
    membership: Any
    # ln(p/(1-p)) of the members' true class under reference models (n, models)
    member_reference: Any
    # ln(p/(1-p)) of the non-members' true class under reference models (m, models)
    nonmember_reference: Any
    # losses of the members under reference models, nats (n, models), instead of member_reference
    member_reference_losses: Any
    # losses of the non-members under reference models, nats (m, models), instead of nonmember_reference
    nonmember_reference_losses: Any
    # 1 where a reference model was trained on the member (n, models);  omit for offline attacks
    member_trained: Any
    # 1 where a reference model was trained on the non-member (m, models);  omit for offline attacks
    nonmember_trained: Any
    # logits of reference models (models, n + m, classes), members first, instead of member_reference and nonmember_reference
    ref_logits: Any
    # probabilities of reference models, instead of logits (models, n + m, classes), members first
    ref_probabilities: Any
    # 1 where a reference model was trained on the record (models, n + m);  omit for offline attacks
    ref_membership: Any
    # logits of a shadow model, training data of the attack network (s, classes)
    shadow_logits: Any
    # probabilities of the shadow model, instead of logits (s, classes)
    shadow_probabilities: Any
    # true classes of the shadow model's records, from 0 (s)
    shadow_labels: Any
    # 1 for records that the shadow model was trained on (s)
    shadow_trained: Any
    # logits of the target on the population (z, classes)
    population_logits: Any
    # probabilities of the target on the population, instead of logits (z, classes)
    population_probabilities: Any
    # true classes of the population, from 0 (z)
    population_labels: Any
    # losses of the target on the population, nats (z), instead of logits
    population_losses: Any
    # population counterpart of member_reference or member_reference_losses (z, models), for RMIA
    population_reference: Any
    # logits of the target on views of the members (n, views, classes)
    member_views: Any
    # logits of the target on views of the non-members (m, views, classes)
    nonmember_views: Any
    # logits of the reference models on the same views (models, n + m, views, classes), members first
    ref_views: Any
    # logits of the target on views of the population (z, views, classes), for RMIA
    population_views: Any
    # logits of the reference models on the same views (models, z, views, classes)
    population_ref_views: Any
    # features of the members (n, ...)
    member_features: Any
    # features of the non-members (m, ...)
    nonmember_features: Any
    # features of the population (z, ...)
    population_features: Any
    # released mean of features, to test for membership in it (width), or the people behind it (people, width)
    released_mean: Any
    # mean of the population's features (width), or the people behind it (people, width), none of whom may be a non-member
    reference_mean: Any
    # samples of the generator (k, ...)
    generated: Any
    # samples of a generator trained by the same recipe on other records (r, ...), for gan-leaks-calibrated
    reference_generated: Any
    # records of the attacker's own that principal components are taken from (a, ...) (default: the samples)
    attacker_features: Any
    # logits of the model's discriminator for the members (n)
    member_discriminator_scores: Any
    # logits of the model's discriminator for the non-members (m)
    nonmember_discriminator_scores: Any
    # attacker's view of each record: features, embeddings or model outputs (n, ...)
    features: Any
    # hidden attribute of each record, from 0 (n)
    attribute: Any
    # task label of each record, for the label-only baseline (n)
    attribute_labels: Any
    # model outputs, for the baseline from output and label (n, ...)
    attribute_outputs: Any
    # features known without the model, for the imputation baseline (n, ...)
    attribute_known: Any
    # test set for the attack;  features is then all training data (t, ...) (default: random 50/50 split)
    attribute_test_features: Any
    # hidden attribute of each record of the test set (t)
    attribute_test: Any
    # task label of each record of the test set (t)
    attribute_test_labels: Any
    # maximum depth of the attack networks: depths 3 to N are reported, N from 3 to 6 (default: depth 3 only)
    attribute_depth: int | None
    # attack to run (repeatable;  default: all attacks that the inputs allow)
    attack: str | Sequence[str] | None
    # parameter of an attack, such as lira.monotone=1 (repeatable)
    set: str | Sequence[str] | None
    # false-positive rates to report, fractions (default 0.01,0.001; (0,1))
    fpr: float | Sequence[float] | None
    # confidence of every interval, a fraction (default 0.95; (0,1))
    confidence: float | None
    # delta of the lower bound on epsilon (default 0; [0,1))
    delta: float | None
    # seed of the split into calibration and evaluation halves, and of all draws (default 0)
    seed: int | None
    # bootstrap draws for the interval of the TPR at a fixed FPR (default 2000; [100,1000000])
    bootstrap: int | None
    # guesses on each side for the one-run bound on epsilon, which needs membership by independent fair coins;  0: no bound
    # (default 0)
    one_run: int | None
    # size of the inserted group, where each score is of a training run with or without that group of records;  0: scores of
    # single records (default 0)
    group_size: int | None
    # exact interval of the odds ratio (logistic noise) (default 0)
    odds_ratio: bool | None
    # number of most vulnerable members to list (default 0)
    most_vulnerable: int | None
    # memorisation of single records by the reference models (8 or more on each side);  with output, all values in
    # memorisation.npy, members first (default 0)
    memorisation: bool | None
    # row numbers of the most vulnerable members in the report;  of a generative model of images also pictures of the members
    # nearest to a sample (default 0)
    include_indices: bool | None


class AttackOptions(TypedDict, total=False):
    """Of attack()."""

    # answers averaged for each record, for models with noise (target and shadow models) (default 1; [1,inf))
    repeats: int | None
    # last dense and convolution layers that white-box and stolen-memories-layers read (default 3; [1,16])
    layers: int | None
    # records that stolen-memories-layers is surest of to explain: the unit that remembers each, with pictures of the record in
    # the report (default 0; [0,100])
    explain: int | None
    # views of each image in lira and rmia, online and offline: 1, 2 (and mirrored) or 18 (and shifted by 2 pixels) (default 1;
    # [1,18])
    views: int | None
    # queries for one record in label-only attacks (default: depends on the attack)
    queries: int | None
    # number of shadow models (default: depends on the attack)
    shadows: int | None
    # training records of a shadow model (default: half of the attacker's;  lira, rmia: always half of all)
    shadow_records: int | None
    # disjoint training sets for the shadow models (default: independent draws) (default 0)
    disjoint: bool | None
    # source of the shadow models' records: real, synthesis, marginals, class-marginals or noisy (default real; real | synthesis |
    # marginals | class-marginals | noisy)
    shadow_data: Literal['real', 'synthesis', 'marginals', 'class-marginals', 'noisy'] | None
    # number of synthetic records (synthesis, marginals, class-marginals) (default 10000)
    synthetic_records: int | None
    # share of features redrawn in each record, in [0, 1] (noisy) (default 0.1; [0,1])
    flip: float | None
    # permission for shadow models trained differently from the target (default 0)
    mismatch: bool | None
    # shadow networks without the target's residual perturbation (an attacker unaware of it) (default 0)
    plain_shadows: bool | None
    # lira, rmia: shadow models with the target's own seed, the worst case (default: independent seeds) (default 0)
    known_start: bool | None
    # lira, rmia: copies of each record to judge, with a wrong label, that the attacker put into the training of target and shadow
    # models: the worst neighbours (default: 0;  'sotto attack poison' makes the target's set) (default 0; [0,1000])
    poison: int | None
    # folder in which shadow models are kept and reused
    cache: str | PathLike[str] | None
    # records asked about in a random order, not members first;  how much an attack gets before an alarm ends the answers then
    # does not depend on the order of the files (default 0)
    shuffle: bool | None
    # seed of shadow models, attack networks, random splits and disguises (default 1)
    seed: int | None
    # false-positive rates to report, fractions (default 0.01,0.001; (0,1))
    fpr: float | Sequence[float] | None
    # confidence of every interval, a fraction (default 0.95; (0,1))
    confidence: float | None
    # delta of the lower bound on epsilon (default 0; [0,1))
    delta: float | None
    shard: tuple[int, int] | None


class EncoderAttackOptions(TypedDict, total=False):
    """Of attack_encoder()."""

    # rows that pre-trained the encoder
    member_indices: Any
    # rows that did not pre-train the encoder
    nonmember_indices: Any
    # rows that pre-trained the shadow encoder
    shadow_member_indices: Any
    # rows that did not pre-train the shadow encoder
    shadow_nonmember_indices: Any
    # rows in neither training set, used as negatives;  without them the contrastive-loss attack is skipped
    bank_indices: Any
    # embeddings of random views of the members by any encoder (n, views, d), instead of encoders and rows;  so are the next nine
    member_views: Any
    # those of the non-members (m, views, d)
    nonmember_views: Any
    # those of the shadow encoder's members, by the shadow encoder (s, views, e)
    shadow_member_views: Any
    # those of its non-members (t, views, e)
    shadow_nonmember_views: Any
    # embeddings of the members as they are (n, d)
    member_plain: Any
    # those of the non-members (m, d)
    nonmember_plain: Any
    # those of the shadow encoder's members (s, e)
    shadow_member_plain: Any
    # those of its non-members (t, e)
    shadow_nonmember_plain: Any
    # embeddings of records in neither training set, by the encoder (b, d)
    bank_plain: Any
    # the same records, by the shadow encoder (b, e)
    shadow_bank_plain: Any
    # temperature of the contrastive loss (default 0.1; (0,inf))
    temperature: float | None
    # false-positive rates to report, fractions (default 0.01,0.001; (0,1))
    fpr: float | Sequence[float] | None
    # confidence of every interval, a fraction (default 0.95; (0,1))
    confidence: float | None
    # delta of the lower bound on epsilon (default 0; [0,1))
    delta: float | None
    # seed of the split into calibration and evaluation halves, and of all draws (default 0)
    seed: int | None


class PretrainOptions(TypedDict, total=False):
    """Of pretrain()."""

    # objective: simclr, or rotation (predict quarter turns) (default simclr; simclr | rotation)
    method: Literal['simclr', 'rotation'] | None
    # network: keras-simclr, resnet8, resnet18, resnet50 or mobilenetv2;  for 64 pixels and more resnet18-imagenet,
    # resnet50-imagenet or mobilenetv2-imagenet (default keras-simclr)
    encoder: str | PathLike[str] | None
    # passes over the images (default 10; [1,1000000])
    epochs: int | None
    # images per step, two views each;  the last, incomplete batch of an epoch is dropped (default 256; [1,1048576])
    batch: int | None
    # learning rate of Adam (default 0.001; (0,1000])
    lr: float | None
    # learning-rate schedule: constant, or cosine to 0 after a warm-up of 5 % (default constant; constant | cosine)
    schedule: Literal['constant', 'cosine'] | None
    # temperature of the contrastive loss (default 0.1; (0,inf))
    temperature: float | None
    # negatives of simclr: keras (other view only) or simclr (all 2N - 2) (default keras; keras | simclr)
    loss: Literal['keras', 'simclr'] | None
    # seed of initial weights, order and augmentation (default 0; [0,9223372036854775807])
    seed: int | None
    # augmentation recipe: keras (shift, zoom, brightness, mixed colours) or simclr (crop, colour jitter, grey, blur) (default
    # keras; keras | simclr)
    augmentation: Literal['keras', 'simclr'] | None
    # smallest share of the image that a view shows, in (0, 1] (default 0.25; (0,1])
    min_area: float | None
    # strength of brightness changes, a factor of 1 +- B, in [0, 1];  simclr: also of contrast and saturation (default 0.6; [0,1])
    brightness: float | None
    # strength of colour changes, in [0, 1]: channels mixed by +- J;  simclr: hue rotated by up to J turns (default 0.2; [0,1])
    jitter: float | None
    # vertical flips of half of the views (simclr) (default 0)
    vertical_flip: bool | None
    # share of views without colour (simclr) (default 0.2; [0,1])
    grey: float | None
    # share of blurred views (simclr) (default 0.5; [0,1])
    blur: float | None
    # arithmetic: f32, bf16 or auto (the fastest measured on this machine;  use f32 with backend dnnl for results that do not
    # depend on measured times) (default auto; auto | f32 | bf16)
    dtype: Literal['auto', 'f32', 'bf16'] | None
    # kernels: dnnl (oneDNN), winograd (oneDNN with minimal filtering of 3x3 kernels), ref (readable kernels) or auto (measured
    # with the dtype;  another choice than f32 on dnnl must be 10 % faster) (default auto; auto | winograd | dnnl | ref)
    backend: Literal['auto', 'winograd', 'dnnl', 'ref'] | None
    # state of an interrupted run to continue (default: OUTPUT.checkpoint;  removed at the end)
    checkpoint: str | PathLike[str] | None
    # metrics.jsonl to append to, one line per epoch
    metrics: str | PathLike[str] | None


class ScatteringOptions(TypedDict, total=False):
    """Of scatter()."""

    # number of channel groups, each normalised within an image (81 channels, 243 in colour);  0: none (default 27)
    groups: int | None
    # averaging of the features over G x G cells;  0: none, every fourth pixel (default 0)
    grid: int | None
    # left half of the mean over the image and its mirror image (default 0)
    mirror: bool | None


class ViewOptions(TypedDict, total=False):
    """Of Encoder.embed_views()."""

    # views of each image (default 10; [1,256])
    views: int | None
    # recipe: keras or simclr
    augmentation: str | PathLike[str] | None
    # smallest share of the image that a view shows (default auto; (0,1])
    min_area: float | None
    # strength of the brightness factor 1 +- B (default auto; [0,1])
    brightness: float | None
    # strength of the colour change (default auto; [0,1])
    jitter: float | None
    # vertical mirroring of half of the views (simclr) (default 0)
    vertical_flip: bool | None
    # share of views without colour (simclr) (default auto; [0,1])
    grey: float | None
    # share of blurred views (simclr) (default auto; [0,1])
    blur: float | None
    # seed of the views (default 0; [0,9223372036854775807])
    seed: int | None


class ImportOptions(TypedDict, total=False):
    """Of Encoder.from_weights()."""

    # normalisation of pixels in [0, 1] that the network was trained with: imagenet, none, or means and deviations of red, green
    # and blue, such as 0.5,0.5,0.5/0.25,0.25,0.25 (default imagenet)
    normalise: str | PathLike[str] | None
    height: int | None
    width: int | None


class ShadowOptions(TypedDict, total=False):
    """Of sotto_shadow_option_table()."""

    # whole networks as shadow models: cnn, mlp, resnet8, ... (default of model to lr: as in the target)
    model: str | PathLike[str] | None
    # heads as shadow models, with this trainer: adam, sgd, convex, ...
    trainer: str | PathLike[str] | None
    # widths of the hidden ReLU layers, such as 128;  0: none (networks: their default widths) ([0,inf))
    hidden: int | Sequence[int] | None
    # passes over the records (default auto; [1,inf))
    epochs: int | None
    # records per step (default auto; [1,inf))
    batch: int | None
    # learning rate (default auto; (0,1000])
    lr: float | None
    # pre-trained encoder that shadow networks start from;  needed where the target was fine-tuned from it
    from_: str | PathLike[str] | None
    # public embeddings by that encoder, as the target was trained with
    standardise: str | PathLike[str] | None


class TalosOptions(TypedDict, total=False):
    """Of sotto_talos_option_table()."""

    # weight of the classifier's loss, which is subtracted from the encoder's loss, >= 0 (default 0; [0,inf))
    lambda_: float | None
    # attribute of each row of the set, whole numbers (default: the one stored with the set)
    attribute: Any
    # bounded adversarial loss: a record stops counting once the classifier does no better on it than the attribute's frequencies
    # (default: unbounded, as published;  diverges for large lambda) (default 0)
    bounded: bool | None
    # order of updates: odd-even (odd epochs train the classifier, even epochs the encoder), two-pass (both in every epoch) or
    # joint (both in every step) (default odd-even; odd-even | two-pass | joint)
    alternation: Literal['odd-even', 'two-pass', 'joint'] | None
    # classifier steps on each batch (default 1; [1,1000])
    adversary_steps: int | None
    # input of the classifier: views, images (not augmented;  1.5 times the work) or views-of-three (views, in batches that also
    # hold the images) (default views; views | images | views-of-three)
    adversary_reads: Literal['views', 'images', 'views-of-three'] | None
    # ReLU on the classifier's logits, as in the authors' code (default 0)
    relu_logits: bool | None


class HeadOptions(TypedDict, total=False):
    """Of sotto_head_recipe_options()."""

    # trainer: adam or sgd;  with proved sensitivity: convex, convex-sgd or convex-lbfgs;  only in 'sotto head', with noise in
    # every step: dp-sgd, dp-adam or dp-gd (linear, needs no tuning);  only in 'sotto head', from one noisy release of second
    # moments: covariance, functional, functional-linear or taylor (default adam)
    trainer: str | PathLike[str] | None
    # widths of the hidden ReLU layers, such as 512 or 512,128 (default: none, linear head) ([1,1048576])
    hidden: int | Sequence[int] | None
    # passes over the records (default 20; [1,4294967295])
    epochs: int | None
    # records per step (default 25; [1,inf))
    batch: int | None
    # learning rate (default 0.001; (0,1000])
    lr: float | None
    # seed of initial weights, batch order and sampled pairs (default 1; [0,9223372036854775807])
    seed: int | None
    # standard deviation of noise on every number of a record, new in every step (adam, sgd;  for 'predict smooth SIGMA';  no
    # privacy noise) (default 0; [0,1e6])
    augment_noise: float | None
    # L2 norm to which records are clipped (convex, covariance, functional, dp-gd);  taylor: features are clipped to [0, R]
    # (default 1; [1e-6,1e6])
    clip: float | None
    # constant input of the bias, in units of the features (convex);  in units of clip (moments) (default 1; [0,1e6])
    bias_constant: float | None
    # L2 regularisation: factor of half the squared norm of the weights (convex);  ridge of covariance and functional (chosen from
    # the noise unless given) (default 0.01; [0,1e9])
    lambda_: float | None
    # number of full-batch gradient steps (convex, dp-gd) (default 500; [1,4294967295])
    steps: int | None
    # step size (convex, convex-sgd, dp-gd);  0: the largest that the proof allows;  dp-gd: by a public rule (default 0; [0,inf))
    step_size: float | None
    # gradient norm at which convex-lbfgs stops, in units of Lipschitz constant / number of records (default 0.01; [1e-9,1])
    tolerance: float | None
    # weight of the class sums relative to the feature products (covariance) (default 1; [0.001,1000])
    cross_weight: float | None
    # noise: gaussian or logistic;  trainers on second moments: also laplace (default of taylor) (default gaussian)
    noise: str | PathLike[str] | None
    # noise scale / clipping norm, instead of epsilon ((0,inf))
    noise_multiplier: float | None
    # L2 norm to which the gradient of each record is clipped (default 1; [1e-6,1e6])
    max_grad_norm: float | None
    # momentum of the noisy gradient (dp-sgd) (default 0; [0,1))
    momentum: float | None


class NetworkOptions(TypedDict, total=False):
    """Of sotto_train_option_table()."""

    # image shape of the rows of a table, such as 3,32,32
    image: Any
    # network: cnn, deep-sets, keras-simclr, mlp, resnet8, resnet18, resnet20, resnet50, mobilenetv2, tanh-cnn or tanh-small;  for
    # 64 pixels and more resnet18-imagenet, resnet50-imagenet or mobilenetv2-imagenet (default cnn)
    model: str | PathLike[str] | None
    # layer widths: ReLU layers (mlp);  convolutions, then the dense layer (cnn, default 32,64,128);  pairs of convolutions, then
    # the dense layer (tanh-cnn, default 32,64,128,128)
    hidden: int | Sequence[int] | None
    # normalisation layers of the resnets: batch or group (default batch)
    norm: str | PathLike[str] | None
    # pre-trained encoder, or a network of 'sotto train', to start from;  it gets a new last layer, which begins at 0
    from_: str | PathLike[str] | None
    # what stays as it is: none, norm (batch norm;  default), a number N (batch norm and the first N blocks of the encoder) or all
    # (the whole encoder)
    freeze: str | PathLike[str] | None
    # number of first steps that train the last layer alone (default 0; [0,inf))
    warm_up: int | None
    # embeddings of PUBLIC images by that encoder ('sotto embed');  their column means and deviations standardise what the new
    # last layer reads, as a fixed part of the network
    standardise: str | PathLike[str] | None
    # optimizer: adam or sgd (default adam)
    optimizer: str | PathLike[str] | None
    # learning rate (default 0.001; (0,1000])
    lr: float | None
    # momentum of sgd, in [0, 1) (default 0; [0,1))
    momentum: float | None
    # L2 weight decay, added to the gradient (default 0; [0,inf))
    weight_decay: float | None
    # learning-rate schedule: constant;  step (a tenth after half, a hundredth after three quarters of the steps);  cosine to 0
    # after a warm-up of 5 % (default constant)
    schedule: str | PathLike[str] | None
    # passes over the records (default 20; [1,1000000])
    epochs: int | None
    # records per step;  the last, incomplete batch of an epoch is dropped (default 64; [1,1048576])
    batch: int | None
    # random horizontal flips of images (default 0)
    flip: bool | None
    # maximum random shift of images in each direction, pixels (default 0; [0,256])
    crop: int | None
    # standard deviation of noise on every number of an input, new in every step (for 'predict smooth SIGMA';  no privacy noise)
    # (default 0; [0,1e6])
    augment_noise: float | None
    # seed of initial weights, order and augmentation (default 1; [0,9223372036854775807])
    seed: int | None
    # arithmetic: f32, bf16 or auto (the fastest measured on this machine;  use f32 with backend dnnl for results that do not
    # depend on measured times) (default auto)
    dtype: str | PathLike[str] | None
    # kernels: dnnl (oneDNN), winograd (oneDNN with minimal filtering of 3x3 kernels), ref (readable kernels) or auto (measured
    # with the dtype;  another choice than f32 on dnnl must be 10 % faster) (default auto)
    backend: str | PathLike[str] | None
    # state of an interrupted run to continue (default: OUTPUT.checkpoint;  removed at the end)
    checkpoint: str | PathLike[str] | None
    # metrics.jsonl to append to, one line per epoch
    metrics: str | PathLike[str] | None
    # noise in every residual block, in training and in answers: additive or multiplicative (default: none)
    residual_perturbation: str | PathLike[str] | None
    # standard deviation of the noise in every block (default 0)
    gamma: float | None
    # gamma in units of the standard deviation of the block's output over the batch (additive) (default 0)
    relative: bool | None
    # lower limit of the absolute activations that scale multiplicative noise (default 0)
    floor: float | None
    # standard deviation of the noise on inputs, in training and in answers (default: half of gamma for additive noise without
    # relative and certify_inputs, otherwise 0)
    input_noise: float | None
    # L2 norm to which inputs are clipped;  0: no clipping (default 0)
    radius: float | None
    # network without skip connections (default 0)
    no_skip: bool | None
    # number of networks in the ensemble, averaged in answers (default 1; [1,inf))
    ensemble: int | None
    # independent input noise for each network of the ensemble (default 0)
    separate_inputs: bool | None
    # average over the ensemble, in loss and answers: of logits or of softmax (default logits; logits | softmax)
    average: Literal['logits', 'softmax'] | None
    # training of the ensemble: joint (one loss on the average) or independent (each network on its own loss) (default joint;
    # joint | independent)
    members: Literal['joint', 'independent'] | None

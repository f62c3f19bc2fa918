"""Types of keyword arguments that stand in option tables of the library. Made by build_options.py; not for editing."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, TypedDict


class AuditOptions(TypedDict, total=False):
    """Of audit()."""

    member_probabilities: Any
    nonmember_probabilities: Any
    member_labels: Any
    nonmember_labels: Any
    member_losses: Any
    nonmember_losses: Any
    scores: Any
    membership: Any
    member_reference: Any
    nonmember_reference: Any
    member_reference_losses: Any
    nonmember_reference_losses: Any
    member_trained: Any
    nonmember_trained: Any
    ref_logits: Any
    ref_probabilities: Any
    ref_membership: Any
    shadow_logits: Any
    shadow_probabilities: Any
    shadow_labels: Any
    shadow_trained: Any
    population_logits: Any
    population_probabilities: Any
    population_labels: Any
    population_losses: Any
    population_reference: Any
    member_views: Any
    nonmember_views: Any
    ref_views: Any
    population_views: Any
    population_ref_views: Any
    member_dates: Any
    nonmember_dates: Any
    member_features: Any
    nonmember_features: Any
    population_features: Any
    released_mean: Any
    reference_mean: Any
    generated: Any
    reference_generated: Any
    attacker_features: Any
    member_discriminator_scores: Any
    nonmember_discriminator_scores: Any
    token_logprobs: Any
    token_lengths: Any
    token_mean: Any
    token_deviation: Any
    reference_token_logprobs: Any
    lowercase_token_logprobs: Any
    compressed_bytes: Any
    neighbour_losses: Any
    features: Any
    attribute: Any
    attribute_labels: Any
    attribute_outputs: Any
    attribute_known: Any
    attribute_test_features: Any
    attribute_test: Any
    attribute_test_labels: Any
    attribute_depth: int | None
    attack: str | Sequence[str] | None
    set: str | Sequence[str] | None
    fpr: float | Sequence[float] | None
    confidence: float | None
    delta: float | None
    seed: int | None
    bootstrap: int | None
    one_run: int | None
    group_size: int | None
    odds_ratio: bool | None
    most_vulnerable: int | None
    memorisation: bool | None
    include_indices: bool | None


class CanaryAuditOptions(TypedDict, total=False):
    """Of the options audit:set|fpr|confidence|delta|seed|bootstrap."""

    set: str | Sequence[str] | None
    fpr: float | Sequence[float] | None
    confidence: float | None
    delta: float | None
    seed: int | None
    bootstrap: int | None


class AttackOptions(TypedDict, total=False):
    """Of attack()."""

    repeats: int | None
    snapshots: str | PathLike[str] | None
    layers: int | None
    explain: int | None
    views: int | None
    queries: int | None
    shadows: int | None
    shadow_records: int | None
    disjoint: bool | None
    shadow_data: Literal['real', 'synthesis', 'marginals', 'class-marginals', 'noisy'] | None
    synthetic_records: int | None
    flip: float | None
    mismatch: bool | None
    plain_shadows: bool | None
    known_start: bool | None
    poison: int | None
    cache: str | PathLike[str] | None
    worker: bool | None
    plan: bool | None
    shuffle: bool | None
    seed: int | None
    fpr: float | Sequence[float] | None
    confidence: float | None
    delta: float | None
    shard: tuple[int, int] | None


class EncoderAttackOptions(TypedDict, total=False):
    """Of attack_encoder()."""

    member_indices: Any
    nonmember_indices: Any
    shadow_member_indices: Any
    shadow_nonmember_indices: Any
    bank_indices: Any
    member_views: Any
    nonmember_views: Any
    shadow_member_views: Any
    shadow_nonmember_views: Any
    member_plain: Any
    nonmember_plain: Any
    shadow_member_plain: Any
    shadow_nonmember_plain: Any
    bank_plain: Any
    shadow_bank_plain: Any
    temperature: float | None
    fpr: float | Sequence[float] | None
    confidence: float | None
    delta: float | None
    seed: int | None


class PretrainOptions(TypedDict, total=False):
    """Of pretrain()."""

    method: Literal['simclr', 'rotation'] | None
    encoder: str | PathLike[str] | None
    epochs: int | None
    batch: int | None
    lr: float | None
    schedule: Literal['constant', 'cosine'] | None
    temperature: float | None
    loss: Literal['keras', 'simclr'] | None
    seed: int | None
    augmentation: Literal['keras', 'simclr'] | None
    min_area: float | None
    brightness: float | None
    jitter: float | None
    vertical_flip: bool | None
    grey: float | None
    blur: float | None
    dtype: Literal['auto', 'f32', 'bf16'] | None
    backend: Literal['auto', 'winograd', 'dnnl', 'ref'] | None
    order: Literal['auto', 'exact', 'fast'] | None
    leaf: int | None
    norm_scope: Literal['batch', 'leaf'] | None
    checkpoint: str | PathLike[str] | None
    metrics: str | PathLike[str] | None


class ScatteringOptions(TypedDict, total=False):
    """Of scatter()."""

    groups: int | None
    grid: int | None
    mirror: bool | None


class ViewOptions(TypedDict, total=False):
    """Of Encoder.embed_views()."""

    views: int | None
    augmentation: str | PathLike[str] | None
    min_area: float | None
    brightness: float | None
    jitter: float | None
    vertical_flip: bool | None
    grey: float | None
    blur: float | None
    seed: int | None


class ImportOptions(TypedDict, total=False):
    """Of Encoder.from_weights()."""

    normalise: str | PathLike[str] | None
    height: int | None
    width: int | None


class ShadowOptions(TypedDict, total=False):
    """Of the options shadow."""

    model: str | PathLike[str] | None
    trainer: str | PathLike[str] | None
    hidden: int | Sequence[int] | None
    epochs: int | None
    batch: int | None
    lr: float | None
    from_: str | PathLike[str] | None
    standardise: str | PathLike[str] | None


class HeadOptions(TypedDict, total=False):
    """Of train_head()."""

    trainer: str | PathLike[str] | None
    hidden: int | Sequence[int] | None
    epochs: int | None
    batch: int | None
    lr: float | None
    balance: int | Sequence[int] | None
    seed: int | None
    augment_noise: float | None
    clip: float | None
    bias_constant: float | None
    lambda_: float | None
    steps: int | None
    step_size: float | None
    tolerance: float | None
    cross_weight: float | None
    noise: str | PathLike[str] | None
    noise_multiplier: float | None
    max_grad_norm: float | None
    momentum: float | None
    ema: float | None
    rows_per_step: int | None
    epsilon: float | None
    max_tpr: tuple[float, float] | str | None
    max_advantage: float | None
    delta: float | None
    adjacency: Literal['replace-one', 'add-remove', 'zero-out'] | None
    sampling: Literal['poisson', 'fixed'] | None
    unit: Literal['auto', 'record', 'person'] | None
    purpose: str | PathLike[str] | None
    read_from_data: str | Sequence[str] | None
    planned: str | PathLike[str] | None
    insecure_seed: int | None
    canaries: int | None
    canary_kind: Literal['mislabelled', 'random', 'dirac', 'clipbkd', 'in-distribution'] | None
    canary_public: Any


class RecipeOptions(TypedDict, total=False):
    """Of sample_sensitivity()."""

    trainer: str | PathLike[str] | None
    hidden: int | Sequence[int] | None
    epochs: int | None
    batch: int | None
    lr: float | None
    balance: int | Sequence[int] | None
    seed: int | None
    augment_noise: float | None
    clip: float | None
    bias_constant: float | None
    lambda_: float | None
    steps: int | None
    step_size: float | None
    tolerance: float | None
    cross_weight: float | None
    noise: str | PathLike[str] | None
    noise_multiplier: float | None
    max_grad_norm: float | None
    momentum: float | None
    ema: float | None
    rows_per_step: int | None


class NetworkOptions(TypedDict, total=False):
    """Of train_network()."""

    model: str | PathLike[str] | None
    hidden: int | Sequence[int] | None
    norm: str | PathLike[str] | None
    from_: str | PathLike[str] | None
    freeze: str | PathLike[str] | None
    warm_up: int | None
    standardise: str | PathLike[str] | None
    optimizer: str | PathLike[str] | None
    lr: float | None
    momentum: float | None
    weight_decay: float | None
    schedule: str | PathLike[str] | None
    epochs: int | None
    batch: int | None
    flip: bool | None
    crop: int | None
    augment_noise: float | None
    seed: int | None
    dtype: str | PathLike[str] | None
    backend: str | PathLike[str] | None
    order: Literal['auto', 'exact', 'fast'] | None
    leaf: int | None
    norm_scope: Literal['batch', 'leaf'] | None
    checkpoint: str | PathLike[str] | None
    metrics: str | PathLike[str] | None
    snapshot_every: int | None
    snapshots: str | PathLike[str] | None
    residual_perturbation: str | PathLike[str] | None
    gamma: float | None
    relative: bool | None
    floor: float | None
    input_noise: float | None
    radius: float | None
    no_skip: bool | None
    ensemble: int | None
    separate_inputs: bool | None
    average: Literal['logits', 'softmax'] | None
    members: Literal['joint', 'independent'] | None
    noise: str | PathLike[str] | None
    noise_multiplier: float | None
    max_grad_norm: float | None
    clipping: str | PathLike[str] | None
    quantile: float | None
    views: int | None
    steps: int | None
    ema: float | None
    micro_batch: int | None
    adjacency: Literal['replace-one', 'add-remove', 'zero-out'] | None
    sampling: Literal['poisson', 'fixed'] | None
    unit: Literal['auto', 'record', 'person'] | None
    rows_per_step: int | None
    epsilon: float | None
    max_tpr: tuple[float, float] | str | None
    max_advantage: float | None
    delta: float | None
    label_epsilon: float | None
    encoder_by: str | PathLike[str] | None
    reserve_steps: int | None
    purpose: str | PathLike[str] | None
    read_from_data: str | Sequence[str] | None
    planned: str | PathLike[str] | None
    insecure_seed: int | None
    canaries: int | None
    canary_kind: Literal['mislabelled', 'random', 'dirac', 'clipbkd', 'in-distribution'] | None
    canary_public: Any


class AnswerOptions(TypedDict, total=False):
    """Of Classifier.predict()."""

    repeats: int | None
    average: Literal['logits', 'softmax'] | None
    seed: int | None


class ReleaseOptions(TypedDict, total=False):
    """Of release()."""

    records: int | None
    scale: float | None
    epsilon: float | None
    max_tpr: tuple[float, float] | str | None
    max_advantage: float | None
    delta: float | None
    flat_doubt: bool | None
    value_step: float | None
    l1: float | None
    l2: float | None
    purpose: str | PathLike[str] | None
    read_from_data: str | Sequence[str] | None
    planned: str | PathLike[str] | None
    insecure_seed: int | None


class ChoiceOptions(TypedDict, total=False):
    """Of the options release:records|scale|epsilon|max_tpr|max_advantage|delta and spend."""

    records: int | None
    scale: float | None
    epsilon: float | None
    max_tpr: tuple[float, float] | str | None
    max_advantage: float | None
    delta: float | None
    purpose: str | PathLike[str] | None
    read_from_data: str | Sequence[str] | None
    planned: str | PathLike[str] | None
    insecure_seed: int | None


class ProtectOptions(TypedDict, total=False):
    """Of protect_head()."""

    records: int | None
    scale: float | None
    epsilon: float | None
    max_tpr: tuple[float, float] | str | None
    max_advantage: float | None
    delta: float | None
    flat_doubt: bool | None
    value_step: float | None
    l1: float | None
    l2: float | None
    purpose: str | PathLike[str] | None
    read_from_data: str | Sequence[str] | None
    planned: str | PathLike[str] | None
    insecure_seed: int | None


class StatisticOptions(TypedDict, total=False):
    """Of release_statistic()."""

    blocks: int | None
    choices: int | None
    labels_from: int | None
    classes: int | None
    scale: float | None
    epsilon: float | None
    max_tpr: tuple[float, float] | str | None
    max_advantage: float | None
    delta: float | None
    flat_doubt: bool | None
    value_step: float | None
    l1: float | None
    l2: float | None
    purpose: str | PathLike[str] | None
    read_from_data: str | Sequence[str] | None
    planned: str | PathLike[str] | None
    insecure_seed: int | None


class SpendOptions(TypedDict, total=False):
    """Of release_records()."""

    purpose: str | PathLike[str] | None
    read_from_data: str | Sequence[str] | None
    planned: str | PathLike[str] | None
    insecure_seed: int | None

"""sotto.opacus: Opacus with epsilons that are proved, and with the noise and the samples of the library.

`import sotto.opacus` registers the accountant "sotto" with Opacus: opacus.PrivacyEngine(accountant="sotto"). PrivacyEngine of this
module goes on where that cannot see: it samples, clips, sums and adds noise by the library, charges a ledger before the first step,
and makes a certificate. Needs torch and Opacus 1.6 (the accountant: any)."""

from __future__ import annotations

import math
import os
import tempfile
import warnings
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import opacus
import opacus.utils.batch_memory_manager
import torch
from opacus.accountants import IAccountant, register_accountant
from opacus.optimizers import DPOptimizer
from opacus.optimizers.optimizer import _check_processed_flag, _mark_as_processed
from opacus.utils.uniform_sampler import UniformWithReplacementSampler
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, Sampler, SequentialSampler

from . import account
from ._call import Array, c_text, fill, invalid, pointer, run, struct, text_of, whole
from ._opacus_canaries import Canaries
from ._certificate import Certificate
from ._head import persons_of
from ._ledger import Ledger, charge, spend_of, unknown_charge
from ._records import Interval
from ._sotto import ffi, lib
from .errors import PrivacyLeakWarning, make

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import SpendOptions

__all__ = ["Accountant", "BatchMemoryManager", "Canaries", "PrivacyEngine"]


# ---- accountant ------------------------------------------------------------------------------------------------------------
class Accountant(IAccountant):
    """An accountant of Opacus: opacus.PrivacyEngine(accountant="sotto"), get_noise_multiplier(accountant="sotto").

    Opacus tells an accountant noise multiplier and sampling rate of each step and nothing else. So its epsilons are proved for
    Gaussian noise on clipped sums if batches were Poisson-sampled at this rate; `statement` says so. PrivacyEngine of this module
    knows what was sampled."""

    history: list[tuple[float, float, int]]

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Any, Interval] = {}
        self.statement = ("epsilon of Gaussian noise on sums of clipped gradients, both ends proved, if batches were Poisson-sampled at "
                          "this rate; noise: torch (floating-point, from a seed), so of the ideal mechanism")

    @classmethod
    def mechanism(cls) -> str:
        """The name that Opacus knows it by."""
        return "sotto"

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Counts one step."""
        if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
            self.history[-1] = (noise_multiplier, sample_rate, self.history[-1][2] + 1)
        else:
            self.history.append((noise_multiplier, sample_rate, 1))

    def __len__(self) -> int:
        """As in the accountants of Opacus: stretches of equal steps, so 0 before the first step."""
        return len(self.history)

    def get_epsilon(self, delta: float, **_: Any) -> float:
        """Upper end of interval(delta): the guarantee."""
        return self.interval(delta).upper

    def interval(self, delta: float, *, adjacency: str = "add-remove") -> Interval:
        """Epsilon of all steps so far at `delta` in (0, 1); both ends are proved.

        adjacency: "add-remove", as Opacus counts; "zero-out", the same; "replace-one", one record replaced by another.

        >>> a = Accountant()
        >>> a.history = [(1.1, .01, 1000)]
        >>> a.get_epsilon(1e-5).__round__(4)
        1.5154
        """
        steps: Counter[tuple[float, float]] = Counter()
        for noise_multiplier, sample_rate, count in self.history:
            steps[float(noise_multiplier), float(sample_rate)] += count
        key = (frozenset(steps.items()), delta, adjacency)
        if key not in self._known:
            self._known[key] = _interval(steps, delta, adjacency)
        return self._known[key]


def _interval(steps: Counter[tuple[float, float]], delta: float, adjacency: str) -> Interval:
    target = _adjacency("add-remove" if adjacency == "zero-out" else adjacency)
    if not steps:
        return Interval(0.0, 0.0)
    if any(noise_multiplier == 0 for noise_multiplier, _ in steps):
        return Interval(math.inf, math.inf)
    name = c_text("gaussian")
    events = ffi.new("struct sotto_event[]", len(steps))
    for event, ((noise_multiplier, sample_rate), count) in zip(events, steps.items()):
        fill(event, mechanism=name, count=count, noise_multiplier=noise_multiplier, sample_rate=sample_rate, adjacency=lib.SOTTO_ADD_REMOVE)
    out = ffi.new("struct sotto_account *")
    run(lib.sotto_account_events, out, events, len(steps), delta, target)
    return Interval(out.epsilon.lower, out.epsilon.upper)


def _adjacency(name: str) -> int:
    out = ffi.new("enum sotto_adjacency *")
    run(lib.sotto_adjacency_find, out, c_text(name))
    return int(out[0])


register_accountant("sotto", Accountant, force=True)


# ---- one training ----------------------------------------------------------------------------------------------------------
class _Training:
    """What a training was charged for, and where it is: batches that were drawn and not yet stepped on, in order; step k takes the
    noise of batch k. Batches are drawn ahead for the workers of a loader; what an abandoned loop leaves is handed out again, so no
    batch is ever chosen."""

    def __init__(self, engine: PrivacyEngine, *, noise_multiplier: float, max_grad_norm: float, loader: Any, steps: int | None,
                 epochs: int | None, delta: float | None, disjoint: bool, mode: str, groups: Any = None) -> None:
        self.engine, self.noise_multiplier, self.max_grad_norm, self.delta, self.mode = engine, noise_multiplier, max_grad_norm, delta, mode
        self.records, self.per_epoch, self.disjoint = len(loader.dataset), len(loader), disjoint
        numbers = persons_of(groups, self.records)
        self.people = None if numbers is None else [np.flatnonzero(numbers == k).tolist() for k in range(int(numbers.max(initial=-1)) + 1)]
        self.units = self.records if self.people is None else len(self.people)  # that steps sample
        if self.people is not None and (disjoint or engine._canaries is not None):
            raise _refused("groups with " + ("poisson_sampling=False" if disjoint else "canaries"), "Poisson samples of persons, without canaries")
        if (steps is None) == (epochs is None):
            raise invalid("make_private() needs epochs= or steps=, one of them: what is charged before the first step")
        if disjoint and epochs is None:
            raise invalid("poisson_sampling=False needs epochs=: an epoch of disjoint batches is what is accounted")
        # Charged are steps: of one sample each, or of all batches of an epoch together.
        self.steps = whole(steps, "steps", 1) if steps is not None else whole(epochs, "epochs", 1) * (1 if disjoint else self.per_epoch)
        self.first = 0  # where a checkpoint resumes
        self.run_name: str | None = None
        self.session: Any = None
        self.canaries = engine._canaries
        self.optimizer: Any = None
        self.batches: deque[list[int]] = deque()  # the first is that of the next step
        self.rows = 0  # of it, that were summed
        self.done = 0  # batches that were released with noise
        self.loop = 0  # number of the loop over the loader
        self.delivered = self.stepped = 0  # batches, or parts of them, that this loop took, and calls of optimizer.step()
        self.noise: Array | None = None  # of all batches of the epoch
        self.batch_of_epoch = 0

    # ---- the charge
    def reserve(self) -> None:
        """Charges the ledger for all steps, before the first batch."""
        if self.session is not None:
            return
        if self.first >= self.steps:
            raise make("EBUDGET", f"the checkpoint is at step {self.first} of {self.steps}; give more epochs or steps to go on")
        parameters = self.optimizer.params
        self.dimension = sum(p.numel() for p in parameters)
        rate = 1.0 if self.disjoint else 1 / self.per_epoch
        if self.canaries is not None:
            self.canaries.begin(self.dimension, rate)
        sampled = struct("sampled", mechanism="gaussian", noise_multiplier=self.noise_multiplier, sample_rate=rate,
                         steps=self.steps - self.first, adjacency=self.engine._adjacency,
                         delta=lib.sotto_default_delta(self.units) if self.delta is None else self.delta)
        request = struct("dpsgd_request", sampled=sampled, max_grad_norm=self.max_grad_norm, dimension=self.dimension * (self.per_epoch if self.disjoint else 1),
                         first_step=self.first, records=self.records, persons=0 if self.people is None else self.units, run=self.run_name,
                         on_lattice=1)
        out = ffi.new("struct sotto_dpsgd_session **")
        condition = (f"that a record's gradient by Opacus {opacus.__version__} ({self.mode}, {_dtypes(parameters)}) does not depend on the records "
                     "beside it, rounding included, and on the first weights of the module, which do not depend on these records")
        if self.disjoint:
            condition += ", and on batches that do not depend on the records' values"

        def finish() -> Any:
            return ffi.gc(out[0], lib.sotto_dpsgd_session_close)

        self.session = self.engine._charge(request, condition, out, finish)
        self.run_name = text_of(lib.sotto_dpsgd_session_run(self.session))
        self.lattice = lib.sotto_dpsgd_session_lattice(self.session)
        # A record's part is cut to whole lattice steps toward zero, which shortens it. The margin is above all that rounding to
        # doubles may add to its norm, in any order of summation.
        self.bound = self.max_grad_norm * (1 - (self.dimension + 16) * 2.0**-52)

    # ---- batches
    def restart(self) -> int:
        """A new loop over the batches; returns its number. A step that was begun is begun anew."""
        self.reserve()
        self.loop += 1
        self.rows = self.delivered = self.stepped = 0
        self.optimizer._step_skip_queue.clear()
        self.optimizer._is_last_step_skipped = False
        for p in self.optimizer.params:
            p.summed_grad = None
        return self.loop

    def require_loop(self, loop: int) -> None:
        """Before a batch is drawn or leaves the loader."""
        if loop != self.loop:
            raise make("EUSAGE", f"step {self.done + 1}: this loop over the loader ended when another one began; use one at a time")

    def sample(self, k: int) -> list[int]:
        """The Poisson sample of step `k`, counted from the first of this reservation."""
        while k - self.done >= len(self.batches):
            units, count = np.empty(max(self.units, 1), np.uint32), ffi.new("size_t *")
            run(lib.sotto_dp_sample, self.session, pointer(units, "uint32_t *"), count, self.units)
            drawn = units[:count[0]].tolist()
            self.batches.append(drawn if self.people is None else _Persons(self.people[p] for p in drawn))
        return self.batches[k - self.done]

    def begin_epoch(self) -> None:
        """All batches of an epoch of disjoint batches are one step: each record is in one of them, so it moves the vector of their
        sums by what it moves one. Its noise is drawn now; what is added to whole lattice steps of zeros."""
        self.batches.clear()
        self.noise = np.zeros(self.dimension * self.per_epoch)
        self._step(self.noise)
        self.batch_of_epoch = 0
        self.engine.accountant.step(noise_multiplier=self.noise_multiplier, sample_rate=1.0)

    def require_step(self) -> None:
        """Before the next batch leaves the loader."""
        if self.stepped != self.delivered:
            raise make("EUSAGE", f"step {self.done + 1}: its batch was drawn, but optimizer.step() was not called once for it",
                       "Call it for every batch, also for an empty one: the step is then noise alone, and skipping it would tell that it was empty.")

    # ---- sums
    def check(self, optimizer: Any, rows: int) -> list[int]:
        """Whether these rows may be added to the sum of the next step. Returns their numbers."""
        at = f"step {self.done + 1}"
        for name in ("noise_multiplier", "max_grad_norm"):
            found, reserved = getattr(optimizer, name), getattr(self, name)
            if found != reserved:
                raise invalid(f"{at}: {name} is {found}, but {reserved} was charged; set it back, or begin a training with a new engine")
        dimension = sum(p.numel() for p in optimizer.params)
        if self.session is not None and dimension != self.dimension:
            raise invalid(f"{at}: {dimension} values are trained, but {self.dimension} were charged; freeze parameters before the first batch")
        if self.stepped >= self.delivered:
            raise make("EUSAGE", f"{at}: no batch was drawn for it; take batches from the loader that make_private() returned, one step for each")
        batch = self.batches[0]
        if self.rows + rows > len(batch):
            raise make("EUSAGE", f"{at}: {self.rows + rows} gradients for a batch of {len(batch)} records; each batch is one step, without "
                                 "accumulation (sotto.opacus.BatchMemoryManager splits large batches)")
        if self.people is not None and rows != len(batch):
            raise make("EUSAGE", f"{at}: {rows} gradients for a batch of {len(batch)} records; with groups the rows of a person are clipped as one, so "
                                 "a batch is one call of optimizer.step(), without BatchMemoryManager")
        self.rows += rows
        self.stepped += 1
        return batch[self.rows - rows:self.rows]

    def release(self, total: Array) -> Array:
        """Adds the noise of the step to the sum, in lattice steps. Returns it in the units of max_grad_norm."""
        if self.rows != len(self.batches[0]):
            raise make("EUSAGE", f"step {self.done + 1}: {self.rows} gradients for a batch of {len(self.batches[0])} records; give all of the "
                                 "batch to the model, and call optimizer.step() for every batch")
        if self.canaries is not None:
            self.canaries.add(total, self.batches[0], math.floor(self.bound / self.lattice))
        if self.noise is None:
            self._step(total)
        else:
            block = self.noise[self.batch_of_epoch * self.dimension:][:self.dimension]
            total = total * self.lattice + block
            block[:] = 0
            self.batch_of_epoch += 1
        if self.canaries is not None:
            self.canaries.observe(total, self.max_grad_norm, self.noise_multiplier * self.max_grad_norm)
        self.batches.popleft()
        self.rows = 0
        self.done += 1
        return total

    def _step(self, vector: Array) -> None:
        with ThreadPoolExecutor(1) as beside:  # it may start OpenMP threads
            beside.submit(run, lib.sotto_dp_step_lattice, self.session, pointer(vector, "double *")).result()

    @property
    def charged_steps_done(self) -> int:
        return self.first + (0 if self.session is None else int(lib.sotto_dpsgd_session_used(self.session)))


def _dtypes(parameters: list[Any]) -> str:
    return "/".join(sorted({str(p.dtype).removeprefix("torch.") for p in parameters}))


class _PoissonBatches(UniformWithReplacementSampler):
    """Poisson samples of the library, in the place of those that Opacus draws."""

    def __init__(self, training: _Training) -> None:
        super().__init__(num_samples=training.records, sample_rate=1 / training.per_epoch, steps=training.per_epoch)
        self.training = training

    def __iter__(self) -> Iterator[list[int]]:
        t = self.training
        loop = t.restart()
        left = t.steps - t.first - t.done
        if left == 0:
            raise make("EBUDGET", f"all {t.steps} steps that were charged are done; begin a training with a new engine")
        for k in range(t.done, t.done + min(left, t.per_epoch)):
            t.require_loop(loop)
            yield t.sample(k)


class _DisjointBatches(BatchSampler):
    """The batches of the user's loader: each record at most once in an epoch, by its row number alone."""

    def __init__(self, training: _Training, batches: Any) -> None:
        super().__init__(batches.sampler, batches.batch_size, batches.drop_last)
        self.training = training

    def __iter__(self) -> Iterator[list[int]]:
        t = self.training
        loop = t.restart()
        t.begin_epoch()
        seen = np.zeros(t.records, bool)
        for batch in super().__iter__():
            t.require_loop(loop)
            if seen[batch].any() or len(set(batch)) != len(batch):
                raise invalid("poisson_sampling=False: the loader gives a record twice in an epoch; expected each at most once")
            seen[batch] = True
            t.batches.append(list(batch))
            yield batch


class _Loader(DataLoader):  # type: ignore[type-arg]
    """Sees to it that every batch gets its step."""

    def __init__(self, training: _Training, batches: Sampler[list[int]], like: Any) -> None:
        self.training = training
        same = ("num_workers", "collate_fn", "pin_memory", "timeout", "worker_init_fn", "multiprocessing_context", "generator",
                "prefetch_factor", "persistent_workers")
        super().__init__(like.dataset, batch_sampler=batches, **{name: getattr(like, name) for name in same})

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        t, loop = self.training, 0
        for batch in super().__iter__():
            loop = loop or t.loop
            t.require_loop(loop)
            t.delivered += 1
            yield batch
            t.require_step()


class _Optimizer(DPOptimizer):
    """Clips, sums in whole steps of the noise's lattice, so without rounding, and adds exact noise."""

    training: _Training

    def signal_skip_step(self, do_skip: bool = True) -> None:
        raise _refused("signal_skip_step(), which Opacus' BatchMemoryManager calls and which cannot tell a lost part of a batch",
                       "sotto.opacus.BatchMemoryManager, which is used alike")

    def clip_and_accumulate(self) -> None:
        t, grads = self.training, self.grad_samples
        for p in self.params:
            _check_processed_flag(p.grad_sample)
        rows = t.check(self, len(grads[0]))
        batch = t.batches[0]
        if isinstance(batch, _Persons):
            grads = _means(grads, batch.ends)
        norm = _norm(grads)
        factor = (t.bound / norm).clamp(max=1.0) / t.lattice
        factor = torch.where(norm.isfinite(), factor, 0.0)  # a gradient that is not finite counts as nothing
        if t.canaries is not None:
            factor = factor.masked_fill(torch.from_numpy(t.canaries.silent(rows)).to(factor.device), 0.0)
        for p, g in zip(self.params, grads):
            total = _sum(g, factor.to(g.device)).view(p.shape)
            p.summed_grad = total if p.summed_grad is None else p.summed_grad + total
            _mark_as_processed(p.grad_sample)

    def add_noise(self) -> None:
        for p in self.params:
            _check_processed_flag(p.summed_grad)
        total = torch.cat([p.summed_grad.reshape(-1).cpu() for p in self.params]).numpy()
        noisy = torch.from_numpy(self.training.release(total))
        for p, part in zip(self.params, noisy.split([p.numel() for p in self.params])):
            p.grad = part.view(p.shape).to(p.device, p.dtype)
            _mark_as_processed(p.summed_grad)


class BatchMemoryManager(opacus.utils.batch_memory_manager.BatchMemoryManager):
    """opacus.utils.batch_memory_manager.BatchMemoryManager for what make_private() returned: large batches in parts. Every part needs
    its optimizer.step(); the last one of a batch is the step."""

    def __enter__(self) -> Any:
        loader, optimizer = self.data_loader, self.optimizer
        if not isinstance(loader, _Loader) or not isinstance(optimizer, _Optimizer) or optimizer.training is not loader.training:
            raise invalid("BatchMemoryManager needs data_loader and optimizer as sotto.opacus.PrivacyEngine.make_private() returned them")
        signals = SimpleNamespace(signal_skip_step=partial(DPOptimizer.signal_skip_step, optimizer))
        parts = opacus.utils.batch_memory_manager.BatchSplittingSampler(sampler=loader.batch_sampler, max_batch_size=self.max_physical_batch_size,
                                                                        optimizer=signals)
        return _Loader(loader.training, parts, loader)


class _Persons(list[int]):
    """The rows of a sample of persons, one person after the other."""

    def __init__(self, people: Any) -> None:
        self.ends: list[int] = []  # where each person's rows end
        for rows in people:
            self += rows
            self.ends.append(len(self))


def _means(grads: list[Any], ends: list[int]) -> list[Any]:
    """The mean gradient of each person, in doubles, over the rows that are finite: a function of that person's rows alone. Where none is, not a number."""
    counts = _norm(grads).isfinite()
    made: list[Any] = []
    for g in grads:
        flat = g.detach().reshape(len(g), math.prod(g.shape[1:]))
        means, begin = torch.empty(len(ends), flat.shape[1], dtype=torch.float64, device=g.device), 0
        for k, end in enumerate(ends):
            means[k] = flat[begin:end][counts[begin:end].to(g.device)].to(torch.float64).mean(0)
            begin = end
        made.append(means.view(len(ends), *g.shape[1:]))
    return made


_CHUNK = 1 << 18  # values that are doubles at a time, in the processor's cache


def _parts(g: Any) -> Any:
    """A few records at a time, a row for each."""
    width = math.prod(g.shape[1:])
    return g.detach().reshape(len(g), width).split(max(_CHUNK // max(width, 1), 1))


def _norm(grads: list[Any]) -> Any:
    """Of each record's gradient, by sums in doubles."""
    norms = [torch.cat([torch.linalg.vector_norm(part.to(torch.float64), dim=1) for part in _parts(g)]) for g in grads]
    return torch.linalg.vector_norm(torch.stack([n.to(grads[0].device) for n in norms]), dim=0)


def _sum(g: Any, factor: Any) -> Any:
    """Of the records times their factors, cut to whole numbers; at most 2^50, so exact in any order."""
    total: Any = 0
    for part, f in zip(_parts(g), factor.split(len(_parts(g)[0]) or 1)):
        part = part.to(torch.float64, copy=True).mul_(f[:, None])
        nothing = f == 0
        if nothing.any():
            part[nothing] = 0  # not what an infinity times 0 is
        total = total + part.trunc_().sum(0)
    return total


def _whole_batches(data_loader: Any, poisson_sampling: bool) -> Any:
    """The loader's own sampler of batches, which must take every record of the set once an epoch. The engine draws batches anew, so
    another sampler, which leaves records out or weighs them, would be dropped in silence."""
    batches = data_loader.batch_sampler
    sampler: Any = getattr(batches, "sampler", None)
    if type(batches) is not BatchSampler or type(sampler) not in (RandomSampler, SequentialSampler) \
            or len(sampler) != len(data_loader.dataset) or getattr(sampler, "replacement", False):
        why = "each record is drawn by a coin of its own" if poisson_sampling else "only then is each record in one batch of an epoch"
        raise _refused(f"poisson_sampling={poisson_sampling} with {type(sampler or batches).__name__}",
                       f"a loader that shuffles (shuffle=True) or takes records in order: {why}; for some of the records, give torch.utils.data.Subset(...)")
    return batches


# ---- engine ----------------------------------------------------------------------------------------------------------------
class PrivacyEngine(opacus.PrivacyEngine):
    """opacus.PrivacyEngine with the library's Poisson samples, exact sums and exact noise, a ledger and a certificate.

    ledger: the sotto.Ledger that is charged, before the first batch is drawn, for all steps of the training. Without one nothing is
    charged and there is no certificate (PrivacyLeakWarning). adjacency: of the certificate: "zero-out" (one record counts as nothing,
    as Opacus counts) or "replace-one"; the ledger counts replace-one. Others: purpose, budget_epsilon, ... as of sotto.release();
    insecure_seed: samples and noise from a seed, for tests: no privacy. canaries: Canaries, to audit the training; their coins are bound
    by the ledger entry.

    Samples, clipping, sums and noise are the library's or exact. What the proof cannot see is how PyTorch computes the gradient of
    each record, so the certificate is conditional on that it does not depend on the records beside it; nor does it see where the
    module's first weights come from.

    Refused by name: clipping other than "flat", grad_sample_mode other than "hooks" and "ew", distributed training, secure_mode,
    noise_generator, rand_on_empty. One engine is for one training.
    """

    def __init__(self, ledger: Ledger | None = None, *, adjacency: str = "zero-out", accountant: str = "sotto", secure_mode: bool = False,
                 canaries: Canaries | None = None, threads: int | None = None, **given: Unpack[SpendOptions]) -> None:
        if not opacus.__version__.startswith("1.6."):
            raise make("ENOTSUP", f"sotto.opacus.PrivacyEngine was written for Opacus 1.6, and this is {opacus.__version__}; install opacus 1.6")
        if secure_mode:
            raise invalid("secure_mode is not needed here: samples and noise come from the operating system; omit it")
        if adjacency not in ("zero-out", "replace-one"):
            raise invalid(f"adjacency is {adjacency!r}; expected 'zero-out' (as Opacus counts, the number of records is public) or 'replace-one'")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Secure RNG turned off")
            super().__init__(accountant=accountant)
        self._adjacency, self.adjacency = _adjacency(adjacency), adjacency
        if canaries is not None and canaries.adjacency != adjacency:
            raise invalid(f"the canaries were made for adjacency {canaries.adjacency!r}, but the engine's is {adjacency!r}; give both the same")
        self._ledger, self._threads, self._canaries = ledger, threads, canaries
        self._given: dict[str, Any] = dict(given)
        rest = dict(self._given)
        if ledger is not None:
            spend_of(ledger, rest)
            unknown_charge("PrivacyEngine", rest)
        elif set(given) - {"insecure_seed"}:
            raise invalid(f"{min(set(given) - {'insecure_seed'})} needs ledger=, a sotto.Ledger")
        self._training: _Training | None = None
        self._resume: tuple[str, int] | None = None

    # ---- what Opacus asks for
    def make_private(self, *, module: Any, optimizer: Any, data_loader: Any, noise_multiplier: float, max_grad_norm: float,  # type: ignore[override]
                     epochs: int | None = None, steps: int | None = None, delta: float | None = None, poisson_sampling: bool = True,
                     clipping: str = "flat", grad_sample_mode: str = "hooks", noise_generator: Any = None, rand_on_empty: bool = False,
                     groups: Any = None, **options: Any) -> Any:
        """As in Opacus, and: epochs or steps, how many are charged; delta, of the certificate (None: 1 / (10 n), rounded down to a
        power of ten).

        groups (n of the data set): the person of each record. Steps then sample persons, with all of their records, and clip the mean of a
        person's gradients: the cost is that of one record, whatever a person has, and epsilon is conditional on the groups.

        poisson_sampling=False: batches are those of the loader. Each record is in at most one of an epoch, so an epoch is one release
        without amplification; the loader must shuffle or take records in order. Returns module, optimizer, loader."""
        if self._training is not None:
            raise make("EUSAGE", "this engine has a training already, which its ledger entry is about; make a new PrivacyEngine for another one")
        if clipping != "flat":
            raise _refused(f"clipping={clipping!r}", "'flat': the norm of the whole gradient is what is charged")
        if grad_sample_mode not in ("hooks", "ew"):
            raise _refused(f"grad_sample_mode={grad_sample_mode!r}", "'hooks' or 'ew': clipping and sums are exact here, and need each record's gradient")
        if isinstance(module, (opacus.privacy_engine.DPDDP, opacus.privacy_engine.DDP, opacus.privacy_engine.FSDPModule)):
            raise _refused(f"{type(module).__name__} (distributed training)", "one process: noise is drawn once")
        if noise_generator is not None:
            raise _refused("noise_generator", "None: noise comes from the operating system (tests: PrivacyEngine(insecure_seed=...))")
        if rand_on_empty:
            raise _refused("rand_on_empty", "False: a made-up record in an empty batch moves the sum by twice the clipping norm")
        if not isinstance(max_grad_norm, (int, float)):
            raise invalid(f"max_grad_norm is {max_grad_norm!r}; expected one number, the norm of the whole gradient")
        if self._canaries is not None and data_loader.dataset is not self._canaries.dataset:
            raise invalid("data_loader gives other records than those with the canaries; give it canaries.dataset")
        self._training = _Training(self, noise_multiplier=noise_multiplier, max_grad_norm=max_grad_norm, loader=data_loader, steps=steps,
                                   epochs=epochs, delta=delta, disjoint=not poisson_sampling, mode=grad_sample_mode, groups=groups)
        if self._ledger is None:
            warnings.warn("PrivacyEngine has no ledger=: nothing is charged, so nobody adds up what is trained on these records, and there is no "
                          "certificate", PrivacyLeakWarning, stacklevel=2)
        try:
            made = super().make_private(module=module, optimizer=optimizer, data_loader=data_loader, noise_multiplier=noise_multiplier,
                                        max_grad_norm=max_grad_norm, poisson_sampling=poisson_sampling, clipping=clipping,
                                        grad_sample_mode=grad_sample_mode, **options)
        except BaseException:
            self._training = None
            raise
        if not poisson_sampling:
            made[1].attach_step_hook(lambda _: None)  # an epoch counts when it begins
        if isinstance(self.accountant, Accountant):
            batches = "batches were Poisson-sampled" if poisson_sampling else "each record is in at most one batch of an epoch"
            self.accountant.statement = f"epsilon of the steps so far, both ends proved: {batches}, noise: sotto (exact); the certificate has its condition"
        return made

    def make_private_with_epsilon(self, *, target_epsilon: float, target_delta: float, epochs: int | None = None, steps: int | None = None,  # type: ignore[override]
                                  data_loader: Any, poisson_sampling: bool = True, **options: Any) -> Any:
        """make_private() with the smallest noise multiplier that meets the target under the engine's adjacency."""
        if (steps is None) == (epochs is None):
            raise invalid("make_private_with_epsilon() needs epochs= or steps=, one of them: what is charged before the first step")
        each = len(data_loader)
        count = whole(epochs, "epochs", 1) * (each if poisson_sampling else 1) if epochs is not None else whole(steps, "steps", 1)
        noise = account.calibrate_dpsgd(epsilon=target_epsilon, delta=target_delta, sample_rate=1 / each if poisson_sampling else 1.0, steps=count,
                                        adjacency=self.adjacency)  # type: ignore[arg-type]
        return self.make_private(data_loader=data_loader, noise_multiplier=noise.scale, epochs=epochs, steps=steps, delta=target_delta,
                                 poisson_sampling=poisson_sampling, **options)

    def _prepare_data_loader(self, data_loader: Any, *, poisson_sampling: bool, distributed: bool, batch_first: bool = True,
                             rand_on_empty: bool = False) -> Any:
        t = self._training
        assert t is not None
        batches = _whole_batches(data_loader, poisson_sampling)
        if poisson_sampling:
            like = super()._prepare_data_loader(data_loader, poisson_sampling=True, distributed=False, batch_first=batch_first,
                                                rand_on_empty=False)  # for its collate_fn, which knows empty batches
            return _Loader(t, _PoissonBatches(t), like)
        return _Loader(t, _DisjointBatches(t, batches), data_loader)

    def _prepare_optimizer(self, *, optimizer: Any, noise_multiplier: float, max_grad_norm: float, expected_batch_size: int,  # type: ignore[override]
                           loss_reduction: str = "mean", **_: Any) -> Any:
        if isinstance(optimizer, DPOptimizer):
            optimizer = optimizer.original_optimizer
        t = self._training
        assert t is not None
        made = _Optimizer(optimizer, noise_multiplier=noise_multiplier, max_grad_norm=max_grad_norm, loss_reduction=loss_reduction,
                          expected_batch_size=expected_batch_size if t.people is None else max(t.units // t.per_epoch, 1))
        made.training, t.optimizer = t, made
        if self._resume is not None:
            t.run_name, t.first = self._resume
        return made

    # ---- ledger and certificate
    def _charge(self, request: Any, condition: str, out: Any, finish: Any) -> Any:
        if self._ledger is not None:
            given = dict(self._given)
            if self._canaries is not None:
                given["purpose"] = self._canaries.purpose(given.get("purpose"))
            fill(request, spend=self._capped(fill(spend_of(self._ledger, given), condition=condition)))
            return charge(self._ledger, finish, lib.sotto_dp_reserve, out, request, threads=self._threads)
        seed = self._given.get("insecure_seed")
        with tempfile.TemporaryDirectory() as folder:  # as a public set: one that is registered nowhere
            fill(request, spend=self._capped(struct("spend", dataset_id="no ledger", ledger=os.path.join(folder, "none.jsonl"), condition=condition,
                                                    source=struct("source_records", public_set=1), insecure=int(seed is not None), insecure_seed=seed)))
            run(lib.sotto_dp_reserve, out, request, threads=self._threads)
            return finish()

    def _capped(self, spend: Any) -> Any:
        """How many records a person has at most, where the groups say it."""
        t = self._training
        if t is None or t.people is None:
            return spend
        most = max(map(len, t.people), default=1)
        if 0 < spend.rows_per_person < most:
            raise invalid(f"groups: a person has {most} records, but the ledger's rows_per_person is {spend.rows_per_person}")
        return fill(spend, rows_per_person=spend.rows_per_person or most)

    def certificate(self) -> Certificate:
        """Of all steps that were charged, whatever became of them. Save it with the released file."""
        t = self._training
        if t is None or t.session is None:
            raise make("EUSAGE", "nothing was charged yet, so there is no certificate; it is there once the first batch was drawn")
        if self._ledger is None:
            raise make("EUSAGE", "this training was charged to no ledger, so there is no certificate; give PrivacyEngine(ledger=sotto.Ledger(...))")
        out = ffi.new("struct sotto_certificate **")
        run(lib.sotto_dpsgd_session_certificate, out, t.session)
        return Certificate(out[0])

    # ---- checkpoints
    def save_checkpoint(self, *, checkpoint_dict: dict[str, Any] | None = None, **options: Any) -> None:
        """As in Opacus. A training that goes on from it pays for the steps that are left once more."""
        t = self._training
        state = {} if t is None or t.session is None else {"sotto": (t.run_name, t.charged_steps_done)}
        super().save_checkpoint(checkpoint_dict={**(checkpoint_dict or {}), **state}, **options)

    def load_checkpoint(self, **options: Any) -> dict[str, Any]:
        """As in Opacus, before the first batch is drawn."""
        t = self._training
        if t is not None and t.session is not None:
            raise make("EUSAGE", "load_checkpoint() after the first batch; load it before the loop begins")
        loaded: dict[str, Any] = super().load_checkpoint(**options)
        self._resume = loaded.get("sotto")
        if self._resume is not None and t is not None:
            t.run_name, t.first = self._resume
        return loaded


def _refused(what: str, expected: str) -> Exception:
    return make("ENOTSUP", f"sotto.opacus.PrivacyEngine does not support {what}; expected {expected}")

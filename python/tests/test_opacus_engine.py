"""sotto.opacus.PrivacyEngine: what is charged, sampled, summed and noised; every way to lose a step; the laws of samples and noise."""

import math
import os
import warnings

import numpy as np
import pytest

pytest.importorskip("opacus", reason="opacus is not installed")

import torch  # noqa: E402
from torch.nn.functional import cross_entropy  # noqa: E402
from torch.utils.data import DataLoader, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, TensorDataset, WeightedRandomSampler  # noqa: E402

import sotto  # noqa: E402
import sotto.opacus  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Full backward hook is firing")
long = pytest.mark.skipif(not os.environ.get("SOTTO_CHECK_PYTHON"), reason="SOTTO_CHECK_PYTHON is not set: seconds each")
N, BATCH = 240, 40


@pytest.fixture(autouse=True)
def start():
    torch.manual_seed(0)


@pytest.fixture
def ledger(tmp_path):
    return sotto.Ledger(tmp_path / "ledger.jsonl", dataset="opacus-test")


def records(n=N):
    x = torch.randn(n, 5)
    return TensorDataset(x, (x[:, 0] > 0).long(), torch.arange(n))


def begin(engine, data=None, module=None, workers=0, loader=None, **options):
    """module, optimizer, loader of a training of 2 epochs of 6 steps."""
    module = module or torch.nn.Linear(5, 2)
    loader = loader or DataLoader(data or records(), batch_size=BATCH, num_workers=workers, shuffle=True)
    options = {"noise_multiplier": 4.0, "max_grad_norm": 1.0, "delta": 1e-5, **({} if "steps" in options else {"epochs": 2}), **options}
    return engine.make_private(module=module, optimizer=torch.optim.SGD(module.parameters(), lr=0.5), data_loader=loader, **options)


def one(module, optimizer, batch):
    optimizer.zero_grad()
    cross_entropy(module(batch[0]), batch[1]).backward()
    optimizer.step()


def train(module, optimizer, loader, epochs=2):
    """Trains; the batches that were seen."""
    seen = []
    for _ in range(epochs):
        for batch in loader:
            one(module, optimizer, batch)
            seen.append(batch[2].tolist())
    return seen


# ---- persons
def test_persons_of_one_record_are_records(tmp_path):
    weights = []
    for k, groups in enumerate((None, [f"p{i:03}" for i in range(N)])):
        engine = sotto.opacus.PrivacyEngine(sotto.Ledger(tmp_path / f"{k}.jsonl", dataset=f"d{k}"), insecure_seed=3)
        torch.manual_seed(1)
        data = records()
        module, optimizer, loader = begin(engine, data, torch.nn.Linear(5, 2), groups=groups)
        seen = train(module, optimizer, loader)
        weights.append((seen, [p.detach().clone() for p in module.parameters()]))
    assert weights[0][0] == weights[1][0]
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(weights[0][1], weights[1][1]))


def test_persons(tmp_path):
    """Whole persons in each batch, the account of a record, the divisor of persons, and the mean of a person's gradients."""
    ledger = sotto.Ledger(tmp_path / "l.jsonl", dataset="persons")
    engine, groups = sotto.opacus.PrivacyEngine(ledger), np.arange(N) % 60
    data = records()
    data.tensors[0][7] = math.inf  # one record of person 7: the other three count
    module, optimizer, loader = begin(engine, data, groups=groups, noise_multiplier=2.0)
    assert optimizer.expected_batch_size == 10
    for batch in loader:
        rows = batch[2].tolist()
        people = [int(groups[r]) for r in rows]
        assert all(people.count(p) == 4 for p in people) and people == sorted(people)
        optimizer.zero_grad()
        cross_entropy(module(batch[0]), batch[1]).backward()
        per_record = [p.grad_sample.detach().to(torch.float64).reshape(len(rows), -1) for p in module.parameters()] if rows else []
        optimizer.clip_and_accumulate()
        if rows:
            g = torch.cat(per_record, 1)
            fine = g.isfinite().all(1)
            total = torch.zeros(g.shape[1], dtype=torch.float64)
            for p in sorted(set(people)):
                own = g[[i for i, q in enumerate(people) if q == p and fine[i]]].mean(0)
                total += own * min(1.0, 1.0 / float(own.norm()))
            found = torch.cat([p.summed_grad.reshape(-1) for p in module.parameters()]) * loader.training.lattice
            assert torch.allclose(found, total, atol=1e-6)
        optimizer.add_noise()
        optimizer.scale_grad()
        optimizer.original_optimizer.step()
    c = engine.certificate()
    assert c.unit == "one person (at most 4 rows each, sampled as one of 60 persons, as stated by the caller)"
    one_record = sotto.account.dpsgd(noise_multiplier=2, sample_rate=1 / 6, steps=12, delta=1e-5)
    assert float(c.epsilon) == pytest.approx(float(one_record.epsilon), rel=1e-9) and not c.proved


def test_persons_are_refused_by_name(ledger, tmp_path):
    groups = np.arange(N) % 60
    for options, text in (({"groups": groups[1:]}, "expected the person of each"), ({"groups": groups, "poisson_sampling": False}, "groups with poisson_sampling"),):
        with pytest.raises(sotto.SottoError, match=text):
            begin(sotto.opacus.PrivacyEngine(ledger), **options)
    engine = sotto.opacus.PrivacyEngine(ledger)
    module, optimizer, loader = begin(engine, groups=groups)
    with pytest.raises(sotto.SottoError, match="clipped as one"), sotto.opacus.BatchMemoryManager(data_loader=loader, max_physical_batch_size=3,
                                                                                                  optimizer=optimizer) as parts:
        for batch in parts:
            one(module, optimizer, batch)
    tight = sotto.Ledger(tmp_path / "tight.jsonl", dataset="tight", rows_per_person=3)
    module, optimizer, loader = begin(sotto.opacus.PrivacyEngine(tight), groups=groups)
    with pytest.raises(sotto.SottoError, match="a person has 4 records"):
        next(iter(loader))
    assert ledger.entries()[1:] == [] and tight.entries() == []


# ---- what is charged
@pytest.mark.parametrize("workers", [0, 2])
def test_training(ledger, workers):
    engine = sotto.opacus.PrivacyEngine(ledger, purpose="a test")
    made = begin(engine, workers=workers)
    with pytest.raises(sotto.SottoError, match="nothing was charged yet"):
        engine.certificate()
    assert ledger.entries() == []
    iter(made[2]).__next__()
    assert len(ledger.entries()) == 1  # before the first step
    seen = train(*made)
    assert len(seen) == 12 and len({tuple(s) for s in seen}) > 6
    expected = sotto.account.dpsgd(noise_multiplier=4, sample_rate=1 / 6, steps=12, delta=1e-5)
    c = engine.certificate()
    assert tuple(c.epsilon) == tuple(expected.epsilon) and c.adjacency == "zero-out" and not c.proved
    assert "by Opacus" in c.condition and "does not depend on the records beside it" in c.condition and "replace-one" in c.statement
    assert engine.accountant.history == [(4.0, 1 / 6, 12)] and engine.get_epsilon(1e-5) == pytest.approx(c.epsilon.upper, abs=1e-6)
    assert "sotto (exact)" in engine.accountant.statement
    assert ledger.total(1e-5).proved is None and ledger.total(1e-5).conditional.upper > c.epsilon.upper  # replace-one
    with pytest.raises(sotto.BudgetExceeded, match="all 12 steps"):
        train(*made, epochs=1)


def test_certificate_is_verified(ledger, tmp_path):
    engine = sotto.opacus.PrivacyEngine(ledger, adjacency="replace-one")
    module, optimizer, loader = begin(engine)
    train(module, optimizer, loader)
    torch.save(module.state_dict(), tmp_path / "net.pt")
    c = engine.certificate()
    c.save(tmp_path / "net.pt.certificate.json", tmp_path / "net.pt")
    v = sotto.verify(tmp_path / "net.pt", ledger=ledger)
    assert v.guarantee == "conditional" and v.epsilon == c.epsilon
    assert tuple(c.epsilon) == tuple(sotto.account.dpsgd(noise_multiplier=4, sample_rate=1 / 6, steps=12, delta=1e-5, adjacency="replace-one").epsilon)


@long
def test_target_epsilon(ledger):
    engine = sotto.opacus.PrivacyEngine(ledger)
    module = torch.nn.Linear(5, 2)
    made = engine.make_private_with_epsilon(module=module, optimizer=torch.optim.SGD(module.parameters(), lr=0.5), max_grad_norm=1.0, epochs=2,
                                            data_loader=DataLoader(records(), batch_size=BATCH), target_epsilon=2, target_delta=1e-5)
    train(*made)
    assert 1.999 < engine.certificate().epsilon.upper <= 2


def test_budget_is_kept(tmp_path):
    ledger = sotto.Ledger(tmp_path / "small.jsonl", dataset="small", budget=(0.1, 1e-5))
    made = begin(sotto.opacus.PrivacyEngine(ledger))
    before = [p.clone() for p in made[0].parameters()]
    with pytest.raises(sotto.BudgetExceeded):
        train(*made)
    assert all(torch.equal(a, b) for a, b in zip(before, made[0].parameters())) and ledger.total(1e-5).conditional is None


def test_without_a_ledger(tmp_path):
    engine = sotto.opacus.PrivacyEngine()
    with pytest.warns(sotto.PrivacyLeakWarning, match="no ledger="):
        made = begin(engine)
    train(*made)
    assert 0 < engine.get_epsilon(1e-5) < 10 and not list(tmp_path.rglob("*.jsonl"))
    with pytest.raises(sotto.SottoError, match="no ledger, so there is no certificate"):
        engine.certificate()


@long
def test_seeded_noise_guarantees_nothing(ledger):
    weights = []
    for _ in range(2):
        torch.manual_seed(1)
        engine = sotto.opacus.PrivacyEngine(ledger, insecure_seed=5)
        made = begin(engine)
        train(*made)
        weights.append(torch.cat([p.reshape(-1) for p in made[0].parameters()]))
        assert engine.certificate().insecure and engine.certificate().epsilon is None
    assert torch.equal(*weights)


@long
def test_checkpoint(ledger, tmp_path):
    engine = sotto.opacus.PrivacyEngine(ledger)
    module, optimizer, loader = begin(engine)
    train(module, optimizer, loader, 1)
    engine.save_checkpoint(path=tmp_path / "c", module=module, optimizer=optimizer)
    again = sotto.opacus.PrivacyEngine(ledger)
    made = begin(again)
    again.load_checkpoint(path=tmp_path / "c", module=made[0], optimizer=made[1])
    assert len(train(*made, 1)) == 6
    c = again.certificate()
    assert c.account.compose == 18 and again.accountant.history == [(4.0, 1 / 6, 12)]  # 12 charged at first, then 6
    assert c.epsilon.upper > engine.certificate().epsilon.upper
    with pytest.raises(sotto.BudgetExceeded, match="all 12 steps"):
        train(*made, 1)


# ---- without Poisson samples
def test_disjoint_batches(ledger):
    """Known answers: one epoch of noise 1 is one Gaussian release, of sensitivity 1 or 2; as if Poisson it would be 2.85."""
    engine = sotto.opacus.PrivacyEngine(ledger)
    made = begin(engine, poisson_sampling=False, epochs=1, noise_multiplier=1.0)
    seen = train(*made, epochs=1)
    assert sorted(i for s in seen for i in s) == list(range(N))
    c = engine.certificate()
    assert c.epsilon.upper == pytest.approx(4.377178, abs=1e-5) and c.account.other_epsilon.upper == pytest.approx(9.997256, abs=1e-5)
    assert tuple(engine.accountant.interval(1e-5, adjacency="replace-one")) == pytest.approx((9.997256, 9.997256), abs=1e-5)
    assert "batches that do not depend on the records' values" in c.condition
    with pytest.raises(sotto.BudgetExceeded):
        train(*made, epochs=1)


@long
def test_epochs_of_disjoint_batches_compose(ledger):
    engine = sotto.opacus.PrivacyEngine(ledger)
    made = begin(engine, poisson_sampling=False, epochs=3, workers=2, noise_multiplier=1.0)
    train(*made, epochs=3)
    exact = sotto.account.gaussian(1 / math.sqrt(3), delta=1e-5).epsilon
    e = engine.certificate().epsilon
    assert e.lower <= exact.upper and exact.lower <= e.upper < exact.upper + 1e-3
    assert engine.get_epsilon(1e-5) == pytest.approx(e.upper, abs=1e-3)


@pytest.mark.parametrize("sampler", [WeightedRandomSampler([1.0] * N, N), RandomSampler(range(N), replacement=True), RandomSampler(range(N), num_samples=2 * N)])
def test_batches_that_are_not_disjoint(ledger, sampler):
    loader = DataLoader(records(), batch_size=BATCH, sampler=sampler)
    with pytest.raises(sotto.SottoError, match="poisson_sampling=False"):
        train(*begin(sotto.opacus.PrivacyEngine(ledger), loader=loader, poisson_sampling=False))


class Ordered(Sampler):
    """In order, and a sampler of its own kind all the same."""

    def __iter__(self):
        return iter(range(N))

    def __len__(self):
        return N


@pytest.mark.parametrize("poisson_sampling", [True, False])
@pytest.mark.parametrize("sampler", [SubsetRandomSampler(range(40)), WeightedRandomSampler([1.0] * N, N), RandomSampler(range(N), replacement=True),
                                     RandomSampler(range(40)), SequentialSampler(range(40)), Ordered()])
def test_samplers_that_would_be_dropped(ledger, sampler, poisson_sampling):
    loader = DataLoader(records(), batch_size=BATCH, sampler=sampler)
    with pytest.raises(sotto.SottoError, match=f"poisson_sampling={poisson_sampling} with {type(sampler).__name__}.*Subset"):
        begin(sotto.opacus.PrivacyEngine(ledger), loader=loader, poisson_sampling=poisson_sampling)
    assert ledger.entries() == []


# ---- sums
def gradients(module, optimizer, loader, scale=1.0):
    """The noiseless gradient of each step in units of one record's share, with the rows of its batch."""
    for x, y, rows in loader:
        optimizer.zero_grad()
        (scale * cross_entropy(module(x), y)).backward()
        optimizer.step()
        yield torch.cat([p.grad.reshape(-1) for p in optimizer.params]).double() * optimizer.expected_batch_size, rows


@long
@pytest.mark.parametrize("mode", ["hooks", "ew"])
def test_sums_are_clipped_sums(ledger, mode):
    """With next to no noise, steps are sums of gradients of norm at most 1, as by the definition in doubles."""
    data = records()
    module = torch.nn.Sequential(torch.nn.Linear(5, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))
    made = begin(sotto.opacus.PrivacyEngine(ledger), data, module, grad_sample_mode=mode, noise_multiplier=1e-4, steps=4)
    clipped = 0
    weights = [p.detach().clone() for p in module.parameters()]
    for got, rows in gradients(*made, scale=3.0):
        want = torch.zeros_like(got)
        for i in rows:
            x, y, _ = data[i]
            ps = [w.double().requires_grad_() for w in weights]
            loss = 3 * cross_entropy(torch.tanh(x.double() @ ps[0].T + ps[1]) @ ps[2].T + ps[3], y)
            g = torch.cat([v.reshape(-1) for v in torch.autograd.grad(loss, ps)])
            clipped += bool(g.norm() > 1)
            want += g / max(g.norm(), 1)
        assert (got - want).abs().max() < 1e-3 and want.norm() > 1
        weights = [p.detach().clone() for p in module.parameters()]
    assert clipped > 20


def test_a_gradient_is_at_most_the_norm_and_cut_to_the_lattice():
    """The contribution of one record, in lattice steps: whole, at most the bound, and bent by less than a step."""
    t = sotto.opacus._Training.__new__(sotto.opacus._Training)
    rng = np.random.default_rng(1)
    for d, norm in ((3, 1.0), (4097, 0.3), (100000, 1e-9)):
        lattice = 2.0 ** math.floor(math.log2(norm) - 31)
        t.dimension, t.max_grad_norm = d, norm
        bound = norm * (1 - (d + 16) * 2.0**-52)
        g = torch.from_numpy((rng.normal(size=(4, d)) * np.array([[1e-12], [1.0], [1e6], [1e30]])).astype(np.float32))
        factor = (bound / sotto.opacus._norm([g[:, :1], g[:, 1:]])).clamp(max=1.0) / lattice
        for i in range(4):
            part = sotto.opacus._sum(g[i:i + 1], factor[i:i + 1])
            assert torch.equal(part, part.trunc())
            exact = math.fsum(float(v) ** 2 for v in part) * lattice**2
            assert exact <= norm**2
            if i >= 1:
                assert exact >= norm**2 * (1 - 1e-6 * d / 1000 - 1e-7)
    huge = torch.tensor([[float("inf"), 1.0], [float("nan"), 1.0], [1.0, 1.0]])
    factor = torch.where(sotto.opacus._norm([huge]).isfinite(), 1.0, 0.0).double()
    assert sotto.opacus._sum(huge, factor).tolist() == [1.0, 1.0]


@long
def test_a_bad_gradient_counts_as_nothing(ledger):
    data = records()
    data.tensors[0][:] = float("inf")
    made = begin(sotto.opacus.PrivacyEngine(ledger), data, noise_multiplier=1e-4, steps=3)
    for got, rows in gradients(*made):
        assert len(rows) and got.abs().max() < 1e-2


# ---- every way to lose a step
def test_a_skipped_step(ledger):
    module, optimizer, loader = begin(sotto.opacus.PrivacyEngine(ledger))
    with pytest.raises(sotto.SottoError, match=r"step 3: .*optimizer.step\(\) was not called once for it"):
        for i, batch in enumerate(loader):
            if i != 2:
                one(module, optimizer, batch)


def test_a_repeated_step(ledger):
    module, optimizer, loader = begin(sotto.opacus.PrivacyEngine(ledger), workers=2)
    with pytest.raises(sotto.SottoError, match="step 2: no batch was drawn for it"):
        for batch in loader:
            one(module, optimizer, batch)
            one(module, optimizer, batch)


def test_a_step_without_a_batch(ledger):
    module, optimizer, _ = begin(sotto.opacus.PrivacyEngine(ledger))
    with pytest.raises(sotto.SottoError, match="step 1: no batch was drawn"):
        one(module, optimizer, records()[:40])
    assert ledger.entries() == []


def test_a_part_of_a_batch(ledger):
    module, optimizer, loader = begin(sotto.opacus.PrivacyEngine(ledger))
    with pytest.raises(sotto.SottoError, match="gradients for a batch of"):
        for batch in loader:
            one(module, optimizer, [b[1:] for b in batch])


def test_foreign_records_beside_a_batch(ledger):
    module, optimizer, loader = begin(sotto.opacus.PrivacyEngine(ledger))
    with pytest.raises(sotto.SottoError, match="gradients for a batch of"):
        for x, y, _ in loader:
            one(module, optimizer, [torch.cat([x, x[:1]]), torch.cat([y, y[:1]])])


def test_gradient_accumulation(ledger):
    module, optimizer, loader = begin(sotto.opacus.PrivacyEngine(ledger), poisson_sampling=False)
    with pytest.raises(sotto.SottoError, match="was not called once"):
        for x, y, _ in loader:
            cross_entropy(module(x), y).backward()
    module, optimizer, loader = begin(sotto.opacus.PrivacyEngine(ledger))
    with pytest.raises(ValueError, match="accumulat"):  # Opacus' own
        for x, y, _ in loader:
            cross_entropy(module(x), y).backward()
            cross_entropy(module(x), y).backward()


def test_a_loop_that_is_left_finds_the_same_batches(ledger):
    engine = sotto.opacus.PrivacyEngine(ledger)
    module, optimizer, loader = begin(engine, workers=2)
    seen = []
    for batch in loader:
        seen.append(batch[2].tolist())
        if len(seen) == 3:
            break  # without a step
        one(module, optimizer, batch)
    rest = train(module, optimizer, loader, 1)
    assert rest[0] == seen[2] and len(rest) == 6
    assert engine.accountant.history == [(4.0, 1 / 6, 8)]


@pytest.mark.parametrize("options", [{"workers": 2}, {}, {"poisson_sampling": False}])
def test_two_loops_at_once(ledger, options):
    module, optimizer, loader = begin(sotto.opacus.PrivacyEngine(ledger), **options)
    first = iter(loader)
    one(module, optimizer, next(first))
    for _, batch in zip(range(2), loader):
        one(module, optimizer, batch)
    with pytest.raises(sotto.SottoError, match="this loop over the loader ended"):
        next(first)


@pytest.mark.parametrize("name, value, charged", [("noise_multiplier", 0.5, 4.0), ("max_grad_norm", 2.0, 1.0)])
def test_a_changed_parameter(ledger, name, value, charged):
    module, optimizer, loader = begin(sotto.opacus.PrivacyEngine(ledger))
    setattr(optimizer, name, value)
    with pytest.raises(sotto.SottoError, match=f"{name} is {value}, but {charged} was charged"):
        train(module, optimizer, loader)


def test_a_frozen_parameter(ledger):
    module, optimizer, loader = begin(sotto.opacus.PrivacyEngine(ledger))
    with pytest.raises(sotto.SottoError, match="10 values are trained, but 12 were charged"):
        for batch in loader:
            one(module, optimizer, batch)
            module._module.bias.requires_grad_(False)


@pytest.mark.parametrize("workers", [0, 2])
def test_virtual_steps(ledger, workers):
    engine = sotto.opacus.PrivacyEngine(ledger)
    module, optimizer, loader = begin(engine, workers=workers)
    logical = 0
    for _ in range(2):
        with sotto.opacus.BatchMemoryManager(data_loader=loader, max_physical_batch_size=16, optimizer=optimizer) as parts:
            for batch in parts:
                assert len(batch[0]) <= 16
                one(module, optimizer, batch)
                logical += not optimizer._is_last_step_skipped
    assert logical == 12 and engine.accountant.history == [(4.0, 1 / 6, 12)]


@long
def test_virtual_steps_are_the_same_sums(ledger):
    data, sums = records(), []
    for size in (1000, 7):
        torch.manual_seed(3)
        module, optimizer, loader = begin(sotto.opacus.PrivacyEngine(ledger, insecure_seed=1), data, steps=2)
        with sotto.opacus.BatchMemoryManager(data_loader=loader, max_physical_batch_size=size, optimizer=optimizer) as parts:
            for batch in parts:
                one(module, optimizer, batch)
        sums.append(torch.cat([p.reshape(-1) for p in optimizer.params]))
    assert torch.allclose(*sums, atol=1e-6)


def test_a_lost_virtual_step(ledger):
    module, optimizer, loader = begin(sotto.opacus.PrivacyEngine(ledger))
    with sotto.opacus.BatchMemoryManager(data_loader=loader, max_physical_batch_size=8, optimizer=optimizer) as parts:
        with pytest.raises(sotto.SottoError, match=r"optimizer.step\(\) was not called once"):
            for i, batch in enumerate(parts):
                if i != 1:
                    one(module, optimizer, batch)
    with sotto.opacus.BatchMemoryManager(data_loader=loader, max_physical_batch_size=8, optimizer=optimizer) as parts:
        for batch in parts:  # begins the same step anew
            one(module, optimizer, batch)


def test_the_other_batch_memory_manager(ledger):
    from opacus.utils.batch_memory_manager import BatchMemoryManager
    module, optimizer, loader = begin(sotto.opacus.PrivacyEngine(ledger))
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=8, optimizer=optimizer) as parts:
        with pytest.raises(NotImplementedError, match="sotto.opacus.BatchMemoryManager, which is used alike"):
            next(iter(parts))
    with pytest.raises(ValueError, match="data_loader and optimizer as"):
        with sotto.opacus.BatchMemoryManager(data_loader=DataLoader(records()), max_physical_batch_size=8, optimizer=optimizer):
            pass


def test_empty_batches_are_steps(ledger):
    engine = sotto.opacus.PrivacyEngine(ledger)
    made = begin(engine, loader=DataLoader(records(20), batch_size=1), epochs=1)
    seen = train(*made, epochs=1)
    assert len(seen) == 20 and [] in seen and engine.accountant.history == [(4.0, 0.05, 20)]


# ---- refused
@pytest.mark.parametrize("options, text", [
    ({"clipping": "per_layer"}, "clipping='per_layer'"), ({"clipping": "adaptive"}, "clipping='adaptive'"),
    ({"grad_sample_mode": "ghost"}, "grad_sample_mode='ghost'"), ({"grad_sample_mode": "functorch"}, "'functorch'"),
    ({"noise_generator": torch.Generator()}, "noise_generator"), ({"rand_on_empty": True}, "rand_on_empty"),
    ({"max_grad_norm": [1.0, 1.0]}, "max_grad_norm"), ({"epochs": 2, "steps": 5}, "epochs= or steps="), ({"epochs": 0}, "epochs must be at least 1"),
    ({"poisson_sampling": False, "steps": 5}, "needs epochs="),
])
def test_refused(ledger, options, text):
    with pytest.raises(sotto.SottoError, match=text):
        begin(sotto.opacus.PrivacyEngine(ledger), **options)
    assert ledger.entries() == []


@pytest.mark.parametrize("options, text", [({"noise_multiplier": 0.0}, "noise_multiplier"), ({"max_grad_norm": -1.0}, "max_grad_norm"), ({"delta": 0.0}, "delta"), ({"delta": 0.0}, "delta")])
def test_refused_by_the_library(ledger, options, text):
    with pytest.raises(ValueError, match=text):
        train(*begin(sotto.opacus.PrivacyEngine(ledger), **options))
    assert ledger.entries() == []


def test_refused_engines(ledger):
    for options, text in (({"secure_mode": True}, "secure_mode"), ({"adjacency": "add-remove"}, "adjacency"), ({"ledger": "x.jsonl"}, "sotto.Ledger"),
                          ({"ledger": None, "purpose": "x"}, "purpose needs ledger=")):
        with pytest.raises(ValueError, match=text):
            sotto.opacus.PrivacyEngine(**{"ledger": ledger, **options})
    with pytest.raises(TypeError, match="no parameter 'porpose'"):
        sotto.opacus.PrivacyEngine(ledger, porpose="x")
    engine = sotto.opacus.PrivacyEngine(ledger)
    begin(engine)
    with pytest.raises(sotto.SottoError, match="has a training already"):
        begin(engine)


@long
def test_distributed_training_is_refused(ledger, tmp_path):
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/rendezvous", rank=0, world_size=1)
    try:
        module = opacus_ddp()(torch.nn.Linear(5, 2))
        with pytest.raises(sotto.SottoError, match="DistributedDataParallel"):
            begin(sotto.opacus.PrivacyEngine(ledger), module=module)
    finally:
        torch.distributed.destroy_process_group()


def opacus_ddp():
    from opacus.distributed import DifferentiallyPrivateDistributedDataParallel
    return DifferentiallyPrivateDistributedDataParallel


# ---- laws. A right program fails each with a probability below 1e-6; every test has controls that must fail.
def kolmogorov(x, law):
    """p-value of Kolmogorov and Smirnov's test, by the tail of the limit law."""
    x = np.sort(np.ravel(x))
    f, n = np.array([law(v) for v in x]), len(x)
    distance = max((np.arange(1, n + 1) / n - f).max(), (f - np.arange(n) / n).max())
    return min(1.0, 2 * math.exp(-2 * n * distance**2))


def normal(scale):
    return lambda v: 0.5 * math.erfc(-v / scale / math.sqrt(2))


def test_noise_is_gaussian_and_fresh(ledger):
    module = torch.nn.Linear(5, 4000)
    made = begin(sotto.opacus.PrivacyEngine(ledger), TensorDataset(torch.zeros(60, 5), torch.zeros(60).long(), torch.arange(60)), module,
                 noise_multiplier=0.8, max_grad_norm=2.0, steps=2)
    drawn = [(g - 0).numpy() for g, _ in gradients(*made, scale=0.0)]
    noise = np.concatenate(drawn)
    assert kolmogorov(noise, normal(1.6)) > 1e-7 and chi_square(noise / 1.6) < 6
    assert chi_square(noise / (1.6 * 1.04)) > 6  # controls: another scale, another law with the same variance
    assert kolmogorov(np.random.default_rng().logistic(0, 1.6 * math.sqrt(3) / math.pi, noise.size), normal(1.6)) < 1e-7
    assert abs(np.corrcoef(*drawn)[0, 1]) < 5.4 / math.sqrt(len(drawn[0]))


def chi_square(z):
    """How many standard deviations a sum of squares of standard normal z is from its mean."""
    z = np.ravel(z)
    return abs((z**2).sum() - z.size) / math.sqrt(2 * z.size)


def test_samples_are_poisson(ledger):
    steps, n, rate = 400, 300, 0.1
    made = begin(sotto.opacus.PrivacyEngine(ledger), TensorDataset(torch.zeros(n, 5), torch.zeros(n).long(), torch.arange(n)), steps=steps,
                 loader=DataLoader(TensorDataset(torch.zeros(n, 5), torch.zeros(n).long(), torch.arange(n)), batch_size=30))
    training, x = made[2].training, np.zeros((steps, n))
    training.restart()
    for k in range(steps):
        x[k, training.sample(k)] = 1

    def far(x, rate):
        """Sums over steps, over records, and of pairs of neighbours, in standard deviations."""
        z = (x - rate) / math.sqrt(rate * (1 - rate))
        return max(chi_square(z.sum(0) / math.sqrt(steps)), chi_square(z.sum(1) / math.sqrt(n)), abs(z.sum()) / math.sqrt(z.size),
                   abs((z[1:] * z[:-1]).sum()) / math.sqrt(z[1:].size), abs((z[:, 1:] * z[:, :-1]).sum()) / math.sqrt(z[:, 1:].size))

    assert far(x, rate) < 6
    assert far(x, rate * 1.1) > 6  # controls
    same_size = np.zeros_like(x)
    for row in same_size:
        row[np.random.default_rng().choice(n, 30, replace=False)] = 1
    assert far(same_size, rate) > 6


def test_step_k_takes_the_noise_of_batch_k(ledger):
    """Samples and noise of a seed are the same, however far ahead samples were drawn."""
    seen = []
    for workers in (0, 2):
        torch.manual_seed(2)
        made = begin(sotto.opacus.PrivacyEngine(ledger, insecure_seed=9), workers=workers)
        rows = train(*made)
        seen.append((rows, torch.cat([p.detach().reshape(-1) for p in made[0].parameters()])))
    assert seen[0][0] == seen[1][0] and torch.equal(seen[0][1], seen[1][1])


def test_other_versions_of_opacus(ledger, monkeypatch):
    monkeypatch.setattr("opacus.__version__", "1.7.0")
    with pytest.raises(NotImplementedError, match="written for Opacus 1.6, and this is 1.7.0"):
        sotto.opacus.PrivacyEngine(ledger)


def test_no_warning_of_opacus(ledger):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sotto.opacus.PrivacyEngine(ledger)

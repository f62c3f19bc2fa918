# %% [markdown]
# # Certify and verify
# A clinic releases two figures of its patients; a journal checks the certificates. Neither needs the other's files but those that are handed on.

# %%
import numpy as np

import sotto

rng = np.random.default_rng(2026)
ages = rng.integers(18, 95, (3000, 1)).astype(float)     # private
wards = rng.choice(5, 3000, p=[.4, .25, .2, .1, .05])    # private: one of five for each patient

# %% [markdown]
# ## The officer opens the ledger
# It is the one place where all releases of these people add up. The budget can be tightened, not widened.

# %%
ledger = sotto.Ledger("registry.jsonl", dataset="registry-2026", budget=(2.0, 1e-6), contact="privacy@clinic.example")
key = sotto.key.new("office.key")                        # office.key.pub goes to all who read certificates

# %% [markdown]
# ## The statistician releases
# The sensitivity of the mean is proved, as values are clipped in the call. Ledger entry first, then noise.

# %%
mean, certificate = sotto.release_statistic(ages, "mean", range=(0, 100), mechanism="laplace", epsilon=.5, ledger=ledger, purpose="mean age")
print(f"mean age {mean[0]:.2f}: {certificate.statement}")
np.save("age.npy", mean)
certificate.save("age.npy.certificate.json", output="age.npy")
certificate.sign("office.key")

# %% [markdown]
# Randomised response gives every patient deniability; counts are estimated from what comes out.

# %%
answers, second = sotto.randomise(wards, classes=5, epsilon=1, ledger=ledger, purpose="wards")
keep = np.e / (np.e + 4)                                 # probability of the true answer
estimate = (np.bincount(answers, minlength=5) / len(answers) - (1 - keep) / 4) / (keep - (1 - keep) / 4)
print("wards:", estimate.round(2), "-", second.statement)

# %% [markdown]
# A third release would exceed the budget. Nothing is charged by the attempt.

# %%
try:
    sotto.release_statistic(ages, "mean", range=(0, 100), mechanism="laplace", epsilon=1, ledger=ledger)
except sotto.BudgetExceeded as error:
    print(error)
print(ledger)

# %% [markdown]
# ## The journal verifies
# Everything that the certificate says is derived again and compared with the file, the ledger and the signature.

# %%
checked = sotto.verify("age.npy", ledger=ledger, trust="office.key.pub")
print(checked)
with open("certificate.html", "w", encoding="utf-8") as f:
    f.write(certificate.html(ledger=ledger))             # one page for those who must sign

# %% [markdown]
# A file that was changed by one bit is refused.

# %%
np.save("age.npy", np.nextafter(mean, 100))
try:
    sotto.verify("age.npy")
except sotto.GateFailed as error:
    print("refused:", error)

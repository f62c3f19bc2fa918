/* One row per defence: of posteriors first, then of embeddings. */
ROW(memguard)
ROW(uniform_confidence)
ROW(temperature)
ROW(attriguard)
ROW(attriguard_table)
ROW(olympus)

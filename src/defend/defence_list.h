/* One row per defence: of posteriors first, then of embeddings. */
ROW(memguard)
ROW(uniform_confidence)

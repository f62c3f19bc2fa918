/* One row per attack, in the order of reports: the attack that was chosen beforehand as the headline comes
 * first. */
ROW(loss)
ROW(confidence)
ROW(entropy)
ROW(modified_entropy)
ROW(correctness)
ROW(scores)

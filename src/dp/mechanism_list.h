/* One row per mechanism. */
ROW(logistic)
ROW(laplace)
ROW(gaussian)

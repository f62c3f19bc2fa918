/* One row per attack that queries a model or trains shadows, in the order of `sotto attack --help`. */
ROW(ml_leaks_3)

/* One row per attack that queries a model or trains shadows, in the order of `sotto attack list`. */
ROW(shokri)
ROW(ml_leaks_1)
ROW(ml_leaks_2)
ROW(ml_leaks_3)
ROW(ml_leaks_combined)
ROW(lira)
ROW(rmia)
ROW(long)

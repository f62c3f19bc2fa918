ROW(covariance)
ROW(functional)
ROW(functional_linear)
ROW(taylor)

ROW(adam)
ROW(sgd)

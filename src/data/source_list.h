/* ONE ROW PER REGISTERED SET, in the order of `sotto data list`. */
ROW(fashion_mnist)
ROW(synthetic_images)

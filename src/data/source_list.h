/* ONE ROW PER REGISTERED SET, in the order of `sotto data list`. */
ROW(fashion_mnist)
ROW(mnist)
ROW(cifar10)
ROW(adult)
ROW(location)
ROW(synthetic_images)
ROW(synthetic_blobs)
ROW(synthetic_purchase)

/* ONE ROW PER LAYOUT, most specific first. */
ROW(imported)
ROW(idx)
ROW(cifar10)
ROW(cifar100)
ROW(stl10)
ROW(image_folder)
ROW(npy)
ROW(csv)

/* ONE ROW PER LAYOUT, most specific first. */
ROW(imported)
ROW(idx)
ROW(cifar10)
ROW(cifar100)
ROW(stl10)
ROW(image_table)
ROW(published)
ROW(image_folder)
ROW(npy)
ROW(vcf)
ROW(csv)
#define PLUG_FORMAT ROW
#include "base/plugs.h"

/* The reference convolution once more, in double. */
#define NN_REAL double
#include "nn/ref/ref_conv.c"

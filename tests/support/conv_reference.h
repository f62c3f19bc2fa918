/* conv_reference.h - the reference convolution in double (tests/property/nn/conv_reference.c), which others are
 * held against. */
#define NN_REAL double
#include "nn/ref/ref_conv.h"
#undef NN_REAL

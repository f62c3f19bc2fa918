/* ref_real.h - the reference kernels are written over `real`: float in the library, double where a test
 * includes a kernel file after `#define NN_REAL double`, so that gradients can be checked to 1e-6. */
#ifndef NN_REF_REAL_H
#define NN_REF_REAL_H

#ifdef NN_REAL
typedef NN_REAL real;
#define REAL_NAME(name) name##_in_double
#else
typedef float real;
#define REAL_NAME(name) name
#endif

#endif

/* discretised_polynomials.h - made by tools/noise_polynomials.py; tests/property/dp/test_discretised_polynomials.c proves
 * how good they are. Coefficients, lowest first. */
#ifndef DP_NOISE_DISCRETISED_POLYNOMIALS_H
#define DP_NOISE_DISCRETISED_POLYNOMIALS_H

/* (2 atanh(f) - 2 f) / (f z), z = f^2 <= 0.04 */
static const double log_polynomial[7] = {0x1.555555555556dp-1, 0x1.999999997cd24p-2, 0x1.24924951743bbp-2,
                                         0x1.c71c3d608a2f4p-3, 0x1.746b9dab90793p-3, 0x1.390565d08943ep-3,
                                         0x1.3587371ccaae8p-3};

/* (sin(x) - x) / (x z), z = x^2 <= (pi / 4)^2 */
static const double sine_polynomial[6] = {-0x1.5555555555555p-3,  0x1.1111111110bb2p-7,
                                          -0x1.a01a019e83aaep-13, 0x1.71de37968a100p-19,
                                          -0x1.ae600b02b6262p-26, 0x1.5e0b19f8b1451p-33};

/* (cos(x) - 1 + z / 2) / z^2, z = x^2 <= (pi / 4)^2 */
static const double cosine_polynomial[6] = {0x1.5555555555555p-5,  -0x1.6c16c16c16967p-10,
                                            0x1.a01a019f4eb01p-16, -0x1.27e4fa17da09ep-22,
                                            0x1.1eeb68e93b64cp-29, -0x1.907da367a37cbp-37};

#endif

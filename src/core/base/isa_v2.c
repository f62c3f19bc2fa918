/* Keeps the v2 object library non-empty; kernels of this level come from the *.isa.c files. */
extern const int isa_level_v2;
const int isa_level_v2 = 1;

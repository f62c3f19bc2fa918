/* Keeps the v3 object library non-empty; kernels of this level come from the *.isa.c files. */
extern const int isa_level_v3;
const int isa_level_v3 = 1;

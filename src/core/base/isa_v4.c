/* Keeps the v4 object library non-empty; kernels of this level come from the *.isa.c files. */
extern const int isa_level_v4;
const int isa_level_v4 = 1;

/* Keeps the v4bf16 object library non-empty; kernels of this level come from the *.isa.c files. */
extern const int isa_level_v4bf16;
const int isa_level_v4bf16 = 1;

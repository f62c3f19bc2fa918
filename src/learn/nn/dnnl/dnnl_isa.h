/* dnnl_isa.h - the instruction sets that oneDNN uses here. */
#ifndef NN_DNNL_ISA_H
#define NN_DNNL_ISA_H

#include <dnnl.h>
#include <stdbool.h>

bool dnnl_has_isa(dnnl_cpu_isa_t wanted);

#endif

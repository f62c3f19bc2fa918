/* cpu_model.h - which processor this is, for keys of what was measured on it. */
#ifndef BASE_CPU_MODEL_H
#define BASE_CPU_MODEL_H

enum { CPU_MODEL = 256 };
/** One line, e.g. "AuthenticAMD 26 2 AMD EPYC"; "unknown" where the system does not say. */
void cpu_model(char out[CPU_MODEL]);

#endif

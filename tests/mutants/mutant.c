/* Stands in src/core/base of the copy that tools/check-mutants makes, where every file includes mutant.h (mutants.cmake). */
#include <stdlib.h>

int mutant_number;

__attribute__((constructor)) static void mutant_read(void)
{
    const char *text = getenv("SOTTO_MUTANT");
    mutant_number = text ? atoi(text) : 0;
}

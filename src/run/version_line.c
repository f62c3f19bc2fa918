/* The line that belongs into every bug report and run.json. */
#include "sotto/base.h"

#include <stdio.h>

#include "base/cpu.h"
#include "nn/nn.h"
#include "par/par.h"

const char *sotto_version_line(void)
{
    static _Thread_local char line[192]; /* its parts are known at run time only */
    const struct nn_backend *backend = NULL;
    const char *title =
        nn_backend_find(&backend, "auto") == SOTTO_OK ? nn_backend_title(backend) : "no backend";
    snprintf(line, sizeof line, "sotto %s (%s, ISA %s, OpenMP %s)", sotto_version(), title,
             cpu_isa_name(cpu_best_isa()), par_runtime());
    return line;
}

/* The line that belongs into every bug report and run.json. */
#include "sotto/base.h"

#include "base/cpu.h"
#include "nn/nn.h"
#include "par/par.h"

#include <stdio.h>

const char *sotto_version_line(void)
{
    static _Thread_local char line[192]; /* its parts are known at run time only */
    const struct nn_backend *dnnl = NULL;
    const char *library = nn_backend_find(&dnnl, "dnnl") == SOTTO_OK ? nn_backend_title(dnnl) : "no oneDNN";
    snprintf(line, sizeof line, "sotto %s (ISA %s, %s, OpenMP %s)", sotto_version(),
             cpu_isa_name(cpu_best_isa()), library, par_runtime());
    return line;
}

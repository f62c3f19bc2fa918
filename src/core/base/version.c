#include "sotto/base.h"

const char *sotto_version(void)
{
    return SOTTO_VERSION;
}

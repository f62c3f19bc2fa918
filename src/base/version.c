#include "sotto/base.h"

const char *sotto_version(void)
{
    return SOTTO_VERSION;
}

int sotto_abi_version(void)
{
    return SOTTO_ABI_VERSION;
}

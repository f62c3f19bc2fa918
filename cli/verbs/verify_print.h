/* verify_print.h - what `sotto verify` and `sotto account --verify` do. */
#ifndef CLI_VERBS_VERIFY_PRINT_H
#define CLI_VERBS_VERIFY_PRINT_H

#include "sotto/private/all.h"

/** sotto_verify(), printed: lines for people, or one JSON object. Also on EGATE. */
sotto_status verify_print(const char *file, const char *released, const char *ledger,
                          const char *const *trust, const struct sotto_context *ctx, int json);

#endif

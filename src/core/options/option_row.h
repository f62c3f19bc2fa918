/* option_row.h - shorthand for the rows of one struct's table; define OPTIONS_OF to the struct first. */
#ifndef OPTIONS_OPTION_ROW_H
#define OPTIONS_OPTION_ROW_H

#include "sotto/option.h"

#define MEMBER(member) .key = #member, .offset = offsetof(OPTIONS_OF, member)
#define FLAG(member) .type = SOTTO_OPTION_FLAG, MEMBER(member)
#define TEXT(member, u) .type = SOTTO_OPTION_TEXT, .unit = u, MEMBER(member)
#define COUNT(member, u) .type = SOTTO_OPTION_COUNT, .unit = u, MEMBER(member)
#define SEED(member)                                                                                         \
    .type = SOTTO_OPTION_SEED, .unit = "N", .range = "[0,9223372036854775807]", MEMBER(member)
#define ANY_SEED(member) .type = SOTTO_OPTION_SEED, .unit = "N", MEMBER(member)
#define REAL(member, u) .type = SOTTO_OPTION_REAL, .unit = u, MEMBER(member)
/* `names` in the order of the enum, whose 0 is the default. */
#define CHOICE(member, u, names) .type = SOTTO_OPTION_CHOICE, .unit = u, .range = names, MEMBER(member)
#define COUNTS(member, n, most, u)                                                                           \
    .type = SOTTO_OPTION_SIZES, .unit = u, .count = offsetof(OPTIONS_OF, n), .capacity = most, MEMBER(member)
#define SIZES(member, n, most) COUNTS(member, n, most, "WIDTHS")
#define LIST(member, u) .type = SOTTO_OPTION_LIST, .unit = u, MEMBER(member)
#define INPUT(member, u) .type = SOTTO_OPTION_INPUT, .unit = u, MEMBER(member)
#define ARRAY(member, axes, type) INPUT(member, "ARRAY"), .shape = axes, .dtype = type
/* As given: in single precision, or in double in a member of its own. */
#define ARRAY_EITHER(member, axes) ARRAY(member, axes, "f4|f8"), .count = offsetof(OPTIONS_OF, member##_f8)
#define REALS(member, n, u)                                                                                  \
    .type = SOTTO_OPTION_REALS, .unit = u, .count = offsetof(OPTIONS_OF, n), MEMBER(member)
/* Of scales, norms and epsilons: their products and squares are normal numbers. */
#define POSITIVE "[1e-100,1e100]"
/* The last row: how large the struct is. */
#define OPTIONS_END                                                                                          \
    {                                                                                                        \
        .capacity = sizeof(OPTIONS_OF)                                                                       \
    }

#endif

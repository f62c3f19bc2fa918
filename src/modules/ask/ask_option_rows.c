#include "options/option_row.h"
#include "options/module_tables.h"
#include "sotto/lab/ask.h"

#define OPTIONS_OF struct sotto_ask

const struct sotto_option options_ask[] = {
    {"queries", TEXT(queries_file, "FILE"), .group = "Table",
     .help = "more queries, one a line, behind those of the command line; a line that begins with # says "
             "nothing"},
    {"schema", TEXT(schema, "FILE.yaml"), .group = "Table",
     .help =
         "sotto.schema/1 of the table: bounds, categories and classes from other knowledge than the rows"},
    {"person", TEXT(person, "COLUMN"), .group = "Table",
     .help =
         "column of type person in the schema, which states it by default: of each person the first "
         "--rows-per-person rows count, or as many as the schema says, and the unit of privacy is a person; "
         "none: the unit is one record"},
    {"epsilon", REAL(target.epsilon, "E"), .range = POSITIVE, .group = "Noise",
     .help = "epsilon of all answers together, met with the smallest noise", .aliases = "eps"},
    {"delta", REAL(target.delta, "D"), .value = "0", .range = "[0,1)", .group = "Noise",
     .help = "delta of all answers together; 0: pure epsilon-DP with Laplace noise, above 0: Gaussian noise"},
    {"max-error", TEXT(max_error, "NAME=E"), .group = "Noise",
     .help = "instead of --epsilon: the smallest one at which 95 % of the answers to query NAME, a count or "
             "a sum, lie within "
             "E of what they are without noise"},
    {"weights", CHOICE(weights, "HOW", "equal|squares|largest"), .value = "equal", .group = "Noise",
     .help =
         "shares of the queries; squares: the least sum of squared errors; largest: the least largest error; "
         "'weight W' behind a query makes its error count W times"},
    {"raw", FLAG(raw), .value = "0", .group = "Output",
     .help = "each answer from its own noisy cells, counts as they are; without it, answers that agree, and "
             "whole counts"},
    {"simultaneous", FLAG(simultaneous), .value = "0", .group = "Output",
     .help = "intervals that hold all at once with 95 % probability, not each by itself"},
    {"population", FLAG(population), .value = "0", .group = "Output",
     .help = "intervals of the population that the rows, or persons, are a random sample of, approximately; "
             "without it, of the noise alone"},
    {"output", TEXT(output, "OUT.csv|.json"), .group = "Output",
     .help = "answers, one row for each cell; .json: sotto.answers/1, with the noisy cells; the certificate "
             "goes to OUT.certificate.json"},
    OPTIONS_END};

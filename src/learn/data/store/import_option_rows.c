#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/data.h"

#define OPTIONS_OF struct sotto_import_options
#define CSV_TABLES "Tables of text"

const struct sotto_option options_import[] = {
    {"size", INPUT(height, "HxW"), .group = "Import and fetch",
     .help = "size in pixels to which images are resized: image folders and STL-10 (default: the most common "
             "size)"},
    {"label", TEXT(label, "COLUMN"), .group = "Import and fetch",
     .help = "label column of a table: first, last or a name (default: detected); CIFAR-100: fine (default) "
             "or coarse"},
    {"attribute", TEXT(attribute, "COLUMN"), .group = "Import and fetch",
     .help = "attribute of images: a column of CelebA (A+B: both combined) or of labels.csv; UTKFace: race, "
             "gender or age"},
    {"part", TEXT(part, "PART"), .group = "Import and fetch",
     .help = "part of STL-10: labelled (default) or unlabelled (import)"},
    {"separator", TEXT(separator, "WORD"), .group = CSV_TABLES,
     .help = "between the cells of a table: comma, semicolon, tab or pipe (import; default: found)"},
    {"missing", TEXT(missing, "TEXTS"), .group = CSV_TABLES,
     .help = "cells that stand for no value, such as 'NA,?,none', beside the empty one (import; default: "
             "?,NA,N/A,n/a,NaN,nan,null,NULL)"},
    {"types", TEXT(types, "COLUMN=TYPE,..."), .group = CSV_TABLES,
     .help = "number or category for single columns (import; default: a column of numbers has nothing else)"},
    {"drop", TEXT(drop, "COLUMNS"), .group = CSV_TABLES,
     .help = "columns to leave out, such as identifiers (import)"},
    {"no-header", FLAG(no_header), .value = "0", .group = CSV_TABLES,
     .help = "the first row is a record, not a row of names (import; default: found)"},
    {"drop-bad-rows", FLAG(drop_bad_rows), .value = "0", .group = CSV_TABLES,
     .help =
         "leave out rows of another number of cells, without a label or without a number where --types "
         "expects one, instead of refusing the table; each depends on its own row only, but the number of "
         "records that remain is public (import)"},
    {"loci", TEXT(loci, "FILE"), .group = "Import and fetch",
     .help = "public list of the loci of genotypes: CSV with id, allele, frequency and maybe other (import)"},
    {"person", TEXT(person, "COLUMN"), .group = "Import and fetch",
     .help = "column of a table that names the person of each row, the unit of privacy then, and is no "
             "feature; none: one record is the unit (import)"},
    {"rows-per-person", COUNT(rows_per_person, "M"), .value = "0", .range = "[0,1048576]",
     .group = "Import and fetch",
     .help = "rows that are kept of each person, the first ones (import; with --person)"},
    {"absent", TEXT(absent, "WORD"), .group = "Import and fetch",
     .help = "genotypes at loci of --loci that the file has no line for: none (no copy of the listed allele) "
             "or frequency (unknown) (import; default: refused)"},
    {"labels-from", COUNT(labels_from, "N"), .value = "0", .range = "[0,1]", .group = "Import and fetch",
     .help = "number of the first class in labels of arrays, 0 or 1"},
    OPTIONS_END};

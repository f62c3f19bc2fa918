#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/lab/data.h"

#define OPTIONS_OF struct sotto_import_options
#define CSV_TABLES "Tables of text"

const struct sotto_option options_import[] = {
    {"size", INPUT(height, "HxW"), .group = "Import and fetch",
     .help = "size in pixels to which images are resized (default: the most common size); for image folders "
             "and STL-10"},
    {"drop-bad-images", FLAG(drop_bad_images), .value = "0", .group = "Import and fetch",
     .help =
         "images that cannot be read are left out and named, instead of refusing the set; each is judged by "
         "itself, but the number of records that remain is public; for folders and archives of images"},
    {"label", TEXT(label, "COLUMN"), .group = "Import and fetch",
     .help = "label column of a table: first, last or a name (default: detected); CIFAR-100: fine (default) "
             "or coarse"},
    {"attribute", TEXT(attribute, "COLUMN"), .group = "Import and fetch",
     .help = "attribute of images: a column of labels.csv"},
    {"part", TEXT(part, "PART"), .group = "Import and fetch",
     .help = "part of STL-10: labelled (default) or unlabelled (import)"},
    {"separator", TEXT(separator, "WORD"), .group = CSV_TABLES,
     .help = "separator of a table's cells: comma, semicolon, tab or pipe (default: found)"},
    {"encoding", TEXT(encoding, "NAME"), .group = CSV_TABLES,
     .help = "text of a table that is not UTF-8: latin-1 or windows-1252 (default: the schema's)"},
    {"decimal", TEXT(decimal, "WORD"), .group = CSV_TABLES,
     .help = "comma: numbers are written as 12,5 (default: point); 'data schema' finds it"},
    {"state", TEXT(state, "COLUMN=VALUES,..."), .group = CSV_TABLES,
     .help =
         "what you know of columns without these rows: bounds (age=0:110, with a number for missing "
         "cells crp=0:500:5), days (since=2015-01-01:2024-12-31), categories or classes (sex=f|m); schema"},
    {"missing", TEXT(missing, "TEXTS"), .group = CSV_TABLES,
     .help = "cells without a value, such as 'NA,none'; an empty cell is always one (default: "
             "?,NA,N/A,n/a,NaN,nan,null,NULL)"},
    {"types", TEXT(types, "COLUMN=TYPE,..."), .group = CSV_TABLES,
     .help = "type of single columns: number, date or category; by default a column is a number or a date if "
             "all its cells are"},
    {"drop", TEXT(drop, "COLUMNS"), .group = CSV_TABLES, .help = "columns to leave out, such as identifiers"},
    {"no-header", FLAG(no_header), .value = "0", .group = CSV_TABLES,
     .help = "first row is a record, not a row of names (default: found)"},
    {"drop-bad-rows", FLAG(drop_bad_rows), .value = "0", .group = CSV_TABLES,
     .help = "bad rows are left out, instead of refusing the table; a bad row has another number of cells, "
             "no label, or no number where --types expects one; each is judged by itself, but the number of "
             "records that remain is public"},
    {"loci", TEXT(loci, "FILE"), .group = "Import and fetch",
     .help = "public list of the loci of genotypes: CSV with id, allele, frequency and maybe other; import"},
    {"person", TEXT(person, "COLUMN"), .group = "Import and fetch",
     .help = "column of a table that names the person of each row, who is then the unit of privacy; the "
             "column is no feature; none: one record is the unit (import)"},
    {"rows-per-person", COUNT(rows_per_person, "M"), .value = "0", .range = "[0,1048576]",
     .group = "Import and fetch",
     .help = "rows to keep of each person, the first ones; import with --person"},
    {"absent", TEXT(absent, "WORD"), .group = "Import and fetch",
     .help = "genotypes at loci of --loci that the file has no line for: none (no copy of the listed allele) "
             "or frequency (unknown) (import; default: refused)"},
    {"labels-from", COUNT(labels_from, "N"), .value = "0", .range = "[0,1]", .group = "Import and fetch",
     .help = "number of the first class in labels of arrays, 0 or 1"},
    OPTIONS_END};

#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/lab/data.h"

#define OPTIONS_OF struct sotto_fetch_options

const struct sotto_option options_fetch[] = {
    {"url", TEXT(url, "URL"), .group = "Import and fetch",
     .help = "https address of the download (default: the official one); fetch"},
    {"sha256", TEXT(sha256, "HEX"), .group = "Import and fetch",
     .help = "SHA-256 of the file at --url, for files unknown to sotto; fetch"},
    {"keep", FLAG(keep), .value = "0", .group = "Import and fetch",
     .help = "downloaded file kept after the import; fetch"},
    OPTIONS_END};

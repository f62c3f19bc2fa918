/* A small table with a schema, in a folder of its own with its own data folder; for the tests of
 * encodings. */
#ifndef TESTS_TABLE_FILES_H
#define TESTS_TABLE_FILES_H

#include "support/data_files.h"
#include "io/array/npy.h"
#include "io/json/json.h"
#include "sotto/lab/data.h"
#include "sotto/lab/provenance.h"

static char folder[64];

static const char people_schema[] =
    "schema: sotto.schema/1\n"
    "columns:\n"
    "  - {name: age, type: number, bounds: [20, 60], fill: 30}\n"
    "  - {name: note, type: ignore}\n"
    "  - {name: job, type: category, categories: [cook, nurse, '3']}\n"
    "  - {name: town, type: category, categories: [north, south], other: south}\n"
    "  - {name: ill, type: label, classes: ['no', 'yes'], other: 'yes'}\n";
enum { PEOPLE = 8 };
static const char *const people[PEOPLE] = {
    "20,a,cook,north,no",  "40,b,nurse,south,yes", "60,c,cook,north,no", "30,d,nurse,north,no",
    "50,e,cook,south,yes", "25,f,3,north,yes",     "35,g,cook,south,no", "45,h,nurse,north,yes"};

static inline const char *in_folder(const char *name)
{
    static char paths[32][200]; /* enough for one call and what it compares with */
    static int next;
    char *path = paths[next++ % 32];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline int table_set_up(void **state)
{
    (void)state;
    files_folder(folder);
    setenv("SOTTO_DATA_DIR", in_folder("data"), 1);
    setenv("XDG_DATA_HOME", in_folder("xdg"), 1);
    files_write_text(folder, "schema.yaml", people_schema);
    return 0;
}

static inline int table_tear_down(void **state)
{
    (void)state;
    files_remove(folder);
    return 0;
}

static inline void succeed(sotto_status status)
{
    if (status != SOTTO_OK)
        fail_msg("%s (%s)", sotto_error_text(), sotto_status_name(status));
}

static inline void refuse(sotto_status status, sotto_status expected, const char *part)
{
    if (status != expected || !strstr(sotto_error_text(), part))
        fail_msg("status %s, text '%s'; expected %s with '%s'", sotto_status_name(status), sotto_error_text(),
                 sotto_status_name(expected), part);
}

/* The people, with record `at` replaced by `other` (NULL: as they are), imported as `name`. */
static inline void import_people(const char *name, size_t at, const char *other, const char *schema)
{
    char text[1024] = "age,note,job,town,ill\n";
    for (size_t i = 0; i < PEOPLE; i++) {
        strcat(text, other && i == at ? other : people[i]);
        strcat(text, "\n");
    }
    files_write_text(folder, "people.csv", text);
    struct sotto_import_options options = {.schema = schema,
                                           .label = schema ? NULL : "ill",
                                           .dataset_id = strcmp(name, "declared") == 0 ? "people" : NULL};
    succeed(sotto_data_import(in_folder("people.csv"), name, &options, NULL));
}

static inline struct sotto_array load_array(const char *name)
{
    struct sotto_array a = {0};
    succeed(npy_load(&a, in_folder(name)));
    return a;
}

static inline struct sotto_provenance load_provenance(const char *name)
{
    struct sotto_provenance p = {0};
    succeed(sotto_provenance_load(&p, in_folder(name)));
    return p;
}

#endif

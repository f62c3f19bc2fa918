/* src/learn/data/encoding*: schemas, what they make of cells, how parts are stamped, and queries from new
 * tables. */
#include "support/test.h"

#include "base/file.h"
#include "io/json/json.h"
#include "data/encoding/encoding.h"
#include "io/provenance/statement.h"
#include "sotto/lab/train.h"
#include "sotto/release.h"
#include "support/table_files.h"

#include <math.h>

static const struct sotto_data_part all_of_them[] = {{.name = "all", .n = PEOPLE}};

static struct sotto_table_encoding *schema_of(const char *text)
{
    struct sotto_table_encoding *e = NULL;
    succeed(encoding_parse_schema(&e, text, strlen(text), "s.yaml"));
    return e;
}

TEST(a_schema_decides_what_cells_become)
{
    struct sotto_table_encoding *e = schema_of(people_schema);
    assert_int_equal(e->how, SOTTO_ENCODING_DECLARED);
    assert_int_equal(sotto_table_encoding_width(e), 6);
    static const struct {
        size_t column;
        const char *cell;
        float out[3];
    } cases[] = {{0, "20", {-1}},         {0, "60", {1}},         {0, "45", {.25F}},    {0, "1e15", {1}},
                 {0, "-inf", {-1}},       {0, "", {-.5F}},        {0, "?", {-.5F}},     {0, "nan", {-.5F}},
                 {0, "forty", {-.5F}},    {2, "cook", {1, 0, 0}}, {2, "3", {0, 0, 1}},  {2, "3.0", {0, 0, 1}},
                 {2, "pilot", {0, 0, 0}}, {2, "", {0, 0, 0}},     {3, "north", {1, 0}}, {3, "west", {0, 1}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct encoding_column *c = &e->columns[cases[i].column];
        float out[3];
        size_t width = encoding_width(c);
        assert_ptr_equal(encoding_write(out, e, c, cell_of_text(cases[i].cell)), out + width);
        for (size_t k = 0; k < width; k++)
            if (out[k] != cases[i].out[k])
                fail_msg("%s: value %zu is %g", cases[i].cell, k, (double)out[k]);
    }
    assert_int_equal(encoding_class(e, cell_of_text("no")), 0);
    assert_int_equal(encoding_class(e, cell_of_text("perhaps")), 1);
    sotto_table_encoding_free(e);
}

TEST(decimal_commas_dates_prefixes_and_missing_bits)
{
    struct sotto_table_encoding *e = schema_of(
        "schema: sotto.schema/1\nencoding: windows-1252\nmissing: ['', 'none given']\ncolumns:\n"
        "  - {name: crp, type: number, bounds: [0, 8], decimal: comma, fill: 2, was_missing: true}\n"
        "  - {name: in, type: date, between: [2020-01-01, 2020-12-31], was_missing: true}\n"
        "  - {name: icd, type: category, prefix: 3, categories: [I21, 'Köl', E11]}\n"
        "  - {name: y, type: label, classes: [a, b]}\n");
    assert_int_equal(sotto_table_encoding_width(e), 2 + 4 + 3);
    assert_int_equal(e->text, TEXT_WINDOWS_1252);
    static const struct {
        size_t column;
        const char *cell;
        float out[4];
    } cases[] = {{0, "6,0", {.5F, 0}},
                 {0, "4", {0, 0}},
                 {0, "none given", {-.5F, 1}},
                 {0, "1.234", {-.5F, 1}}, /* a thousand, or a little: nobody knows */
                 {1, "2020-01-01", {-1, -1, -1, 0}},
                 {1, "01.01.2020", {-1, -1, -1, 0}},
                 {1, "31.12.2020", {1, -1, 1, 0}},
                 {1, "2020-12-31T10:30:00", {1, -1, 1, 0}},
                 {1, "1999-12-31", {-1, -1, -1, 0}},
                 {1, "30.02.2020", {0, -1, .5F / 5.5F, 1}},
                 {1, "2020", {0, -1, .5F / 5.5F, 1}},
                 {2, "I21.9", {1, 0, 0}},
                 {2, "I21", {1, 0, 0}},
                 {2, "I2", {0, 0, 0}},
                 {2, "K\xc3\xb6ln", {0, 1, 0}},
                 {2, "", {0, 0, 0}}};
    for (int saved = 0; saved < 2; saved++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const struct encoding_column *c = &e->columns[cases[i].column];
            float out[4];
            assert_ptr_equal(encoding_write(out, e, c, encoding_cell(c, cases[i].cell)),
                             out + encoding_width(c));
            for (size_t k = 0; k < encoding_width(c); k++)
                if (!(fabsf(out[k] - cases[i].out[k]) <= 1e-6F))
                    fail_msg("%s: value %zu is %g", cases[i].cell, k, (double)out[k]);
        }
        struct sotto_table_encoding *again = NULL;
        char *text = NULL;
        succeed(encoding_text(&text, e));
        succeed(sotto_table_encoding_parse(&again, text, "again"));
        sotto_text_free(text);
        sotto_table_encoding_free(e);
        e = again; /* the same from the document */
        assert_int_equal(e->text, TEXT_WINDOWS_1252);
    }
    sotto_table_encoding_free(e);
}

TEST(days_are_those_of_the_calendar)
{
    static const struct {
        const char *text;
        double days;
    } cases[] = {{"1970-01-01", 0},       {"1969-12-31", -1},     {"2000-02-29", 11016},
                 {"1.3.2000", 11017},     {"2020-08-14", 18488},  {"14.08.2020", 18488},
                 {"0001-01-01", -719162}, {"9999-12-31", 2932896}};
    static const char *const none[] = {"1900-02-29", "31.04.2021", "2020-13-01", "2020-00-10",
                                       "0.1.2020",   "14/08/2020", "14.08.20",   "2020-08-14x",
                                       "",           "-1-1-1",     "14.08.2020 "};
    char text[16];
    double days;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(number_of_form(&days, cases[i].text, NUMBER_DATE));
        assert_true(days == cases[i].days);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (number_of_form(&days, none[i], NUMBER_DATE))
            fail_msg("'%s' became day %g", none[i], days);
    for (double day = -719162; day <= 2932896; day += 97) {
        assert_true(number_of_form(&days, date_text(text, day), NUMBER_DATE));
        assert_true(days == day);
    }
}

TEST(texts_of_one_byte_a_character_are_recognised_and_read)
{
    static const struct {
        const char *text;
        enum text_encoding is;
        const char *utf8;
    } cases[] = {{"plain", TEXT_UTF8, "plain"},
                 {"K\xc3\xb6ln", TEXT_UTF8, "K\xc3\xb6ln"},
                 {"K\xf6ln", TEXT_LATIN_1, "K\xc3\xb6ln"},
                 {"K\xf6ln \x80", TEXT_WINDOWS_1252, "K\xc3\xb6ln \xe2\x82\xac"},
                 {"\x84"
                  "a\x93",
                  TEXT_WINDOWS_1252,
                  "\xe2\x80\x9e"
                  "a\xe2\x80\x9c"},
                 {"K\xc3\xb6ln \xf6", TEXT_UTF8, "K\xc3\xb6ln \xf6"}}; /* one bad byte makes no other text */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *made = NULL;
        size_t size;
        assert_int_equal(text_encoding_of(cases[i].text, strlen(cases[i].text)), cases[i].is);
        succeed(text_to_utf8(&made, &size, cases[i].text, strlen(cases[i].text), cases[i].is));
        assert_string_equal(made, cases[i].utf8);
        assert_int_equal(size, strlen(made));
        base_free(made);
    }
}

TEST(bad_schemas_are_refused)
{
#define COLUMNS "schema: sotto.schema/1\ncolumns:\n"
#define LABEL "  - {name: y, type: label, classes: [a, b]}\n"
    static const char *const cases[][2] = {
        {"", "s.yaml"},
        {"schema: sotto.schema/2\ncolumns: []\n",
         "s.yaml:1:1: schema must be sotto.schema/1 (got 'sotto.schema/2')"},
        {COLUMNS LABEL, "describes 1 columns; expected a label and at least one other"},
        {COLUMNS "  - {name: x, type: number}\n" LABEL,
         "s.yaml:3:6: number column 'x' has no bounds; expected 'bounds: [low, high]' with low < high, "
         "chosen "
         "without looking at private rows"},
        {COLUMNS "  - {name: x, type: number, bounds: [3, 3]}\n" LABEL,
         "s.yaml:3:29: number column 'x' has no bounds; expected 'bounds: [low, high]' with low < high, "
         "chosen "
         "without looking at private rows"},
        {COLUMNS "  - {name: x, type: number, bounds: [1, 2, 3]}\n" LABEL,
         "has no bounds; expected 'bounds: [low, high]' with low < high, chosen without looking at private "
         "rows"},
        {COLUMNS "  - {name: x, type: number, bounds: [0, 1e31]}\n" LABEL,
         "must be a number in [-1e+30, 1e+30]"},
        {COLUMNS "  - {name: x, type: number, bounds: [0, 1], fill: 2}\n" LABEL,
         "fill 2 of column 'x' is outside of its bounds"},
        {COLUMNS "  - {name: x, type: number, bounds: [0, 1], classes: [a]}\n" LABEL,
         "'classes' is only a key of columns of type label, not of type number"},
        {COLUMNS "  - {name: x, type: text}\n" LABEL,
         "must be number, date, category, label, person or ignore (got 'text')"},
        {COLUMNS "  - {name: x, type: category}\n" LABEL,
         "column 'x' has no categories; expected categories: [value, ...]"},
        {COLUMNS "  - {name: x, type: category, categories: [a, a]}\n" LABEL,
         "column 'x': 'a' and 'a' are the same value"},
        {COLUMNS "  - {name: x, type: category, categories: ['1', a, '1.0']}\n" LABEL,
         "'1' and '1.0' are the same value"},
        {COLUMNS "  - {name: x, type: category, categories: [a], other: b}\n" LABEL,
         "'b' is not among the categories of column 'x'"},
        {COLUMNS LABEL
         "  - {name: z, type: ignore}\n  - {name: x, type: category, categories: [a], other: b}\n",
         "s.yaml:5:48: 'b' is not among the categories of column 'x'"},
        {COLUMNS "  - {name: x, type: ignore}\n" LABEL, "has no column of kind number or category"},
        {COLUMNS "  - {name: y, type: number, bounds: [0, 1]}\n" LABEL,
         "column 1 is called 'y' like another column; expected different names"},
        {COLUMNS "  - {name: x, type: number, bounds: [0, 1]}\n", "describes 1 columns"},
        {COLUMNS "  - {name: x, type: number, bounds: [0, 1]}\n  - {name: z, type: ignore}\n",
         "no column is the label"},
        {COLUMNS LABEL "  - {name: z, type: label, classes: [a, b]}\n", "column 'y' is a second label"},
        {COLUMNS "  - {name: x, type: number, bounds: [0, 1]}\n  - {name: y, type: label, classes: [a]}\n",
         "label 'y' has 1 classes"},
        {COLUMNS "  - {name: x, type: number, bounds: [0, 1], bound: 2}\n" LABEL,
         "unknown key 'bound' under columns[0]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_table_encoding *e = NULL;
        refuse(encoding_parse_schema(&e, cases[i][0], strlen(cases[i][0]), "s.yaml"), SOTTO_ECONFIG,
               cases[i][1]);
        assert_null(e);
    }
}

TEST(a_document_comes_back)
{
    struct sotto_table_encoding *e = schema_of(people_schema), *copy = NULL;
    char *text = NULL, *again = NULL;
    succeed(encoding_text(&text, e));
    succeed(sotto_table_encoding_parse(&copy, text, "encoding.json"));
    succeed(encoding_text(&again, copy));
    assert_string_equal(text, again);
    assert_int_equal(copy->classes.count, 2);
    assert_string_equal(copy->classes.texts[1], "yes");
    assert_int_equal(copy->columns[3].other, 1);
    assert_int_equal(copy->columns[2].other, 3);
    sotto_text_free(text);
    sotto_text_free(again);
    sotto_table_encoding_free(e);
    sotto_table_encoding_free(copy);
}

TEST(damaged_documents_are_refused)
{
    static const char *const cases[][3] = {
        /* what stands there, what stands there then, the complaint */
        {"sotto.encoding/1", "sotto.encoding/2", "'schema' is 'sotto.encoding/2'"},
        {"\"declared\"", "\"none\"", "'encoding' is 'none'; expected public"},
        {"\"width\":6", "\"width\":7", "'width' is 7; the columns add up to 6"},
        {"[20.0,60.0]", "[60.0,20.0]", "column 'age': expected finite numbers with low < high"},
        {"[20.0,60.0]", "[20.0,null]", "column 'age': expected finite numbers"},
        {"[20.0,60.0]", "[20.0]", "'bounds' of column 'age' are not [low, high]"},
        {"\"missing\":30.0", "\"missing\":10.0", "missing within the bounds"},
        {"\"north\",\"south\"", "\"south\",\"south\"", "'south' and 'south' are the same value"},
        {"\"other\":\"south\"", "\"other\":\"west\"",
         ": 'other' is 'west', which is not one of the listed values"},
        {"\"ignore\"", "\"forget\"", "column 'note' is of kind 'forget'"},
        {"\"position\":4", "\"position\":9", "'label.position' is 9; expected at most 4"},
        {"[\"no\",\"yes\"]", "[\"no\",7]", "'label.class_names[1]' is not a text"},
        {"\"name\":\"job\"", "\"name\":\"age\"",
         "column 3 is called 'age' like another column; expected different names"},
    };
    struct sotto_table_encoding *e = schema_of(people_schema);
    char *text = NULL, changed[4096];
    succeed(encoding_text(&text, e));
    sotto_table_encoding_free(e);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = strstr(text, cases[i][0]);
        if (!at)
            fail_msg("'%s' is not in %s", cases[i][0], text);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, cases[i][1],
                 at + strlen(cases[i][0]));
        e = NULL;
        refuse(sotto_table_encoding_parse(&e, changed, "e.json"), SOTTO_EFORMAT, cases[i][2]);
        assert_null(e);
    }
    sotto_text_free(text);
}

/* Rows of a part in the order of the set. */
static void expect_rows(const char *part, const float *expected, size_t width)
{
    char name[64];
    snprintf(name, sizeof name, "%s-features.npy", part);
    struct sotto_array x = load_array(name);
    snprintf(name, sizeof name, "%s-rows.npy", part);
    struct sotto_array rows = load_array(name);
    assert_int_equal(x.shape[1], width);
    for (size_t i = 0; i < x.shape[0]; i++)
        for (size_t j = 0; j < width; j++) {
            int64_t row = ((const int64_t *)rows.data)[i];
            assert_float_equal(((const float *)x.data)[i * width + j], expected[(size_t)row * width + j],
                               1e-6);
        }
    sotto_array_clear(&x);
    sotto_array_clear(&rows);
}

static const float declared_rows[PEOPLE * 6] = {
    -1,  1, 0, 0, 1, 0, 0,     0, 1, 0, 0, 1, 1,     1, 0, 0, 1, 0, -.5F, 0, 1, 0, 1, 0,
    .5F, 1, 0, 0, 0, 1, -.75F, 0, 0, 1, 1, 0, -.25F, 1, 0, 0, 0, 1, .25F, 0, 1, 0, 1, 0};

TEST(a_schema_at_the_import_or_at_the_split_is_the_same)
{
    const struct sotto_split_options at_import = {.one_hot = 1, .seed = 3},
                                     at_split = {.one_hot = 1, .seed = 3, .schema = in_folder("schema.yaml")};
    import_people("declared", 0, NULL, in_folder("schema.yaml"));
    import_people("raw", 0, NULL, NULL);
    succeed(sotto_data_split(in_folder("a"), "declared", all_of_them, 1, &at_import, NULL));
    succeed(sotto_data_split(in_folder("b"), "raw", all_of_them, 1, &at_split, NULL));
    expect_rows("a/all", declared_rows, 6);
    expect_rows("b/all", declared_rows, 6);
    struct sotto_provenance p = load_provenance("a/all-features.npy");
    assert_int_equal(p.encoding, SOTTO_ENCODING_DECLARED);
    assert_string_equal(p.classes_by, "the schema");
    assert_string_equal(p.class_names[1], "yes");
    assert_string_equal(p.set, "declared");
    assert_int_equal(p.n, PEOPLE);
    assert_null(provenance_condition(&p));
    sotto_provenance_clear(&p);
}

TEST(fitted_parts_carry_the_stamp)
{
    const struct sotto_split_options options = {.one_hot = 1, .seed = 3};
    import_people("raw", 0, NULL, NULL);
    succeed(sotto_data_split(in_folder("f"), "raw", all_of_them, 1, &options, NULL));
    struct sotto_provenance p = load_provenance("f/all-features.npy");
    assert_int_equal(p.encoding, SOTTO_ENCODING_FITTED);
    assert_string_equal(p.classes_by, ""); /* the rows decided them: not public */
    assert_int_equal(p.classes, 0);
    assert_non_null(strstr(provenance_condition(&p), "fitted on these records"));
    sotto_provenance_clear(&p);
    struct sotto_table_encoding *e = NULL;
    succeed(sotto_table_encoding_load(&e, in_folder("f/encoding.json")));
    assert_int_equal(e->how, SOTTO_ENCODING_FITTED);
    assert_float_equal(e->columns[0].centre, 38.125, 1e-12); /* 305 / 8 */
    assert_float_equal(1 / (e->columns[0].scale * e->columns[0].scale), 155.859375, 1e-9);
    assert_int_equal(sotto_table_encoding_width(e), 1 + 8 + 3 + 2);
    sotto_table_encoding_free(e);
    e = NULL;
    succeed(encoding_beside(&e, in_folder("f/all-features.npy")));
    assert_null(e); /* it holds private statistics and must not travel */
    assert_null(provenance_condition(NULL));
}

TEST(parts_as_they_are_say_who_made_the_codes)
{
    struct sotto_import_options options = {.label = "y"};
    files_write_text(folder, "numbers.csv", "x,y\n1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n7,0\n8,1\n");
    files_write_text(folder, "numbers.yaml",
                     "schema: sotto.schema/1\ncolumns:\n  - {name: x, type: number, bounds: [0, 9]}\n"
                     "  - {name: y, type: label, classes: [0, 1]}\n");
    succeed(sotto_data_import(in_folder("numbers.csv"), "numbers", &options, NULL));
    options = (struct sotto_import_options){.schema = in_folder("numbers.yaml")};
    succeed(sotto_data_import(in_folder("numbers.csv"), "declared", &options, NULL));
    static const struct {
        const char *set;
        enum sotto_encoding encoding;
        const char *by;
    } cases[] = {{"declared", SOTTO_ENCODING_DECLARED, "the schema"},
                 {"numbers", SOTTO_ENCODING_NONE, ""},
                 {"synthetic-blobs-d4-k2-n20", SOTTO_ENCODING_NONE, "the data set's description"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        succeed(sotto_data_split(in_folder("p"), cases[i].set, all_of_them, 1, NULL, NULL));
        struct sotto_provenance p = load_provenance("p/all-features.npy");
        assert_int_equal(p.encoding, cases[i].encoding);
        assert_string_equal(p.classes_by, cases[i].by);
        assert_int_equal(p.classes, cases[i].by[0] ? 2 : 0);
        assert_string_equal(p.set, cases[i].set);
        sotto_provenance_clear(&p);
    }
}

/* Neither a split nor a training takes codes for numbers. */
TEST(codes_and_gaps_need_an_encoding)
{
    struct sotto_import_options options = {.label = "y"};
    struct sotto_dataset *d = NULL;
    struct sotto_network *n = NULL;
    int64_t rows[] = {0, 1};
    import_people("codes", 0, NULL, NULL);
    import_people("codes-declared", 0, NULL, in_folder("schema.yaml"));
    files_write_text(folder, "gaps.csv", "x,y\n1,0\n,1\n3,0\n4,1\n5,0\n6,1\n7,0\n8,1\n");
    succeed(sotto_data_import(in_folder("gaps.csv"), "gaps", &options, NULL));
    static const char *const sets[] = {"codes", "codes-declared", "gaps"};
    for (size_t i = 0; i < 3; i++) {
        refuse(sotto_data_split(in_folder("never"), sets[i], all_of_them, 1, NULL, NULL), SOTTO_EINVAL,
               "expected an encoding");
        succeed(sotto_dataset_open(&d, sets[i], NULL));
        const struct sotto_train_options mlp = {.model = "mlp"};
        refuse(sotto_train(&n, NULL, d, rows, 2, &mlp, NULL), SOTTO_EINVAL, "expected an encoding");
        sotto_dataset_free(d);
        const struct sotto_split_options encoded = {.one_hot = 1};
        succeed(sotto_data_split(in_folder(sets[i]), sets[i], all_of_them, 1, &encoded, NULL));
    }
    assert_false(file_exists(in_folder("never")));
    struct sotto_array x = load_array("gaps/all-features.npy");
    double sum = 0; /* the gap became the mean */
    for (size_t i = 0; i < x.count; i++)
        sum += (double)((const float *)x.data)[i];
    assert_true(fabs(sum) < 1e-5);
    sotto_array_clear(&x);
}

TEST(public_rows_decide_kinds_categories_and_classes)
{
    const struct sotto_data_part parts[] = {{.name = "public", .n = 6}, {.name = "private", .n = 2}};
    const struct sotto_split_options options = {.one_hot = 1, .seed = 3, .fit_part = "public"};
    struct sotto_table_encoding *e = NULL;
    import_people("raw", 0, NULL, NULL);
    succeed(sotto_data_split(in_folder("f"), "raw", parts, 2, &options, NULL));
    succeed(encoding_beside(&e, in_folder("f/private-features.npy")));
    assert_non_null(e);
    assert_int_equal(e->how, SOTTO_ENCODING_PUBLIC);
    assert_string_equal(e->by, "6 rows of the public part public");
    assert_int_equal(e->columns[1].categories.count, 6); /* notes differ in every row */
    struct sotto_array x = load_array("f/public-features.npy"), z = load_array("f/private-features.npy");
    double sum = 0, squares = 0;
    for (size_t i = 0; i < 6; i++) {
        double v = (double)((const float *)x.data)[i * x.shape[1]];
        sum += v;
        squares += v * v;
    }
    assert_float_equal(sum, 0, 1e-5);
    assert_float_equal(squares, 6, 1e-5);
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 1; j <= 6; j++) /* their notes are unknown: all bits 0 */
            assert_float_equal(((const float *)z.data)[i * z.shape[1] + j], 0, 0);
    sotto_array_clear(&x);
    sotto_array_clear(&z);
    sotto_table_encoding_free(e);
}

TEST(another_table_may_be_the_public_one)
{
    char table[200];
    snprintf(table, sizeof table, "%s/public.csv", folder);
    const struct sotto_split_options options = {.one_hot = 1, .seed = 3, .fit_table = table};
    struct sotto_table_encoding *e = NULL;
    files_write_text(folder, "public.csv",
                     "ill,age,note,job,town\nno,10,a,cook,north\nyes,30,a,nurse,south\nno,20,b,cook,north\n");
    import_people("raw", 0, NULL, NULL);
    succeed(sotto_data_split(in_folder("f"), "raw", all_of_them, 1, &options, NULL));
    succeed(encoding_beside(&e, in_folder("f/all-features.npy")));
    assert_string_equal(e->by, "3 rows of the public table public.csv");
    assert_float_equal(e->columns[encoding_find(e, "age")].centre, 20, 1e-12);
    assert_int_equal(sotto_table_encoding_width(e), 1 + 2 + 2 + 2);
    sotto_table_encoding_free(e);
    e = NULL;
    import_people("declared", 0, NULL, in_folder("schema.yaml"));
    succeed(sotto_data_split(in_folder("g"), "declared", all_of_them, 1, &options, NULL));
    succeed(encoding_beside(&e, in_folder("g/all-features.npy")));
    assert_int_equal(sotto_table_encoding_width(e), 6);      /* declared categories, public scales */
    assert_float_equal(e->columns[0].centre, 70. / 3, 1e-6); /* 10 counts as the lower bound, 20 */
    sotto_table_encoding_free(e);
    files_write_text(folder, "public.csv", "ill,age,job\nno,10,cook\nyes,30,nurse\n");
    refuse(sotto_data_split(in_folder("h"), "raw", all_of_them, 1, &options, NULL), SOTTO_EINVAL,
           "column 'note' is not described by");
}

TEST(options_that_contradict_are_refused)
{
    import_people("raw", 0, NULL, NULL);
    static const struct {
        struct sotto_split_options options;
        sotto_status status;
        const char *part;
    } cases[] = {
        {{.fit_part = "all"},
         SOTTO_EUSAGE,
         "split: schema, fit_part, fit_table and private_epsilon need one_hot"},
        {{.one_hot = 1, .fit_part = "all", .fit_table = "x"}, SOTTO_EUSAGE, "at most one of"},
        {{.one_hot = 1, .fit_part = "some"},
         SOTTO_EINVAL,
         "split: fit_part='some' is not a part; expected one of parts"},
        {{.one_hot = 1, .dataset_id = "x"},
         SOTTO_EUSAGE,
         "split: dataset_id and ledger need private_epsilon"},
        {{.one_hot = 1, .private_epsilon = 1, .dataset_id = "x"},
         SOTTO_EINVAL,
         "categories cannot be found privately"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(sotto_data_split(in_folder("f"), "raw", all_of_them, 1, &cases[i].options, NULL),
               cases[i].status, cases[i].part);
    struct sotto_import_options both = {.schema = in_folder("schema.yaml"), .label = "ill"};
    refuse(sotto_data_import(in_folder("people.csv"), "both", &both, NULL), SOTTO_EUSAGE,
           "names the label column");
}

TEST(a_schema_must_fit_the_table)
{
    struct sotto_import_options options = {.schema = in_folder("schema.yaml")};
    files_write_text(folder, "t.csv", "age,note,job,ill\n20,a,cook,no\n");
    refuse(sotto_data_import(in_folder("t.csv"), "t", &options, NULL), SOTTO_EFORMAT,
           "column 'town' is missing");
    files_write_text(folder, "t.csv", "age,note,job,town,pay,ill\n20,a,cook,north,1,no\n");
    refuse(sotto_data_import(in_folder("t.csv"), "t", &options, NULL), SOTTO_EFORMAT,
           "column 'pay' is not described by the schema schema.yaml");
    files_write_text(folder, "t.csv", "age,note,job,town\n20,a,cook,north\n");
    refuse(sotto_data_import(in_folder("t.csv"), "t", &options, NULL), SOTTO_EFORMAT,
           "label column 'ill' is missing");
    refuse(sotto_data_import(in_folder("schema.yaml"), "t", &options, NULL), SOTTO_EFORMAT, "not a layout");
}

TEST(private_bounds_are_charged)
{
    char ledger[200];
    snprintf(ledger, sizeof ledger, "%s/ledger.jsonl", folder);
    struct sotto_split_options options = {.one_hot = 1,
                                          .seed = 3,
                                          .private_epsilon = 4000, /* so that the best edge is selected */
                                          .dataset_id = "people",
                                          .ledger = ledger};
    import_people("declared", 0, NULL, in_folder("schema.yaml"));
    succeed(sotto_data_split(in_folder("r"), "declared", all_of_them, 1, &options, NULL));
    struct sotto_table_encoding *e = NULL;
    succeed(encoding_beside(&e, in_folder("r/all-features.npy")));
    assert_int_equal(e->how, SOTTO_ENCODING_RELEASED);
    /* Ranks 0 and 8 of 8: no value is below the first edge, all are below the last ones. */
    assert_true(e->columns[0].low <= 20 && e->columns[0].high >= 45 && e->columns[0].high <= 60);
    sotto_table_encoding_free(e);
    char *json = NULL;
    struct json *doc = NULL;
    succeed(sotto_ledger_account(&json, in_folder("ledger.jsonl"), 0, NULL));
    succeed(json_parse(&doc, json, strlen(json), "account"));
    assert_int_equal(json_whole(json_find(doc, "entries")), 2); /* both bounds */
    assert_float_equal(json_number(json_find(doc, "proved.epsilon")), 4000, 1e-3);
    assert_true(json_number(json_find(doc, "proved.epsilon")) <= 4000);
    json_free(doc);
    sotto_text_free(json);
    options.dataset_id = "others";
    refuse(sotto_data_split(in_folder("r"), "declared", all_of_them, 1, &options, NULL), SOTTO_EINVAL,
           "belongs to data set 'people', not to 'others'");
}

/* Of many entries none may be written when the last ones would exceed the budget. */
TEST(a_budget_refuses_before_the_first_entry)
{
    const struct sotto_split_options options = {
        .one_hot = 1, .private_epsilon = 1.5, .dataset_id = "people", .ledger = in_folder("ledger.jsonl")};
    double scores[2] = {0, 1};
    size_t chosen;
    struct sotto_certificate *certificate = NULL;
    char *before = NULL, *after = NULL;
    struct sotto_release first = {
        .mechanism = "exponential",
        .scale = 2,
        .sensitivity = {1, NAN, 0, SOTTO_SENSITIVITY_PROVED, "", 0},
        .spend = {.dataset_id = "people", .ledger = options.ledger, .budget = {1, SOTTO_DELTA_PURE}}};
    succeed(sotto_dp_select(&chosen, &certificate, scores, 2, &first, NULL));
    sotto_certificate_free(certificate);
    import_people("declared", 0, NULL, in_folder("schema.yaml"));
    succeed(sotto_ledger_account(&before, options.ledger, 0, NULL));
    refuse(sotto_data_split(in_folder("r"), "declared", all_of_them, 1, &options, NULL), SOTTO_EBUDGET,
           "nothing was charged");
    succeed(sotto_ledger_account(&after, options.ledger, 0, NULL));
    assert_string_equal(before, after);
    sotto_text_free(before);
    sotto_text_free(after);
}

TEST(queries_are_encoded_and_their_mistakes_named)
{
    struct sotto_table_encoding *e = schema_of(people_schema);
    struct sotto_array x = {0};
    files_write_text(folder, "q.csv", "town,job,age\nsouth,cook,40\nnorth,pilot,?\n");
    succeed(sotto_table_encode(&x, e, in_folder("q.csv"), NULL));
    const float expected[12] = {0, 1, 0, 0, 0, 1, -.5F, 0, 0, 0, 1, 0};
    assert_int_equal(x.shape[0] * 10 + x.shape[1], 26);
    assert_memory_equal(x.data, expected, sizeof expected);
    sotto_array_clear(&x);
    static const char *const cases[][2] = {
        {"town,job,age\nsouth,cook,forty\n", "q.csv:2: column 'age' is 'forty'; expected a number"},
        {"town,age\nsouth,40\n", "column 'job' is missing"},
        {"town,job,pay\nsouth,cook,1\n", "column 'age' is missing"},
        {"town,job,age,age\nsouth,cook,40,1\n", "two columns are called 'age'"},
        {"town,job,age\n", "holds a header but no rows"},
        {"town,job,age\nsouth,cook\n", "q.csv:2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        files_write_text(folder, "q.csv", cases[i][0]);
        refuse(sotto_table_encode(&x, e, in_folder("q.csv"), NULL), SOTTO_EFORMAT, cases[i][1]);
        assert_null(x.data);
    }
    sotto_table_encoding_free(e);
}

TEST(answers_name_the_classes)
{
    struct sotto_table_encoding *e = schema_of(people_schema);
    float p[4] = {.75F, .25F, .5F, .5F};
    struct sotto_array a = {.dtype = SOTTO_F4, .ndim = 2, .shape = {2, 2}, .count = 4, .data = p};
    unsigned char *text;
    size_t size;
    succeed(sotto_table_answers(in_folder("a.csv"), e, &a));
    succeed(file_read(&text, &size, in_folder("a.csv"), 1000));
    assert_string_equal((char *)text, "row,class,probability\n1,no,0.75\n2,no,0.5\n");
    base_free(text);
    a.shape[0] = 1;
    a.shape[1] = 4;
    refuse(sotto_table_answers(in_folder("b.csv"), e, &a), SOTTO_EINVAL,
           "4 columns of probabilities but 2 classes; expected the same number");
    sotto_table_encoding_free(e);
}

TEST(tables_without_header_go_by_position)
{
    char text[1024];
    snprintf(text, sizeof text, "%.*sheader: false\n%s", 23, people_schema, people_schema + 23);
    files_write_text(folder, "schema.yaml", text);
    struct sotto_import_options options = {.schema = in_folder("schema.yaml")};
    files_write_text(folder, "t.csv", "20,a,cook,north,no\n60,b,nurse,south,yes\n");
    succeed(sotto_data_import(in_folder("t.csv"), "t", &options, NULL));
    struct sotto_dataset *s = NULL;
    succeed(sotto_dataset_open(&s, "t", NULL));
    const float features[6] = {20, 0, 0, 60, 1, 1};
    assert_memory_equal(s->features, features, sizeof features);
    sotto_dataset_free(s);
    files_write_text(folder, "t.csv", "age,note,job,town,ill\n20,a,cook,north,no\n");
    refuse(sotto_data_import(in_folder("t.csv"), "u", &options, NULL), SOTTO_EFORMAT,
           "begins with a row of names; expected 'header: true' in");
    struct sotto_table_encoding *e = schema_of(text);
    struct sotto_array x = {0};
    files_write_text(folder, "q.csv", "20,a,cook,north\n");
    succeed(sotto_table_encode(&x, e, in_folder("q.csv"), NULL));
    assert_float_equal(((const float *)x.data)[0], -1, 0);
    sotto_array_clear(&x);
    files_write_text(folder, "q.csv", "20,cook,north\n");
    refuse(sotto_table_encode(&x, e, in_folder("q.csv"), NULL), SOTTO_EFORMAT, "has 3 columns and no header");
    sotto_table_encoding_free(e);
}

TEST_GROUP(.before = table_set_up, .after = table_tear_down)

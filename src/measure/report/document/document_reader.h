/* document_reader.h - members of the document of a report, checked as they are read. Errors: EFORMAT names the full path. */
#ifndef REPORT_DOCUMENT_DOCUMENT_READER_H
#define REPORT_DOCUMENT_DOCUMENT_READER_H

#include "report/document/document.h"

static const char document[] = "report";

enum { READER_PATH = 128 };

/** A reader holds one place of the document, and its path for errors. */
struct reader {
    const struct json *doc;
    char path[READER_PATH];
};

struct reader reader_enter(const struct reader *r, const char *member);
/** What is there; NULL: nothing, or null. */
const struct json *reader_here(const struct reader *r);

sotto_status read_number(double *out, const struct reader *r, const char *member);
/** NAN, NULL, false or 0 if absent or null. */
sotto_status read_number_if(double *out, const struct reader *r, const char *member);
sotto_status read_text(const char **out, const struct reader *r, const char *member);
sotto_status read_text_if(const char **out, const struct reader *r, const char *member);
sotto_status read_flag_if(bool *out, const struct reader *r, const char *member);
sotto_status read_size_if(size_t *out, const struct reader *r, const char *member);
/** An object with an interval; or, if `bare` allows it, a number. */
sotto_status read_estimate(struct estimate *out, const struct reader *r, const char *member, bool bare);

/** x: the number that was read there; NAN counts as absent. */
sotto_status check_fraction(double x, const struct reader *r, const char *member);
/** A list of texts, or absent. */
sotto_status check_texts(const struct json **out, const struct reader *r, const char *member);
/** A list of objects at `path`, or absent: the members that the page prints must be texts. text2: NULL: none. */
sotto_status check_objects(const struct reader *top, const char *path, const char *text1, const char *text2);

#endif

/* page.h - HTML text that grows; text from the document can only enter it escaped. */
#ifndef REPORT_PAGE_PAGE_H
#define REPORT_PAGE_PAGE_H

#include "report/document/document.h"

struct page {
    char *text;
    size_t used, capacity;
    size_t plots; /* so far, for their letters */
    bool failed;  /* out of memory: everything after is ignored, page_done() reports it */
};
/** Trusted HTML, written in the source of sotto. */
void page_html(struct page *p, const char *html);
void page_bytes(struct page *p, const char *bytes, size_t count);
/** Trusted format; arguments are numbers or literals, never text from a document. */
void page_format(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Escaped, for element content and quoted attributes. NULL prints nothing. */
void page_text(struct page *p, const char *text);
/** Escaped and isolated, so that a right-to-left name cannot reorder the line around it. */
void page_name(struct page *p, const char *name);
/** The bytes of a mark at text[0] that turns the direction of writing or separates lines, or 0. */
size_t page_hidden_mark(const char *text);
/** For Markdown: whatever it or HTML could read is taken out of action. */
void page_markdown(struct page *p, const char *text);
/** A name between trusted HTML; nothing where the name is empty. */
void page_pair(struct page *p, const char *before, const char *name, const char *after);
/** JSON inside a script element: '<', '>', '&', U+2028 and U+2029 become \u escapes. */
void page_json(struct page *p, const char *json);

/* Numbers as the page shows them. NAN is a dash. */
void page_fraction(struct page *p, double x);      /* 0.617 */
void page_percent(struct page *p, double x);       /* 1.6 % */
void page_percent_plain(struct page *p, double x); /* 1 %, 0.1 %: for levels that were chosen, not measured */
void page_small(struct page *p, double x);         /* a power of ten where it is one */
void page_count(struct page *p, double n);         /* 10 000, thin spaces */
void page_significant(struct page *p, double x, int digits);
/** Never below x in the digits shown. INFINITY prints the sign. */
void page_rounded_up(struct page *p, double x);
/** 0.617 with its interval in a lighter colour; NAN ends print no interval. */
void page_estimate(struct page *p, const struct estimate *e);
void page_percent_estimate(struct page *p, const struct estimate *e);

/** A table that scrolls sideways. `columns` as below; NULL: the caption goes on, until page_columns(). Label,
 * caption and columns are trusted HTML. */
void page_table(struct page *p, const char *label, const char *caption, const char *columns);
/** Ends the caption and starts the body. Titles with | between them; "^Title": of numbers; "^NAME^Title": of
 * numbers of the class NAME. */
void page_columns(struct page *p, const char *columns);
void page_table_end(struct page *p);
/** The next plot's caption begins: "Plot C: ". */
void page_plot(struct page *p);
/** "Plot C.", or "Plots C to E." for those since there were `first`; nothing where there are none. */
void page_plots_since(struct page *p, size_t first);
/** A data URI of sotto's own kind (io/text/bitmap.h); nothing of another: documents may come from other tools. words: trusted. */
void page_picture(struct page *p, const char *uri, const char *words);
/** A command that one click selects as a whole. */
void page_command(struct page *p, const char *command);

/** Moves the text to *out (base_free, sotto_text_free) and leaves *p as {0}. ENOMEM: *p had failed. */
sotto_status page_done(char **out, struct page *p, const char *what);

/* The page of a document that was read: one self-contained HTML document. It loads nothing, reads without script, and escapes all
 * text. Same document, same bytes. ENOMEM. */
sotto_status report_html(char **html, const struct report *r);
/* Writes the companions of its page into a folder that exists: MODEL_CARD.md, the findings and lines to fill in by hand, and
 * attacks.csv, a line for each attack and false-positive rate. ENOMEM, ECREATE, EIO. */
sotto_status report_write_files(const char *folder, const struct report *r);

/* Sections, in the order of the template. */
typedef void (*section)(struct page *p, const struct report *r);
void section_title(struct page *p, const struct report *r);
void section_facts(struct page *p, const struct report *r);
void section_checks(struct page *p, const struct report *r);
void section_verdict(struct page *p, const struct report *r);
void section_words(struct page *p, const struct report *r);
void verdict_sentences(struct page *p, const struct report *r); /* inside section_facts */
void checks_banner(struct page *p, const struct report *r);     /* inside section_verdict */
/* Of the row whose attack is shown; NULL: none was run. Nothing where there is nothing to draw. */
void section_picture(struct page *p, const struct report *r, const struct report_row *shown);
void section_contents(struct page *p, const struct report *r);
void section_settings(struct page *p, const struct report *r); /* all at a glance, and what noise cost each */
void section_claim(struct page *p, const struct report *r);
void section_one_run(struct page *p, const struct report *r);
void section_attacks(struct page *p, const struct report *r);
void section_most_vulnerable(struct page *p, const struct report *r); /* inside section_attacks */
void section_generative(struct page *p, const struct report *r);
void section_memories(struct page *p, const struct report *r);
void section_attribute(struct page *p, const struct report *r);
void section_utility(struct page *p, const struct report *r);
void section_sweeps(struct page *p, const struct report *r);
void section_training(struct page *p, const struct report *r);
void section_method(struct page *p, const struct report *r);
void section_reproduce(struct page *p, const struct report *r);
void section_card(struct page *p, const struct report *r);
void section_data(struct page *p, const struct report *r); /* the charts' numbers as JSON */

/* Rows of one unprotected model share a chart. */
struct groups {
    size_t count, of_row[1000], first[1000];
};
void groups_find(struct groups *g, const struct report *r);
void group_title(struct page *p, const struct report *r, size_t row);
/** "no noise" or "logistic 0.1": what tells the rows of one group apart. */
void row_label(char *out, size_t capacity, const struct report_row *r);
/** The largest true-positive rate that (epsilon, delta) allows at a false-positive rate. */
/* In tables rows stand under the unprotected one whose title theirs go on from, else under that of their group. */
struct families {
    size_t count, head[1000], members[1000] /* of a head */, order[1000];
};
void families_find(struct families *f, const struct report *r);
/** Over so many columns, in front of the head of a family; nothing elsewhere. */
void family_heading(struct page *p, const struct report *r, const struct families *f, size_t row,
                    int columns);
/** What the row adds to the title of its family, or its title. */
void family_setting(struct page *p, const struct report *r, const struct families *f, size_t row);
/** Points of accuracy, of a row that has a cost. */
double row_cost(const struct report_row *row);
bool row_has_cost(const struct report_row *row);
/** "epsilon <= 1 at delta = 10^-5", as proved. */
void row_epsilon(struct page *p, const struct report_row *row);
double allowed_tpr(double epsilon, double delta, double fpr);

#endif

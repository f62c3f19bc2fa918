/* Method and data, and what somebody else needs to get the same numbers. */
#include "report/page/page.h"

#include <math.h>
#include <stdio.h>

static void entry(struct page *p, const char *label, const char *text)
{
    if (!text)
        return;
    page_format(p, "<dt>%s</dt><dd>", label);
    page_name(p, text);
    page_html(p, "</dd>\n");
}

static void entry_count(struct page *p, const char *label, double n)
{
    if (isnan(n))
        return;
    page_format(p, "<dt>%s</dt><dd>", label);
    page_count(p, n);
    page_html(p, "</dd>\n");
}

static void entry_fraction(struct page *p, const char *label, double x)
{
    if (isnan(x))
        return;
    page_format(p, "<dt>%s</dt><dd>%.3f</dd>\n", label, x);
}

static void splits(struct page *p, const struct report *r)
{
    const struct json *list = part(r->doc, "splits");
    if (json_count(list) == 0)
        return;
    page_table(p, "Splits",
               "Disjoint parts, drawn at random from one pool: members and non-members come from the same "
               "distribution, never train file against test file.",
               "Part|^Records|Use");
    for (size_t i = 0; i < json_count(list); i++) {
        page_html(p, "<tr><th scope=\"row\">");
        page_name(p, part_text(json_at(list, i), "name"));
        page_html(p, "</th><td class=\"number\">");
        page_count(p, part_number(json_at(list, i), "records"));
        page_html(p, "</td><td>");
        page_name(p, part_text(json_at(list, i), "use"));
        page_html(p, "</td></tr>\n");
    }
    page_table_end(p);
}

static void texts(struct page *p, const struct json *list)
{
    for (size_t i = 0; i < json_count(list); i++) {
        page_html(p, "<li>");
        page_text(p, json_text(json_at(list, i)));
        page_html(p, "</li>");
    }
}

static void notes(struct page *p, const struct report *r)
{
    size_t count = json_count(part(r->doc, "warnings"));
    for (size_t i = 0; i < r->row_count; i++)
        count += json_count(r->rows[i].notes) + json_count(part(r->rows[i].audit, "warnings"));
    if (count == 0)
        return;
    page_html(p, "<h3>Notes and warnings</h3><ul>");
    texts(p, part(r->doc, "warnings"));
    for (size_t i = 0; i < r->row_count; i++) {
        const struct json *of_audit = part(r->rows[i].audit, "warnings");
        if (json_count(r->rows[i].notes) + json_count(of_audit) == 0)
            continue;
        page_html(p, "<li>");
        page_name(p, r->rows[i].title);
        page_html(p, "<ul>");
        texts(p, r->rows[i].notes);
        texts(p, of_audit);
        page_html(p, "</ul></li>");
    }
    page_html(p, "</ul>\n");
}

void section_method(struct page *p, const struct report *r)
{
    const struct json *d = r->doc;
    page_html(p, "<section id=\"method\" aria-labelledby=\"h-method\"><h2 id=\"h-method\">6 Method and "
                 "data</h2>\n<dl>\n");
    entry(p, "Data set", part_text(d, "data.title") ? part_text(d, "data.title") : part_text(d, "data.name"));
    if (r->synthetic)
        entry(p, "Kind", "synthetic: made up by a program, not real records");
    entry_count(p, "Records in the pool", part_number(d, "data.records"));
    entry_count(p, "Classes", part_number(d, "data.classes"));
    entry(p, "Shape", part_text(d, "data.shape"));
    entry(p, "Origin", part_text(d, "data.origin"));
    entry(p, "SHA-256 of the contents", part_text(d, "data.sha256"));
    entry(p, "Encoder", part_text(d, "encoder.name"));
    entry_count(p, "Encoder parameters", part_number(d, "encoder.parameters"));
    entry(p, "Encoder trained on", part_text(d, "encoder.trained_on"));
    entry(p, "Pretext task", part_text(d, "encoder.method"));
    entry_fraction(p, "Accuracy on the pretext task", part_number(d, "encoder.pretext_accuracy"));
    entry_fraction(p, "k-NN accuracy of frozen embeddings", part_number(d, "encoder.knn_accuracy"));
    entry_fraction(p, "Linear accuracy of frozen embeddings", part_number(d, "encoder.linear_accuracy"));
    entry_count(p, "Images per second while training", part_number(d, "encoder.images_per_second"));
    page_html(p, "<dt>Attacker's knowledge</dt><dd>answers of the model (logits or probabilities) for any "
                 "record, and the record's true "
                 "label; not the weights, not the other training records</dd>\n"
                 "<dt>Statistics</dt><dd>step ROC without interpolation; AUC = Mann-Whitney with half ties, "
                 "DeLong variance on the logit "
                 "scale; rates with Clopper-Pearson intervals at thresholds chosen on one random half and "
                 "scored on the other; a rate "
                 "below 1/(number of non-members) is refused, below 10/(number of non-members) marked weak. "
                 "A verdict of leakage asks "
                 "the interval widened for the number of attacks tried</dd>\n</dl>\n");
    splits(p, r);
    notes(p, r);
    page_html(p, "</section>\n");
}

static void inputs(struct page *p, const struct json *list)
{
    if (json_count(list) == 0)
        return;
    page_table(p, "Inputs", "Inputs.", "Input|SHA-256");
    for (size_t i = 0; i < json_count(list); i++) {
        page_html(p, "<tr><th scope=\"row\">");
        page_name(p, part_text(json_at(list, i), "name"));
        page_html(p, "</th><td class=\"hash\"><code>");
        page_text(p, part_text(json_at(list, i), "sha256"));
        page_html(p, "</code></td></tr>\n");
    }
    page_table_end(p);
}

static void block(struct page *p, const char *label, const char *text)
{
    if (!text || !text[0])
        return;
    page_format(p, "<h3>%s</h3>\n<pre tabindex=\"0\"><code>", label);
    page_text(p, text);
    page_html(p, "</code></pre>\n");
}

void section_reproduce(struct page *p, const struct report *r)
{
    const struct json *d = r->doc, *versions = part(d, "reproduce.versions");
    page_html(p, "<section id=\"reproduce\" aria-labelledby=\"h-reproduce\"><h2 id=\"h-reproduce\">7 "
                 "Reproduce</h2>\n<dl>\n");
    entry(p, "Run", part_text(d, "run.name"));
    entry_count(p, "Seed", part_number(d, "run.seed"));
    entry_count(p, "Threads", part_number(d, "run.threads"));
    entry(p, "Instruction set", part_text(d, "run.isa"));
    entry(p, "Number type", part_text(d, "run.dtype"));
    entry(p, "Kernels", part_text(d, "run.backend"));
    entry_count(p, "Seconds", part_number(d, "run.seconds"));
    for (const char *key = json_first_key(versions); key; key = json_next_key(versions, key)) {
        page_html(p, "<dt>");
        page_name(p, key);
        page_html(p, "</dt><dd>");
        page_name(p, json_text(json_member(versions, key)));
        page_html(p, "</dd>\n");
    }
    page_html(p, "</dl>\n<p class=\"note\">Same seed, threads and instruction set give the same training, "
                 "bit for bit. Privacy noise comes "
                 "from the operating system and differs from run to run, as it must.</p>\n");
    block(p, "Command", part_text(d, "reproduce.command"));
    block(p, "Resolved configuration", part_text(d, "reproduce.config"));
    inputs(p, part(d, "reproduce.inputs"));
    page_html(p, "</section>\n");
}

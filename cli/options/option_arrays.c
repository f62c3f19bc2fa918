/* --arrays FILE.npz: one file for many options that name an array. */
#include "options/options_private.h"

#include <stdlib.h>
#include <string.h>

static bool is_array(const struct option_row *row)
{
    return row->value && strcmp(row->value, "ARRAY") == 0;
}

/* member_logits is --member-logits. */
static bool option_arrays_names(const char *member, const char *option)
{
    for (; *member && *option; member++, option++)
        if (*member != *option && !(*member == '_' && *option == '-'))
            return false;
    return *member == *option;
}

static sotto_status unknown_member(const struct options *o, const char *file, const char *member)
{
    char known[2048] = "";
    size_t used = 0;
    for (size_t i = 0; i < o->rows.count && used < sizeof known; i++) {
        if (!is_array(&o->rows.row[i]))
            continue;
        size_t begin = used + (used ? 2 : 0);
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                                 o->rows.row[i].name);
        for (size_t k = begin; k < used && k < sizeof known; k++)
            known[k] = known[k] == '-' ? '_' : known[k];
    }
    char guess[SOTTO_CHOICE_GUESS];
    sotto_choice_guess(guess, member, known);
    return cli_fail(SOTTO_EUSAGE, "--arrays %s: member '%s' is unknown; expected one of: %s%s", file, member,
                    known, guess);
}

static sotto_status option_arrays_take_member(struct options *o, const char *file, const char *member)
{
    const struct option_row *row = NULL;
    for (size_t i = 0; !row && i < o->rows.count; i++)
        if (is_array(&o->rows.row[i]) && option_arrays_names(member, o->rows.row[i].name))
            row = &o->rows.row[i];
    if (!row)
        return unknown_member(o, file, member);
    if (option_given(o, row->name))
        return cli_fail(SOTTO_EUSAGE, "--%s is given twice: as an option and as member '%s' of --arrays %s",
                        row->name, member, file);
    size_t size = strlen(file) + strlen(member) + 2;
    char *text = malloc(size);
    if (!text)
        return cli_fail(SOTTO_ENOMEM, "out of memory");
    snprintf(text, size, "%s:%s", file, member);
    o->owned[o->owned_count++] = text;
    return option_store(o, row, text);
}

sotto_status option_arrays_take(struct options *o)
{
    const char *file = option_text(o, "arrays");
    struct sotto_tensors members = {0};
    if (!file)
        return SOTTO_OK;
    size_t length = strlen(file);
    if (length < 5 || strcmp(file + length - 4, ".npz") != 0)
        return cli_fail(SOTTO_EUSAGE, "--arrays %s: expected a file that ends in .npz", file);
    sotto_status status = sotto_npz_load(&members, file);
    for (size_t i = 0; status == SOTTO_OK && i < members.count; i++)
        status = option_arrays_take_member(o, file, members.items[i].name);
    sotto_tensors_clear(&members);
    return status;
}

void options_clear(struct options *o)
{
    for (size_t i = 0; i < o->owned_count; i++)
        free(o->owned[i]);
    o->owned_count = 0;
}

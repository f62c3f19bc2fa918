/* The list, expanded twice: declarations, then the table. */
#include "attack/query_attack.h"
#include "sotto/attack.h"

#include <stdio.h>
#include <string.h>

#define ROW(name) extern const struct query_attack query_##name;
#include "attack/query/query_attack_list.h"
#undef ROW

const struct query_attack *const query_attack_table[] = {
#define ROW(name) &query_##name,
#include "attack/query/query_attack_list.h"
#undef ROW
    NULL};

const struct query_attack *query_attack_find(const char *name)
{
    for (size_t i = 0; query_attack_table[i]; i++)
        if (strcmp(query_attack_table[i]->name, name) == 0)
            return query_attack_table[i];
    return NULL;
}

sotto_status sotto_attack_table(char **text)
{
    REQUIRE_GIVEN(text);
    enum { LINE = 256 };
    sotto_status status = SOTTO_OK;
    size_t rows = 0, used = 0;
    while (query_attack_table[rows])
        rows++;
    char *out = NULL;
    NEW_ROWS(out, rows + 1, LINE);
    for (size_t i = 0; i < rows; i++) {
        const struct query_attack *m = query_attack_table[i];
        char shadows[48] = "";
        if (m->default_shadows)
            snprintf(shadows, sizeof shadows, " (%zu model%s)", m->default_shadows,
                     m->default_shadows == 1 ? "" : "s");
        used += (size_t)snprintf(out + used, LINE, "  %-18s %.160s%s\n", m->name, m->title, shadows);
    }
    *text = out;
done:
    return status;
}

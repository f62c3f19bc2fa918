#include "nn/loop/same_run.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "nn/loop/checkpoint.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

enum { BUILD = 41, SHOWN = 12 };

/* What a rank says of itself. */
struct rank_record {
    char host[64], version[32], build[BUILD], isa[16], machine[192], recipe[SAME_RUN_RECIPE];
    uint32_t byte_order;
};

/* ---- which program this is ---- */

struct search {
    size_t own; /* an address in this library or program */
    char *build;
};

/* The linker's hash of all that it linked. */
static void read_notes(char build[BUILD], const char *note, size_t bytes)
{
    while (bytes > sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *head = (const void *)note;
        const unsigned char *hash = (const unsigned char *)note + sizeof *head + (head->n_namesz + 3) / 4 * 4;
        const size_t whole = sizeof *head + (head->n_namesz + 3) / 4 * 4 + (head->n_descsz + 3) / 4 * 4;
        if (whole > bytes)
            return;
        if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4 && head->n_descsz <= (BUILD - 1) / 2)
            for (size_t i = 0; i < head->n_descsz; i++)
                snprintf(build + 2 * i, 3, "%02x", hash[i]);
        note += whole;
        bytes -= whole;
    }
}

static int look_at(struct dl_phdr_info *object, size_t size, void *state)
{
    (void)size;
    struct search *s = state;
    bool is_own = false;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &object->dlpi_phdr[i];
        is_own |= h->p_type == PT_LOAD && s->own - (object->dlpi_addr + h->p_vaddr) < h->p_memsz;
    }
    for (size_t i = 0; is_own && i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &object->dlpi_phdr[i];
        if (h->p_type == PT_NOTE)
            read_notes(s->build, (const char *)(object->dlpi_addr + h->p_vaddr), h->p_memsz);
    }
    return is_own;
}

static void same_run_describe(struct rank_record *r, const struct sotto_team *team, const char *recipe,
                              const char *machine)
{
    struct search s = {(size_t)same_run_check, r->build};
    snprintf(r->host, sizeof r->host, "%s", team_host(team));
    snprintf(r->version, sizeof r->version, "%s", sotto_version());
    strcpy(r->build, "unknown");
    dl_iterate_phdr(look_at, &s);
    snprintf(r->isa, sizeof r->isa, "%s", cpu_isa_name(cpu_best_isa()));
    snprintf(r->machine, sizeof r->machine, "%s", machine);
    snprintf(r->recipe, sizeof r->recipe, "%s", recipe);
    r->byte_order = 1; /* reads as another number where bytes lie the other way round */
}

/* ---- comparing ---- */

static sotto_status compare_recipes(const struct rank_record *zero, const struct rank_record *r, size_t rank)
{
    char key[32], theirs[128], own[128];
    if (!checkpoint_difference(key, theirs, own, r->recipe, zero->recipe))
        return SOTTO_OK;
    if (strcmp(key, "data") == 0)
        return status_fail(
            SOTTO_EINVAL,
            "rank %zu (%s): data with SHA-256 %.*s..., rank 0 has %.*s...; all ranks must see the same data",
            rank, r->host, SHOWN, theirs, SHOWN, own);
    return status_fail(
        SOTTO_EINVAL,
        "rank %zu (%s): %s is %.70s, but %.70s on rank 0; start all ranks with the same options", rank,
        r->host, key, theirs, own);
}

static sotto_status same_run_compare(const struct rank_record *zero, const struct rank_record *r, size_t rank)
{
    sotto_status status = SOTTO_OK;
    if (strcmp(r->version, zero->version) != 0 || strcmp(r->build, zero->build) != 0 ||
        r->byte_order != zero->byte_order)
        FAIL(SOTTO_ENOTSUP,
             "rank %zu (%s) has sotto %s build %.*s, rank 0 has %s build %.*s; all ranks need the same "
             "program",
             rank, r->host, r->version, SHOWN, r->build, zero->version, SHOWN, zero->build);
    TRY(compare_recipes(zero, r, rank));
    if (strcmp(r->machine, zero->machine) != 0) {
        status =
            status_fail(SOTTO_ENOTSUP, "rank %zu (%s) computes other bits than rank 0 (%s): %s against %s",
                        rank, r->host, zero->host, r->isa, zero->isa);
        status_hint("give {isa=common}, the lowest level of all, or the same SOTTO_ISA to all ranks; or use "
                    "machines of one kind");
    }
done:
    return status;
}

sotto_status same_run_check(const struct sotto_team *team, const char *recipe, const char *machine)
{
    sotto_status status = SOTTO_OK;
    const size_t ranks = sotto_team_size(team);
    struct rank_record mine = {0}, *all = NULL;
    if (!team)
        goto done;
    same_run_describe(&mine, team, recipe, machine);
    TRY(team_gather_each(team, &all, &mine, sizeof mine));
    for (size_t r = 1; r < ranks; r++)
        TRY(same_run_compare(&all[0], &all[r], r));
done:
    base_free(all);
    return status;
}

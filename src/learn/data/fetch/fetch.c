/* Fetch: find out where a set is published, download its files, import them. Downloads gather in the hidden
 * folder
 * ".download-NAME" of the data folder, which goes away after the import. */
#include "base/file.h"
#include "data/dataset.h"
#include "data/fetch/download.h"
#include "data/fetch/http.h"
#include "data/files/bundle.h"
#include "data/store/import.h"
#include "data/store/store.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SETS_LIMIT = 8, HEX_DIGITS = 64 };

struct plan {
    const struct dataset_source *source; /* NULL: not registered */
    const struct remote_file *files;
    size_t count;
    const char *base;             /* address that file names follow; NULL: the user's address is whole */
    const char *sets[SETS_LIMIT]; /* to import */
    size_t set_count;
    char folder[4096];      /* of the download */
    struct remote_file own; /* the file at the user's address */
    char own_name[128];
};

/* The end of an address as a file name; endings tell compressed tables apart. */
static void name_from_url(char *out, size_t capacity, const char *url)
{
    const char *start = path_base(url);
    size_t n = strcspn(start, "?#"), kept = 0;
    for (size_t i = 0; i < n && kept + 1 < capacity; i++) {
        bool plain =
            strspn(start + i, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") > 0;
        if (plain && (kept > 0 || start[i] != '.'))
            out[kept++] = start[i];
    }
    out[kept] = '\0';
    if (kept == 0)
        snprintf(out, capacity, "file");
}

static sotto_status not_fetchable(const char *name, const struct dataset_source *source)
{
    char list[256] = "";
    for (const struct dataset_source *const *s = dataset_sources; *s; s++)
        if ((*s)->remote)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", list[0] ? ", " : "",
                     (*s)->name);
    char meant[64];
    bool guessed = !source && dataset_guess(meant, name);
    sotto_status status =
        status_fail(SOTTO_ENOENT, "data set '%.80s': its download address is unknown%s%s%s", name,
                    guessed ? "; did you mean '" : "", guessed ? meant : "", guessed ? "'?" : "");
    if (source && source->obtain)
        status_hint("%s", source->obtain);
    else
        status_hint("known sets are %s; for other sets give {url=URL} {sha256=HEX}", list);
    return status;
}

static sotto_status plan_own_url(struct plan *p, const char *name, const struct sotto_fetch_options *options)
{
    sotto_status status = SOTTO_OK;
    const char *sha256 = options->sha256;
    bool known = p->source && p->source->remote && p->source->remote->count == 1;
    if (p->source && p->source->remote && !known)
        FAIL(SOTTO_EUSAGE, "data set '%s' has several files, so {url} cannot be used for it", name);
    if (known)
        p->own = p->source->remote->files[0];
    if (sha256) {
        if (strspn(sha256, "0123456789abcdef") != HEX_DIGITS || sha256[HEX_DIGITS])
            FAIL(SOTTO_EUSAGE, "{sha256='%.80s'}: expected 64 digits 0-9 a-f", sha256);
        p->own = (struct remote_file){.sha256 = sha256};
    }
    if (!p->own.sha256) {
        status =
            status_fail(SOTTO_EUSAGE,
                        "data set '%.80s': its SHA-256 is unknown, so a download could not be checked", name);
        status_hint("give the SHA-256 of the publisher by {sha256=HEX}");
        goto done;
    }
    TRY(download_check_url(options->url, false));
    name_from_url(p->own_name, sizeof p->own_name, options->url);
    p->own.name = p->own_name;
    p->files = &p->own;
    p->count = 1;
done:
    return status;
}

/* All sets that come in the same files, or the one that was named. Those that are there already are left
 * alone. */
static sotto_status plan_sets(struct plan *p, const char *name)
{
    sotto_status status = SOTTO_OK;
    char folder[4096], known[4096];
    TRY(import_check(folder, sizeof folder, name));
    p->sets[p->set_count++] = name;
    for (const struct dataset_source *const *s = dataset_sources; p->source && p->source->remote && *s; s++)
        if ((*s)->remote == p->source->remote && *s != p->source && p->set_count < SETS_LIMIT &&
            !store_find(known, sizeof known, (*s)->name))
            p->sets[p->set_count++] = (*s)->name;
done:
    return status;
}

static sotto_status make_plan(struct plan *p, const char *name, const struct sotto_fetch_options *options)
{
    sotto_status status = SOTTO_OK;
    char root[4096], first[100];
    *p = (struct plan){.source = dataset_source_find(name)};
    if (!http_available()) {
        status =
            status_fail(SOTTO_ENOTSUP, "data fetch: there is no libcurl, so it cannot download; expected "
                                       "libcurl.so.4 (package libcurl4) and a sotto that was built with it");
        status_hint("download the file yourself, then run 'sotto data import FILE --name %.80s'", name);
        goto done;
    }
    TRY(plan_sets(p, name));
    if (options->url) {
        TRY(plan_own_url(p, name, options));
    } else {
        if (options->sha256)
            FAIL(SOTTO_EUSAGE, "{sha256} needs {url=URL}");
        if (!p->source || !p->source->remote)
            return not_fetchable(name, p->source);
        p->base = p->source->remote->folder;
        p->files = p->source->remote->files;
        p->count = p->source->remote->count;
    }
    snprintf(first, sizeof first, ".download-%s", name);
    for (const struct dataset_source *const *s = dataset_sources; p->source && p->source->remote && *s; s++)
        if ((*s)->remote == p->source->remote) { /* one folder, whichever of them was named */
            snprintf(first, sizeof first, ".download-%s", (*s)->name);
            break;
        }
    TRY(store_folder(root, sizeof root));
    TRY(path_join(p->folder, sizeof p->folder, root, first));
done:
    return status;
}

static const char *fetch_address(char *out, size_t capacity, const struct plan *p, size_t file,
                                 const struct sotto_fetch_options *options)
{
    if (!p->base)
        return options->url;
    snprintf(out, capacity, "%s%s", p->base, p->files[file].name);
    return out;
}

static const struct sotto_fetch_options no_options;

sotto_status sotto_data_fetch_plan(char **text, const char *name, const struct sotto_fetch_options *options)
{
    REQUIRE_GIVEN(text, name);
    sotto_status status = SOTTO_OK;
    struct plan p;
    char url[1024], *out = NULL;
    size_t capacity = 8192, used = 0;
    options = options ? options : &no_options;
    REQUIRE(name && name[0], "data set: the name is empty");
    TRY(make_plan(&p, name, options));
    NEW(out, capacity);
    for (size_t i = 0; i < p.count && used < capacity; i++) {
        const struct remote_file *f = &p.files[i];
        char size[48] = "size not on record";
        if (f->bytes)
            snprintf(size, sizeof size, "%.1f MB", (double)f->bytes * 1e-6);
        used += (size_t)snprintf(out + used, capacity - used, "%.1000s\n  %s, checked by SHA-256%s\n",
                                 fetch_address(url, sizeof url, &p, i, options), size,
                                 f->sha256 ? "" : " of what it holds");
    }
    if (used < capacity)
        snprintf(out + used, capacity - used, "licence: %s\n",
                 p.source ? p.source->licence : "unknown; ask the publisher");
    *text = out;
    out = NULL;
done:
    base_free(out);
    return status;
}

static void remove_downloads(const struct plan *p)
{
    char path[4096];
    for (size_t i = 0; i < p->count; i++)
        if (path_join(path, sizeof path, p->folder, p->files[i].name) == SOTTO_OK)
            unlink(path);
    rmdir(p->folder); /* stays if it holds anything else */
}

static sotto_status import_all(const struct plan *p, const struct sotto_fetch_options *options,
                               const char *url, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char path[4096];
    if (p->count == 1)
        TRY(path_join(path, sizeof path, p->folder, p->files[0].name));
    else
        snprintf(path, sizeof path, "%s", p->folder);
    for (size_t i = 0; i < p->set_count; i++) {
        status = import_set(path, p->sets[i], &options->import, url, p->base != NULL, ctx);
        if (status != SOTTO_OK && status != SOTTO_ESTOPPED)
            status_hint("the download is kept in %s", p->folder);
        if (status != SOTTO_OK)
            break;
    }
done:
    return status;
}

sotto_status sotto_data_fetch(const char *name, const struct sotto_fetch_options *options,
                              const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(name);
    sotto_status status = SOTTO_OK;
    struct plan p = {0};
    char url[1024];
    options = options ? options : &no_options;
    REQUIRE(name && name[0], "data set: the name is empty");
    TRY(make_plan(&p, name, options));
    TRY(folder_make(p.folder));
    for (size_t i = 0; i < p.count; i++) {
        const char *from = fetch_address(url, sizeof url, &p, i, options);
        if (p.count > 1)
            context_log(ctx, SOTTO_LOG_INFO, "downloading %s", from);
        TRY(download_file(p.folder, from, &p.files[i], p.base != NULL, NULL, ctx));
    }
    TRY(import_all(&p, options,
                   p.base && p.count > 1 ? p.base : fetch_address(url, sizeof url, &p, 0, options), ctx));
    if (!options->keep)
        remove_downloads(&p);
    else
        context_log(ctx, SOTTO_LOG_INFO, "the download is kept in %s", p.folder);
done:
    if (status != SOTTO_OK && p.folder[0])
        rmdir(p.folder); /* empty, if nothing came */
    return status;
}

/* An audit takes the threads that its caller allows, and no more: this program starts none before. */
#include "support/test.h"
#include "support/audit_world.h"
#include "support/audit_text.h"

#include <dirent.h>

enum { VIEWS = 2, CLASSES = 2, BOTH = 2 * RECORDS };

struct answers {
    float references[MODELS * BOTH * CLASSES];
    uint8_t trained[MODELS * BOTH];
    double views[2][RECORDS * VIEWS * CLASSES];
    float reference_views[MODELS * BOTH * VIEWS * CLASSES];
};

/* Threads of this process: those of an OpenMP pool stay once they were made. */
static int threads_alive(void)
{
    DIR *folder = opendir("/proc/self/task");
    int count = 0;
    if (!folder)
        return 0;
    for (const struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

TEST(one_thread_is_enough)
{
    struct world *w = calloc(1, sizeof *w);
    struct answers *a = calloc(1, sizeof *a);
    assert_non_null(w);
    assert_non_null(a);
    struct sotto_audit_input in = world_make(w, 1, 5);
    const char *const names[] = {"loss", NULL};
    const struct sotto_audit_options options = {.names = names, .seed = 1};
    const struct sotto_context single = {.threads = 1};
    char *json = NULL;
    in.member_reference = in.nonmember_reference = NULL;
    in.member_trained = in.nonmember_trained = NULL;
    for (size_t i = 0; i < MODELS * BOTH; i++)
        a->trained[i] = i % 3 == 0;
    in.reference_outputs = a->references;
    in.reference_outputs_trained = a->trained;
    in.member_views = a->views[0];
    in.nonmember_views = a->views[1];
    in.reference_views = a->reference_views;
    in.views = VIEWS;
    const int before = threads_alive();
    assert_int_equal(audit_text(&json, &in, &options, &single), SOTTO_OK);
    assert_int_equal(threads_alive(), before);
    sotto_text_free(json);
    free(a);
    free(w);
}

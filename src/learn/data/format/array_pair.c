#include "data/format/array_pair.h"

#include "base/file.h"
#include "io/array/array.h"

#include <string.h>

/* Of FILE.npz:NAME the file. */
static bool stands_there(const char *text, size_t length)
{
    char path[4096];
    if (length == 0 || length >= sizeof path)
        return false;
    memcpy(path, text, length);
    path[length] = '\0';
    const char *member = array_member(path);
    if (member)
        path[member - path] = '\0';
    return strcmp(path, "-") == 0 || (file_exists(path) && !file_is_folder(path));
}

static bool named_array(const char *text)
{
    static const char *const endings[] = {".npy", ".npz", ".csv", ".safetensors"};
    const size_t length = strlen(text);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t tail = strlen(endings[i]);
        if (length > tail && strcmp(text + length - tail, endings[i]) == 0)
            return true;
    }
    return false;
}

size_t array_pair_colon(const char *text)
{
    const char *last = strrchr(text, ':');
    if (!last || file_exists(text))
        return 0;
    for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':'))
        if (stands_there(text, (size_t)(colon - text)) && stands_there(colon + 1, strlen(colon + 1)))
            return (size_t)(colon - text);
    return named_array(last + 1) ? (size_t)(last - text) : 0;
}

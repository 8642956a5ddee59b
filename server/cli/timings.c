/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a JSON file of timings, and refuses what is no timing with a sentence. */
#include "cli/timings.h"

#include <jansson.h>
#include <math.h>
#include <sys/stat.h>

#include "base/file.h"

enum { NAME_BYTES_MAX = 1024, HEAD_BYTES = 4096, COUNT_MAX = 1000000000 };
#define PS_IN_MS 1e9
#define MS_MAX 9e8 /* ten days: in picoseconds a tenth of what 64 bits hold */

bool timings_are(const char *path)
{
    struct arena *arena = arena_create();
    struct error ignored = {0};
    struct bytes bytes;
    struct stat info;

    bool is = str_ends(str_of(path), STR(".json")) && stat(path, &info) == 0 &&
              S_ISREG(info.st_mode) &&
              file_read(path, arena, TIMINGS_BYTES_MAX, &bytes, &ignored) == OK;
    if (is) {
        struct str text = {(const char *)bytes.at, bytes.count};
        struct str head = {text.at, text.count < HEAD_BYTES ? text.count : HEAD_BYTES};
        size_t blanks = 0;

        while (blanks < head.count && memchr(" \t\r\n", head.at[blanks], 4) != NULL)
            blanks++;
        is = blanks < head.count && head.at[blanks] == '{' &&
             !str_contains(head, STR("\"traceEvents\"")) &&
             !str_contains(head, STR("\"schemaVersion\""));
    }
    arena_destroy(arena);
    return is;
}

static enum status refuse(struct str name, const char *member, const char *why, struct error *err)
{
    int count = name.count > 100 ? 100 : (int)name.count;

    return fail(err, ERR_FORMAT, "%s%.*s%s\"%s\" %s", count > 0 ? "\"" : "", count, name.at,
                count > 0 ? "\": " : "", member, why);
}

/* A number of milliseconds; without it `*ret` stays, and is refused where it is required. */
static enum status take_ms(const json_t *result, struct str name, const char *member, bool required,
                           double *ret, struct error *err)
{
    const json_t *value = json_object_get(result, member);

    if (value == NULL && !required)
        return OK;
    if (!json_is_number(value))
        return refuse(name, member, value == NULL ? "is missing" : "is not a number", err);
    *ret = json_number_value(value);
    if (!(*ret >= 0))
        return refuse(name, member, "is negative", err);
    if (*ret > MS_MAX)
        return refuse(name, member, "is more than 900,000,000 ms", err);
    return OK;
}

static enum status take_count(const json_t *result, struct str name, uint32_t *ret,
                              struct error *err)
{
    const json_t *value = json_object_get(result, "count");

    *ret = 0;
    if (value == NULL || json_is_null(value))
        return OK;
    if (!json_is_integer(value) || json_integer_value(value) < 1 ||
        json_integer_value(value) > COUNT_MAX)
        return refuse(name, "count", "is not a whole number from 1 to 1,000,000,000", err);
    *ret = (uint32_t)json_integer_value(value);
    return OK;
}

static enum status take_result(const json_t *result, struct str name, struct timing *ret,
                               struct error *err)
{
    double mean, std, least = 0, most = MS_MAX, median = 0;

    TRY(take_ms(result, name, "mean", true, &mean, err));
    TRY(take_ms(result, name, "std", true, &std, err));
    TRY(take_ms(result, name, "min", false, &least, err));
    TRY(take_ms(result, name, "max", false, &most, err));
    TRY(take_ms(result, name, "median", false, &median, err));
    *ret = (struct timing){.name = name, .calls = {.mean = mean * PS_IN_MS, .std = std * PS_IN_MS}};
    TRY(take_count(result, name, &ret->calls.count, err));
    if (ret->calls.mean < 1)
        return refuse(name, "mean", "is zero: a call cannot take no time", err);
    if (least > most)
        return refuse(name, "min", "is more than \"max\"", err);
    /* A mean is rounded: it may miss the only value by a hair. */
    if (mean < least * (1 - 1e-9) || mean > most * (1 + 1e-9))
        return refuse(name, "mean", "is not between \"min\" and \"max\"", err);
    return OK;
}

static enum status take_mapping(json_t *root, struct arena *arena, struct timings *ret,
                                struct error *err)
{
    size_t count = json_object_size(root);
    const char *key;
    json_t *result;

    if (count == 0)
        return fail(err, ERR_FORMAT, "it holds no timing");
    if (count > TIMINGS_MAX)
        return fail(err, ERR_LIMIT, "it holds %zu names: %d are the most", count, TIMINGS_MAX);
    struct timing *items = arena_array(arena, struct timing, count);
    json_object_foreach(root, key, result)
    {
        struct str name = str_copy(arena, str_of(key));

        if (name.count > NAME_BYTES_MAX)
            return fail(err, ERR_LIMIT, "a name of %zu bytes: %d are the most", name.count,
                        NAME_BYTES_MAX);
        if (!json_is_object(result))
            return fail(
                err, ERR_FORMAT,
                "\"%.*s\" is not an object: a timing is {\"mean\": ..., \"std\": ...}, a file "
                "one of them or a mapping of names to them",
                name.count > 100 ? 100 : (int)name.count, name.at);
        TRY(take_result(result, name, &items[ret->count++], err));
    }
    ret->items = items;
    return OK;
}

static enum status take_root(json_t *root, struct arena *arena, struct timings *ret,
                             struct error *err)
{
    struct timing *only;

    if (!json_is_object(root))
        return fail(err, ERR_FORMAT, "it is not an object");
    if (!json_is_number(json_object_get(root, "mean")))
        return take_mapping(root, arena, ret, err);
    only = arena_new(arena, struct timing);
    *ret = (struct timings){.items = only, .count = 1, .is_single = true};
    return take_result(root, STR(""), only, err);
}

enum status timings_read(const char *path, struct arena *arena, struct timings *ret,
                         struct error *err)
{
    struct bytes bytes;
    struct error why = {0};
    json_error_t broken;

    *ret = (struct timings){0};
    TRY(file_read(path, arena, TIMINGS_BYTES_MAX, &bytes, err));
    json_t *root = json_loadb((const char *)bytes.at, bytes.count, JSON_REJECT_DUPLICATES, &broken);
    if (root == NULL)
        return fail(err, ERR_FORMAT, "%s is not a timing: line %d: %s", path, broken.line,
                    broken.text);
    enum status status = take_root(root, arena, ret, &why);
    json_decref(root);
    return status == OK ? OK : fail(err, status, "%s is not a timing: %s", path, why.message);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads jview.json, with limits, and writes it into replies. Facts: api/jview.schema.json. */
#include "serve/bundle/about.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

enum {
    FILE_BYTES_MAX = 65536,
    NAME_BYTES_MAX = 200,
    COMMIT_BYTES_MAX = 64,
    TAG_BYTES_MAX = 64,
    NOTE_BYTES_MAX = 4000,
};

static const int64_t COMMIT_TIME_MAX = INT64_C(9000000000); /* the year 2255 */
static const int64_t STEP_MAX = INT64_C(1) << 53;

static enum status take_text(const json_t *value, const char *member, size_t bytes_max,
                             struct arena *arena, struct str *ret, struct error *err)
{
    if (!json_is_string(value) || json_string_length(value) > bytes_max)
        return fail(err, ERR_FORMAT, "\"%s\" holds what is not a text of at most %zu bytes", member,
                    bytes_max);
    *ret = str_copy(arena, (struct str){json_string_value(value), json_string_length(value)});
    return OK;
}

static enum status take_step(const json_t *value, struct about *ret, struct error *err)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) > STEP_MAX)
        return fail(err, ERR_FORMAT, "\"step\" is not a whole number from 0 to 2^53");
    ret->has_step = true;
    ret->step = json_integer_value(value);
    return OK;
}

/* In seconds since 1970, as `git show -s --format=%ct` prints it. */
static enum status take_commit_time(const json_t *value, struct about *ret, struct error *err)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) > COMMIT_TIME_MAX)
        return fail(err, ERR_FORMAT, "\"commit_time\" is not a whole number of seconds since 1970");
    ret->has_commit_time = true;
    ret->commit_ns = json_integer_value(value) * 1000000000;
    return OK;
}

static enum status take_texts(const json_t *list, const char *member, size_t bytes_max,
                              struct arena *arena, struct str *ret, uint32_t *ret_count,
                              struct error *err)
{
    if (!json_is_array(list) || json_array_size(list) > ABOUT_TEXTS_MAX)
        return fail(err, ERR_FORMAT, "\"%s\" is not a list of at most %d texts", member,
                    ABOUT_TEXTS_MAX);
    *ret_count = (uint32_t)json_array_size(list);
    for (uint32_t i = 0; i < *ret_count; i++)
        TRY(take_text(json_array_get(list, i), member, bytes_max, arena, &ret[i], err));
    return OK;
}

static enum status take_metrics(json_t *object, struct arena *arena, struct about *ret,
                                struct error *err)
{
    const char *name;
    json_t *value;

    if (!json_is_object(object) || json_object_size(object) > ABOUT_METRICS_MAX)
        return fail(err, ERR_FORMAT, "\"metrics\" is not an object of at most %d numbers",
                    ABOUT_METRICS_MAX);
    json_object_foreach(object, name, value)
    {
        struct str text = str_of(name);

        if (!json_is_number(value) || text.count > NAME_BYTES_MAX)
            return fail(err, ERR_FORMAT,
                        "\"metrics\" holds a value that is not a number, or a name of more "
                        "than %d bytes",
                        NAME_BYTES_MAX);
        ret->metrics[ret->metric_count++] =
            (struct about_metric){str_copy(arena, text), json_number_value(value)};
    }
    return OK;
}

static enum status take_all(const json_t *object, struct arena *arena, struct about *ret,
                            struct error *err)
{
    const json_t *name = json_object_get(object, "name"), *step = json_object_get(object, "step");
    const json_t *commit = json_object_get(object, "commit");
    const json_t *commit_time = json_object_get(object, "commit_time");
    const json_t *tags = json_object_get(object, "tags"), *notes = json_object_get(object, "notes");
    json_t *metrics = json_object_get(object, "metrics");

    if (!json_is_object(object))
        return fail(err, ERR_FORMAT, "it is not a JSON object");
    if (name != NULL)
        TRY(take_text(name, "name", NAME_BYTES_MAX, arena, &ret->name, err));
    if (commit != NULL)
        TRY(take_text(commit, "commit", COMMIT_BYTES_MAX, arena, &ret->commit, err));
    if (step != NULL)
        TRY(take_step(step, ret, err));
    if (commit_time != NULL)
        TRY(take_commit_time(commit_time, ret, err));
    if (tags != NULL)
        TRY(take_texts(tags, "tags", TAG_BYTES_MAX, arena, ret->tags, &ret->tag_count, err));
    if (notes != NULL)
        TRY(take_texts(notes, "notes", NOTE_BYTES_MAX, arena, ret->notes, &ret->note_count, err));
    return metrics == NULL ? OK : take_metrics(metrics, arena, ret, err);
}

enum status about_parse(struct bytes bytes, struct arena *arena, struct about *ret,
                        struct error *err)
{
    json_error_t why;
    json_t *object = json_loadb((const char *)bytes.at, bytes.count, JSON_REJECT_DUPLICATES, &why);

    *ret = (struct about){.name = STR(""), .commit = STR("")};
    if (object == NULL)
        return fail(err, ERR_FORMAT, "it is not JSON: %s, at byte %d", why.text, why.position);
    enum status status = take_all(object, arena, ret, err);
    json_decref(object);
    ret->is_there = status == OK;
    return status;
}

/* False: there is no such file. */
static bool read_file(int root, struct str path, struct arena *arena, struct bytes *ret,
                      struct error *err)
{
    struct file_stamp stamp;
    int fd;

    if (file_open_beneath(root, str_c(arena, path), false, &fd, &stamp, err) != OK)
        return err->code != ERR_NOT_FOUND;
    size_t size = stamp.size > FILE_BYTES_MAX ? 0 : (size_t)stamp.size, count = 0;
    uint8_t *bytes = arena_alloc(arena, size + 1, 1);

    for (ssize_t got = 1; got > 0 && count<size; count += got> 0 ? (size_t)got : 0)
        got = read(fd, bytes + count, size - count);
    file_close(fd);
    *ret = (struct bytes){bytes, count};
    if (stamp.size > FILE_BYTES_MAX)
        fail(err, ERR_LIMIT, "it has more than %d bytes", FILE_BYTES_MAX);
    return true;
}

/* "a/plugins/profile/s" -> "a"; itself where it is no session. */
struct str about_above(struct str dir)
{
    const char *at = memmem(dir.at, dir.count, "plugins/profile", 15);

    if (dir.count == 0 || at == NULL || (at != dir.at && at[-1] != '/') ||
        (at + 15 != dir.at + dir.count && at[15] != '/'))
        return dir;
    return (struct str){dir.at, at == dir.at ? 0 : (size_t)(at - dir.at) - 1};
}

void about_key(uint64_t stamp, char ret[33])
{
    snprintf(ret, 33, "ab007ab007ab007a%016llx", (unsigned long long)stamp);
}

static bool stamp_in(int root, struct str dir, struct arena *arena, uint64_t *ret)
{
    struct str path = str_format(arena, "%.*s%sjview.json", STR_ARG(dir), dir.count > 0 ? "/" : "");
    struct stat info;

    if (fstatat(root, path.at, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    const int64_t parts[] = {(int64_t)info.st_ino, info.st_size,        info.st_mtim.tv_sec,
                             info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec};
    struct hasher *hasher = hasher_create();
    hasher_put(hasher, (struct bytes){(const uint8_t *)parts, sizeof parts});
    hasher_put(hasher, (struct bytes){(const uint8_t *)path.at, path.count});
    *ret = hasher_end(hasher).low | 1;
    return true;
}

uint64_t about_stamp(struct str root_path, struct str dir)
{
    struct arena *arena = arena_create();
    struct str above = about_above(dir);
    int root = open(str_c(arena, root_path), O_PATH | O_DIRECTORY | O_CLOEXEC);
    uint64_t ret = 0;

    if (root >= 0 && !stamp_in(root, dir, arena, &ret) && !str_equal(above, dir))
        (void)stamp_in(root, above, arena, &ret);
    if (root >= 0)
        close(root);
    arena_destroy(arena);
    return ret;
}

/* True: there was a file, good or bad. */
static bool try_directory(int root, struct str dir, struct arena *arena, struct about *ret)
{
    struct str path = str_format(arena, "%.*s%sjview.json", STR_ARG(dir), dir.count > 0 ? "/" : "");
    struct error err = {0};
    struct bytes bytes = {0};

    if (!read_file(root, path, arena, &bytes, &err))
        return false;
    if (err.code == OK && about_parse(bytes, arena, ret, &err) == OK) {
        ret->path = path;
        ret->text = (struct str){(const char *)bytes.at, bytes.count};
        return true;
    }
    *ret = (struct about){.path = path, .problem = str_copy(arena, str_of(err.message))};
    return true;
}

void about_read(const struct run_record *run, struct arena *arena, struct about *ret)
{
    struct str above = about_above(run->dir);
    int root = open(str_c(arena, run->root), O_PATH | O_DIRECTORY | O_CLOEXEC);

    *ret = (struct about){.path = STR(""), .problem = STR("")};
    if (root < 0)
        return;
    if (!try_directory(root, run->dir, arena, ret) && !str_equal(above, run->dir))
        (void)try_directory(root, above, arena, ret);
    close(root);
}

void json_put_about(struct json *json, const struct about *about)
{
    json_key(json, "about");
    if (!about->is_there) {
        json_add_null(json);
        return;
    }
    json_open(json, '{');
    json_put_text(json, "path", about->path);
    json_put_text_or_null(json, "name", about->name);
    json_key(json, "step");
    if (about->has_step)
        json_add_integer(json, about->step);
    else
        json_add_null(json);
    json_put_text_or_null(json, "commit", about->commit);
    json_key(json, "commit_time");
    if (about->has_commit_time)
        json_add_integer(json, about->commit_ns / 1000000000);
    else
        json_add_null(json);
    json_put_texts(json, "tags", about->tags, about->tag_count);
    json_put_texts(json, "notes", about->notes, about->note_count);
    json_key(json, "metrics");
    json_open(json, '[');
    for (uint32_t i = 0; i < about->metric_count; i++) {
        json_open(json, '{');
        json_put_text(json, "name", about->metrics[i].name);
        json_put_real(json, "value", about->metrics[i].value);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

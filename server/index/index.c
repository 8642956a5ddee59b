/* SPDX-License-Identifier: Apache-2.0 */
/* `jviewd index`: maps one file, finds its decoder, and writes segment and attribution. */
#include "index/index.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/attribute/attribute.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/pack/pack_cold.h"
#include "cli/cli.h"
#include "decode/decode.h"
#include "index/index_bundle.h"
#include "index/index_convert.h"
#include "index/index_guard.h"
#include "index/index_options.h"
#include "index/index_result.h"
#include "index/index_xplane.h"
#include "serve/bundle/bundled.h"
#include "store/cache.h"
#include "store/segment.h"

struct index_beside { /* a file that is read together with the one */
    struct str path;
    struct file_stamp stamp;
    struct file_map map;
    int fd;
};

struct index_job {
    const struct index_options *options;
    struct arena *arena;
    int fd;             /* the file */
    struct bytes bytes; /* of it */
    struct index_beside beside[BESIDE_MAX];
    uint32_t beside_count;
    struct hasher *hasher;
    size_t hashed; /* of the bytes: up to where the decoder has come */
    char content[33];
    char directory[4096];    /* of the output: for what is temporary */
    struct scratch *scratch; /* where the attribution stands */
    struct attribution attribution;
    struct error attribution_err; /* it is made on the sink's thread */
    struct index_result result;
    struct str line; /* what is told on stdout */
    bool is_member;  /* of a bundle: no bundle itself */
};

/* The bytes up to here were just read, so they are at hand. */
static void hash_up_to(struct index_job *job, uint64_t done)
{
    if (done > job->bytes.count)
        done = job->bytes.count;
    if (done <= job->hashed)
        return;
    hasher_put(job->hasher, (struct bytes){.at = job->bytes.at + job->hashed,
                                           .count = (size_t)done - job->hashed});
    job->hashed = (size_t)done;
}

static void finish_hash(struct index_job *job)
{
    if (job->hasher == NULL)
        return;
    hash_up_to(job, job->bytes.count);
    hash128_hex(hasher_end(job->hasher), job->content);
    job->hasher = NULL;
}

static void on_progress(void *data, uint64_t done, uint64_t total)
{
    struct index_job *job = data;
    struct index_progress progress = {.done = done, .total = total};

    if (job->hasher != NULL)
        hash_up_to(job, done);
    if (job->options->progress_fd >= 0) {
        ssize_t ignored = write(job->options->progress_fd, &progress, sizeof progress);

        (void)ignored; /* who does not listen misses nothing but progress */
    }
}

static void attribution_path(const char *segment, char ret[4096])
{
    size_t count = strlen(segment);

    if (count > 4 && strcmp(segment + count - 4, ".seg") == 0)
        count -= 4;
    snprintf(ret, 4096, "%.*s.attr", (int)count, segment);
}

struct attribution_job {
    struct index_job *job;
    struct attribution_out *out;
    struct error err; /* of the entries; each of both threads has its own */
};

static void write_entries(void *data, const struct attribution *attribution)
{
    struct attribution_job *to = data;
    char path[4096];

    attribution_path(to->job->options->out, path);
    enum status status = attribution_begin(path, to->job->content, attribution, &to->out, &to->err);
    assert(status == to->err.code);
}

/* While the sink makes the tables that the attribution does without. */
static void write_attribution(void *data, const struct trace *trace)
{
    struct index_job *job = data;
    struct error *err = &job->attribution_err;
    struct attribution_job to = {.job = job};
    const struct attribute_hooks hooks = {
        .two_threads = job->options->thread_count > 1, .entries = write_entries, .data = &to};

    enum status status = attribute(trace, job->scratch, hooks, &job->attribution, err);
    if (status == OK && to.err.code != OK) {
        *err = to.err;
        status = err->code;
    }
    if (status == OK)
        status = attribution_end(to.out, &job->attribution, err);
    else
        attribution_abandon(to.out);
    assert(status == err->code);
}

static enum status decode_into(struct index_job *job, struct input *input,
                               const struct decoder *decoder, struct segment_writer *writer,
                               struct error *err)
{
    struct sink_hooks hooks = {.progress = on_progress,
                               .beside = write_attribution,
                               .data = job,
                               .two_threads = job->options->thread_count > 1};
    struct sink *sink =
        sink_create(segment_writer_out(writer), &budget_default, hooks, job->directory, err);

    if (sink == NULL)
        return err->code;
    enum status status = decoder->decode(input, sink, err);
    finish_hash(job);
    if (status == OK)
        status = sink_finish(sink, err);
    sink_destroy(sink);
    if (status == OK && job->attribution_err.code != OK) {
        *err = job->attribution_err;
        status = err->code;
    }
    return status;
}

static enum status write_segment(struct index_job *job, struct input *input,
                                 const struct decoder *decoder, struct error *err)
{
    struct segment_writer *writer;

    TRY(segment_writer_open(job->options->out, &writer, err));
    enum status status = decode_into(job, input, decoder, writer, err);
    if (status == OK)
        status = segment_writer_commit(writer, job->content, err);
    segment_writer_abandon(writer);
    return status;
}

/* The attribution was made while the segment was not whole yet. */
static enum status bind_attribution(const struct index_job *job, const struct trace *trace,
                                    struct error *err)
{
    char path[4096];

    attribution_path(job->options->out, path);
    return attribution_bind(path, trace->sum, err);
}

static enum status tell_facts(struct index_job *job, struct error *err)
{
    struct segment *segment;

    TRY(segment_open(job->options->out, &segment, err));
    const struct trace *trace = segment_trace(segment);
    index_result_of_trace(trace, &job->attribution, job->result.part, job->arena, &job->result);
    job->result.bytes = job->bytes.count;
    job->line = index_result_line(&job->result, trace, job->arena);

    enum status status = bind_attribution(job, trace, err);

    segment_close(segment);
    return status;
}

/* The segment, its attribution beside it, and what is told of both. */
static enum status write_both(struct index_job *job, struct input *input,
                              const struct decoder *decoder, struct error *err)
{
    char path[4096];

    job->scratch = scratch_create(job->directory);
    enum status status = write_segment(job, input, decoder, err);
    if (status == OK)
        status = tell_facts(job, err);
    if (scratch_refusal(job->scratch) != 0)
        fprintf(stderr, "jviewd: memory was used instead of temporary files in %s: %s\n",
                job->directory, strerror(scratch_refusal(job->scratch)));
    scratch_destroy(job->scratch);
    attribution_path(job->options->out, path);
    if (status != OK)
        unlink(path); /* it would belong to a segment that is not there */
    return status;
}

static bool is_known(const struct index_job *job)
{
    for (int i = 0; i < job->options->unless_count; i++) {
        if (strcmp(job->content, job->options->unless[i]) == 0)
            return true;
    }
    return false;
}

static enum status ignore_file(struct index_job *job, const struct identity *identity)
{
    job->result.outcome = OUTCOME_IGNORED;
    job->result.format = str_of(identity->format);
    job->result.error = decode_reason(identity, path_base(str_of(job->options->file)), job->arena);
    return OK;
}

static enum status index_decoded(struct index_job *job, struct input *input,
                                 const struct identity *identity, struct error *err)
{
    job->result.format = str_of(identity->format);
    job->result.part = identity->decoder->part;
    return write_both(job, input, identity->decoder, err);
}

/* A converted file has no name and is not converted again. */
static enum status index_mapped(struct index_job *job, struct bytes bytes, struct error *err)
{
    struct identity identity;
    struct input input;

    TRY(input_open(STR("report.sqlite"), bytes, job->directory, job->arena, &input, err));
    input.is_map = true;
    identity = decode_identify(&input);
    enum status status =
        identity.decoder == NULL
            ? fail(err, ERR_UNSUPPORTED, "the converted report is not a readable file")
            : index_decoded(job, &input, &identity, err);
    input_close(&input);
    return status;
}

/* The other program has run when this one gives up starting any. */
static enum status index_converted(struct index_job *job, int report, struct error *err)
{
    struct file_stamp stamp;
    struct file_map map;
    int fd;

    TRY(convert_file(report, job->directory, &fd, &stamp, err));
    enum status status = guard_confine(job->directory, err);
    if (status == OK)
        status = file_map(fd, stamp.size, &map, err);
    file_close(fd);
    TRY(status);
    status = index_mapped(job, map.bytes, err);
    file_unmap(&map);
    return status;
}

static enum status index_input(struct index_job *job, struct input *input, struct error *err)
{
    struct identity identity = decode_identify(input);

    if (job->options->identify &&
        (identity.decoder != NULL || (job->options->convert && convert_knows(identity.format)))) {
        job->result.outcome = OUTCOME_SAME;
        job->result.format = str_of(identity.format);
        return OK;
    }
    if (identity.decoder == NULL)
        return ignore_file(job, &identity);
    if (job->options->xplane)
        return index_xplane(input, identity.decoder, job->options->out, err);
    return index_decoded(job, input, &identity, err);
}

/* "1.seg", "1-1.seg", "1-2.seg": where a bundle's members go. */
static const char *member_path(const struct index_job *job, uint32_t member)
{
    struct str out = str_of(job->options->out);
    bool has_suffix = str_ends(out, STR(".seg"));

    if (member == 0)
        return job->options->out;
    return str_format(job->arena, "%.*s-%u%s", (int)(out.count - (has_suffix ? 4 : 0)), out.at,
                      member, has_suffix ? ".seg" : "")
        .at;
}

/* The segment as it came; what stands on it is made again. */
static enum status adopt_segment(struct index_job *job, const struct bundle_file *file,
                                 uint32_t member, struct error *err)
{
    const struct bundle_member *told = &file->manifest.members[member];
    struct segment *segment;

    bundle_key(file, member, job->content);
    TRY(bundle_take_segment(file, member, job->options->out, &segment, err));
    job->scratch = scratch_create(job->directory);
    write_attribution(job, segment_trace(segment));
    enum status status = job->attribution_err.code;
    if (status == OK) {
        index_result_of_trace(segment_trace(segment), &job->attribution, told->part, job->arena,
                              &job->result);
        memcpy(job->result.content, job->content, sizeof job->content);
        memcpy(job->result.origin, told->content, sizeof job->result.origin);
        job->result.bytes = told->bytes;
        job->line = index_result_line(&job->result, NULL, job->arena);
        status = bind_attribution(job, segment_trace(segment), err);
    } else {
        *err = job->attribution_err;
    }
    scratch_destroy(job->scratch);
    segment_close(segment);
    return status;
}

static enum status index_bytes(struct index_job *job, struct error *err);

/* The profile file, read as if it lay there. */
static enum status index_raw(struct index_job *job, const struct bundle_file *file, uint32_t member,
                             struct error *err)
{
    uint64_t size = file->manifest.members[member].raw.bytes;
    struct file_map map;
    int fd;

    TRY(bundle_take_raw(file, member, job->directory, &fd, err));
    enum status status = file_map(fd, size, &map, err);
    file_close(fd);
    TRY(status);
    job->bytes = map.bytes;
    status = index_bytes(job, err);
    file_unmap(&map);
    if (status == OK && job->result.outcome != OUTCOME_INDEXED)
        return fail(err, ERR_FORMAT, "%.*s of the bundle is not a profile",
                    STR_ARG(file->manifest.members[member].path));
    return status;
}

/* One member; *ret is its own result. */
static enum status index_member(const struct index_job *bundle, const struct bundle_file *file,
                                uint32_t member, struct index_result *ret, struct error *err)
{
    const struct bundle_member *told = &file->manifest.members[member];
    struct index_options options = *bundle->options;
    struct index_job job = {.options = &options, .arena = bundle->arena, .is_member = true};

    memcpy(job.directory, bundle->directory, sizeof job.directory);
    options.file = str_c(bundle->arena, told->path);
    options.out = member_path(bundle, member);
    options.progress_fd = -1;
    options.unless_count = 0;
    TRY(bundle_has_segments(file) ? adopt_segment(&job, file, member, err)
                                  : index_raw(&job, file, member, err));
    TRY(index_result_parse(job.line, job.arena, ret, err)); /* whose texts outlive the segment */
    ret->host = told->host;
    ret->group = STR(""); /* it stands for itself, whatever lies beside it */
    ret->rank = -1;
    return OK;
}

static enum status index_members(struct index_job *job, const struct bundle_file *file,
                                 struct error *err)
{
    const uint32_t count = file->manifest.member_count;
    struct str *lines = arena_array(job->arena, struct str, count);
    struct index_result first = {0};

    for (uint32_t i = 0; i < count; i++) {
        struct index_result result;

        TRY(index_member(job, file, i, &result, err));
        if (i == 0)
            first = result;
        else
            lines[i - 1] = index_result_line(&result, NULL, job->arena);
        on_progress(job, job->bytes.count * (i + 1) / count, job->bytes.count);
    }
    first.said = file->manifest.said;
    first.members = lines;
    first.member_count = count - 1;
    job->result = first;
    job->line = index_result_line(&first, NULL, job->arena);
    return OK;
}

static enum status index_bundle(struct index_job *job, struct error *err)
{
    struct bundle_file file;

    TRY(bundle_open(job->bytes, job->arena, &file, err));
    enum status status = bundle_has_segments(&file) ? OK : bundle_check_raw(&file, err);
    if (status == OK && job->options->identify)
        job->result = (struct index_result){.outcome = OUTCOME_SAME, .format = STR(BUNDLE_FORMAT)};
    else if (status == OK)
        status = index_members(job, &file, err);
    bundle_close(&file);
    return status;
}

/* True where nothing more is to be done: the content is known. */
static bool begin_hash(struct index_job *job)
{
    job->hasher = job->options->xplane ? NULL : hasher_create(); /* nobody asks for it again */
    for (uint32_t i = 0; i < job->beside_count && job->hasher != NULL; i++)
        hasher_put(job->hasher, job->beside[i].map.bytes);
    if (job->options->unless_count == 0)
        return false;
    finish_hash(job);
    if (!is_known(job))
        return false;
    job->result.outcome = OUTCOME_SAME;
    memcpy(job->result.content, job->content, sizeof job->content);
    return true;
}

/* `report` is the file, or what it was before it was put away packed. */
static enum status index_report(struct index_job *job, int report, struct error *err)
{
    struct file_stamp stamp;
    struct file_map map;

    TRY(file_stamp_of(report, &stamp, err));
    TRY(file_map(report, stamp.size, &map, err));
    job->bytes = map.bytes;
    job->result.bytes = stamp.size;
    enum status status = begin_hash(job) ? OK : index_converted(job, report, err);
    if (job->result.outcome != OUTCOME_SAME) {
        finish_hash(job);
        memcpy(job->result.content, job->content, sizeof job->content);
    }
    file_unmap(&map);
    return status;
}

static enum status open_beside(struct index_job *job, struct input *input, struct error *err)
{
    input->beside = arena_array(job->arena, struct input, BESIDE_MAX);
    for (uint32_t i = 0; i < job->beside_count; i++) {
        const struct index_beside *beside = &job->beside[i];

        TRY(input_open(path_base(beside->path), beside->map.bytes, job->directory, job->arena,
                       &input->beside[i], err));
        input->beside[i].is_map = true;
        input->beside_count++;
    }
    return OK;
}

static void close_beside(struct input *input)
{
    for (uint32_t i = 0; i < input->beside_count; i++)
        input_close(&input->beside[i]);
}

static enum status index_bytes(struct index_job *job, struct error *err)
{
    struct input input;

    if (bundle_is(job->bytes) && !job->is_member)
        return index_bundle(job, err);
    if (begin_hash(job))
        return OK;
    TRY(input_open(path_base(str_of(job->options->file)), job->bytes, job->directory, job->arena,
                   &input, err));
    input.is_map = !job->is_member;
    enum status status = open_beside(job, &input, err);
    if (status == OK)
        status = index_input(job, &input, err);
    close_beside(&input);
    input_close(&input);
    if (!job->options->identify)
        finish_hash(job);
    memcpy(job->result.content, job->content, sizeof job->content);
    return status;
}

static bool is_same_file(const struct index_job *job, const struct file_stamp *before,
                         const struct file_stamp *after)
{
    if (file_stamp_equal(before, after))
        return true;
    return job->options->growing && before->device == after->device &&
           before->inode == after->inode && after->size >= before->size;
}

static bool is_beside_same(const struct index_job *job)
{
    struct file_stamp after;
    struct error unseen = {0};

    for (uint32_t i = 0; i < job->beside_count; i++)
        if (file_stamp_of(job->beside[i].fd, &after, &unseen) != OK ||
            !file_stamp_equal(&job->beside[i].stamp, &after))
            return false;
    return true;
}

static void remove_output(const struct index_options *options)
{
    char path[4096];

    unlink(options->out);
    attribution_path(options->out, path);
    unlink(path);
}

/* What stood in the file at the beginning is what was read, or nothing was. */
static enum status check_unchanged(struct index_job *job, int fd, const struct file_stamp *before,
                                   enum status status, struct error *err)
{
    struct file_stamp after;
    struct error unseen = {0};

    if (file_stamp_of(fd, &after, &unseen) == OK && is_same_file(job, before, &after) &&
        is_beside_same(job))
        return status;
    remove_output(job->options);
    *err = (struct error){0};
    return fail(err, ERR_CONFLICT, "the file changed while it was read");
}

/* A file that was put away packed is the file that it was. */
static enum status index_cold(struct index_job *job, const struct cold *cold, struct error *err)
{
    const struct bytes packed = job->bytes;
    struct file_map whole;
    int fd = open(job->directory, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

    if (fd < 0)
        return fail(err, ERR_IO, "%s takes no temporary file: %s", job->directory, strerror(errno));
    enum status status = cold_unpack(job->fd, cold, fd, err);
    if (status == OK)
        status = file_map(fd, cold->bytes, &whole, err);
    if (status == OK) {
        job->bytes = whole.bytes;
        job->result.bytes = cold->bytes;
        status = index_bytes(job, err);
        job->bytes = packed;
        file_unmap(&whole);
    }
    file_close(fd);
    return status;
}

static enum status index_confined(struct index_job *job, struct error *err)
{
    struct cold cold;

    TRY(guard_confine(job->directory, err));
    return cold_of(job->fd, &cold) ? index_cold(job, &cold, err) : index_bytes(job, err);
}

/* A report of a program that converts it is looked for only where that may run. */
static enum status index_any(struct index_job *job, struct error *err)
{
    const struct index_options *options = job->options;
    int report = -1;

    if (options->convert && !options->identify && !options->xplane)
        TRY(convert_find(job->fd, job->bytes, job->directory, &report, err));
    if (report < 0)
        return index_confined(job, err);
    enum status status = index_report(job, report, err);
    file_close(report);
    return status;
}

enum { HOLES_BYTES_MIN = 16 << 20, HOLES_SHARE = 16 };

/* A terabyte of hole takes no room to make, and hours to read. */
static enum status check_holes(int fd, uint64_t size, struct error *err)
{
    uint64_t enough = size / HOLES_SHARE, there;

    if (size < HOLES_BYTES_MIN || (there = file_data_bytes(fd, size, enough)) >= enough)
        return OK;
    return fail(err, ERR_TRUNCATED,
                "the file is sparse: only %llu of its %llu bytes were written; copy it again",
                (unsigned long long)there, (unsigned long long)size);
}

static enum status index_fd(struct index_job *job, int fd, const struct file_stamp *stamp,
                            struct error *err)
{
    struct file_map map;

    if (stamp->size == 0)
        return fail(err, ERR_TRUNCATED, "the file is empty (0 bytes)");
    TRY(check_holes(fd, stamp->size, err));
    uint64_t beside_size = 0;
    for (uint32_t i = 0; i < job->beside_count; i++)
        beside_size += job->beside[i].stamp.size;
    TRY(guard_process(stamp->size + beside_size,
                      file_data_bytes(fd, stamp->size, UINT64_MAX) + beside_size,
                      job->options->progress_fd >= 0, err));
    TRY(file_map(fd, stamp->size, &map, err));
    guard_map(map.bytes);
    for (uint32_t i = 0; i < job->beside_count; i++)
        guard_map(job->beside[i].map.bytes);
    job->fd = fd;
    job->bytes = map.bytes;
    job->result.bytes = stamp->size;
    enum status status = index_any(job, err);
    status = check_unchanged(job, fd, stamp, status, err);
    file_unmap(&map);
    return status;
}

static enum status open_file(const struct index_options *options, const char *path, int *ret_fd,
                             struct file_stamp *ret, struct error *err)
{
    if (options->root == NULL)
        return file_open(path, ret_fd, ret, err);

    int root = open(options->root, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (root < 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? fail(err, ERR_NOT_FOUND, "%s is not a directory", options->root)
                   : fail(err, ERR_IO, "%s cannot be opened: %s", options->root, strerror(errno));
    enum status status = file_open_beneath(root, path, options->follow_symlinks, ret_fd, ret, err);
    close(root);
    return status;
}

/* What lies beside it, in the first packing that is there; an empty one is not there yet. */
static void map_beside(struct index_job *job)
{
    struct str path;

    for (uint32_t file = 0; file < BESIDE_MAX; file++) {
        struct index_beside *beside = &job->beside[job->beside_count];
        bool found = false;

        for (uint32_t choice = 0;
             !found && decode_beside(str_of(job->options->file), file, choice, job->arena, &path);
             choice++) {
            struct error absent = {0};

            if (open_file(job->options, path.at, &beside->fd, &beside->stamp, &absent) != OK)
                continue;
            found = beside->stamp.size > 0 &&
                    check_holes(beside->fd, beside->stamp.size, &absent) == OK &&
                    file_map(beside->fd, beside->stamp.size, &beside->map, &absent) == OK;
            if (!found)
                file_close(beside->fd);
        }
        beside->path = path;
        job->beside_count += found;
    }
}

static void unmap_beside(struct index_job *job)
{
    for (uint32_t i = 0; i < job->beside_count; i++) {
        file_unmap(&job->beside[i].map);
        file_close(job->beside[i].fd);
    }
}

static enum status index_file(struct index_job *job, struct error *err)
{
    struct file_stamp stamp;
    int fd;

    TRY(open_file(job->options, job->options->file, &fd, &stamp, err));
    map_beside(job);
    enum status status = index_fd(job, fd, &stamp, err);
    unmap_beside(job);
    file_close(fd);
    return status;
}

static int exit_code(enum status status, const struct index_result *result)
{
    switch (status) {
    case OK:
        return result->outcome == OUTCOME_IGNORED ? EXIT_NOT_FOUND : EXIT_OK;
    case ERR_INVALID:
        return EXIT_USAGE;
    case ERR_NOT_FOUND:
        return EXIT_NOT_FOUND;
    case ERR_IO:
    case ERR_PERMISSION:
    case ERR_CONFLICT:
    case ERR_CANCELLED:
        return EXIT_IO;
    default:
        return EXIT_CORRUPT;
    }
}

static int run(const struct index_options *options)
{
    struct index_job job = {.options = options, .arena = arena_create()};
    struct error err = {0};
    const char *out = options->out, *slash = strrchr(out, '/');

    if (slash == NULL)
        snprintf(job.directory, sizeof job.directory, ".");
    else
        snprintf(job.directory, sizeof job.directory, "%.*s", (int)(slash - out + (slash == out)),
                 out);
    enum status status = index_file(&job, &err);
    if (status != OK) {
        job.result.outcome = status == ERR_CONFLICT ? OUTCOME_CHANGED : OUTCOME_FAILED;
        job.result.error = str_copy(job.arena, str_of(err.message));
        if (strstr(err.message, options->file) == NULL) /* most name it themselves */
            error_context(&err, "%s: ", options->file);
        fprintf(stderr, "jviewd: %s\n", err.message);
    } else if (job.result.outcome == OUTCOME_IGNORED) {
        fprintf(stderr, "jviewd: %s: %.*s\n", options->file, STR_ARG(job.result.error));
    }
    if (job.line.count == 0)
        job.line = index_result_line(&job.result, NULL, job.arena);
    printf("%.*s\n", STR_ARG(job.line));
    arena_destroy(job.arena);
    if (fflush(stdout) != 0 && status == OK)
        return EXIT_IO;
    return exit_code(status, &job.result);
}

int index_main(int argc, char **argv)
{
    struct index_options options;
    int exit_now;

    return index_options_parse(argc, argv, &options, &exit_now) ? run(&options) : exit_now;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes a spool into a segment without a name, and exports it as XPlane. */
#include "index/index_xplane.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "export/export.h"
#include "store/segment.h"

enum { PATH_BYTES = 4096 };

static enum status decode_into(struct input *input, struct segment_writer *writer,
                               struct xspace_lines *lines, struct error *err)
{
    const struct sink_hooks hooks = {.taker = xspace_lines_taker(lines)};
    struct sink *sink = sink_create(segment_writer_out(writer), &budget_default, hooks,
                                    input_temporary_dir(input), err);

    if (sink == NULL)
        return err->code;
    xspace_lines_begin(lines, sink);
    enum status status = decode_record.decode(input, sink, err);

    if (status == OK)
        status = xspace_lines_end(lines, err);
    if (status == OK)
        status = sink_finish(sink, err);
    sink_destroy(sink);
    return status;
}

/* A segment of all but slices; it has no name any more once it is open. */
static enum status make_segment(struct input *input, const char *out, struct xspace_lines *lines,
                                struct segment **ret, struct error *err)
{
    static const char no_content[33] = "00000000000000000000000000000000";
    struct segment_writer *writer;
    char path[PATH_BYTES];

    if (snprintf(path, sizeof path, "%s.seg", out) >= PATH_BYTES)
        return fail(err, ERR_INVALID, "%s is too long a path", out);
    TRY(segment_writer_open(path, &writer, err));
    enum status status = decode_into(input, writer, lines, err);

    if (status == OK)
        status = segment_writer_commit(writer, no_content, err);
    segment_writer_abandon(writer);
    if (status != OK)
        return status;
    status = segment_open(path, ret, err);
    unlink(path);
    return status;
}

struct sequel { /* where the file has come to */
    int fd;
    uint64_t at;
};

static enum status append(void *to, struct bytes piece, struct error *err)
{
    struct sequel *sequel = to;

    TRY(file_write_all(sequel->fd, piece.at, piece.count, sequel->at, err));
    sequel->at += piece.count;
    return OK;
}

/* What becomes the user's has the user's usual rights. */
static void usual_rights(int fd)
{
    mode_t mask = umask(0);

    umask(mask);
    if (fchmod(fd, 0666 & ~mask) != 0)
        fprintf(stderr, "jviewd: the file stays readable by its owner only\n");
}

static enum status write_xplane(const struct trace *trace, struct xspace_lines *lines,
                                const char *out, struct error *err)
{
    const struct export_host host = {.trace = trace, .name = trace->hostname};
    const struct export_run run = {.hosts = &host,
                                   .host_count = 1,
                                   .name = trace->hostname,
                                   .lines = lines,
                                   .has_epoch = trace->has_epoch,
                                   .epoch_ns = trace->epoch_ns};
    struct file_out file;

    TRY(file_out_open(&file, out, err));
    struct sequel sequel = {.fd = file.fd};
    enum status status = export_xspace(&run, append, &sequel, err);

    if (status != OK) {
        file_out_abandon(&file);
        return status;
    }
    usual_rights(file.fd);
    return file_out_commit(&file, err);
}

enum status index_xplane(struct input *input, const struct decoder *decoder, const char *out,
                         struct error *err)
{
    struct segment *segment;

    if (decoder != &decode_record)
        return fail(err, ERR_UNSUPPORTED, "it is not a spool of jview-collect");
    struct xspace_lines *lines = xspace_lines_create(input_temporary_dir(input));
    enum status status = make_segment(input, out, lines, &segment, err);

    if (status == OK) {
        status = write_xplane(segment_trace(segment), lines, out, err);
        segment_close(segment);
    }
    xspace_lines_destroy(lines);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* From a file's bytes to a trace, one decoder a format.
 *
 * Formats are told by content; the name is a hint for messages only. A decoder pushes what it
 * finds into the sink in file order and knows nothing of nesting, sorting, columns or threads.
 * What is odd but bearable becomes a note; a file cut off or corrupt keeps what is whole and adds
 * a note (the sink still finishes), or fails with a sentence when nothing is whole.
 *
 * A new format is one file here and one line in registry.c.
 */
#ifndef JVIEWD_DECODE_DECODE_H
#define JVIEWD_DECODE_DECODE_H

#include "base/pack/pack.h"
#include "trace/part.h"
#include "trace/sink.h"

struct input {          /* a profile file, mapped; see input.c */
    struct str name;    /* base name */
    struct bytes bytes; /* the file */
    enum packing packing;
    bool is_map;       /* of a file: what was read can be read again, so its pages need not stay */
    struct bytes head; /* its first bytes, unpacked: at most 64 KiB, whole file if shorter */
    struct input_state *state;
    struct input *beside; /* other files of its recording that are at hand (decode_beside) */
    uint32_t beside_count;
};

/* Opens what an fd holds; `temporary_dir` takes the unpacked form of packed binary files. */
MUST_CHECK enum status input_open(struct str name, struct bytes bytes, const char *temporary_dir,
                                  struct arena *arena, struct input *ret, struct error *err);
void input_close(struct input *input);
/* The whole unpacked content as one span (an unlinked temporary file where it was packed). A
 * cut-off packing yields what is whole and sets *ret_cut. */
MUST_CHECK enum status input_whole(struct input *input, struct bytes *ret, bool *ret_cut,
                                   struct error *err);
/* The pages of the whole content up to there need not stay: who walks it gives them back now and
 * then, so that memory does not grow with the file. */
void input_pass(const struct input *input, struct bytes whole, size_t upto);
/* The unpacked content piece by piece, at most 1 MiB each; no bytes at the end. A failure of the
 * packing (cut off, corrupt, a bomb) ends the pieces and stands in `err`. */
struct bytes input_next(struct input *input, struct error *err);
uint64_t input_consumed(const struct input *input);         /* file bytes so far: for progress */
const char *input_temporary_dir(const struct input *input); /* for scratch */

struct decoder {
    const char *name;                         /* the word in JSON: "xplane", "chrome-json" */
    enum decode_part part;                    /* what its files are to their run */
    bool (*sniff)(const struct input *input); /* head only; no side effect */
    enum status (*decode)(struct input *input, struct sink *sink, struct error *err);
};

extern const struct decoder decode_xspace, decode_trace_json, decode_pprof, decode_perfetto;
extern const struct decoder decode_record, decode_torch_snapshot, decode_oom_report;
extern const struct decoder decode_nsys, decode_nsys_jax, decode_nsys_jax_ranges,
    decode_nsys_jax_table;
extern const struct decoder decode_hlo_proto, decode_hlo_text, decode_xla_dump;

enum { BESIDE_MAX = 2 }; /* files that are read together with one */

/* The path, by that of a file, of one that is read together with it if it is there. `choice` counts
 * from 0 through other packings of the same; false: there are no more. Told by names alone. */
bool decode_beside(struct str path, uint32_t file, uint32_t choice, struct arena *arena,
                   struct str *ret);
bool decode_reads_beside(struct str path);
/* The other way round: the path of the file that one of this path is read together with. */
bool decode_read_with(struct str path, struct arena *arena, struct str *ret);

struct identity {                  /* what a file is */
    const struct decoder *decoder; /* NULL: not read */
    const char *format;            /* "xplane", "pprof", "text", "unknown", ... */
    const char *reason;            /* why it is not read, and what to do; NULL when it is. "{}"
                                      stands for the file's name */
    enum packing packing;          /* around it */
};
/* Every format of the corpus is named, also those that no decoder reads yet. */
struct identity decode_identify(const struct input *input);
/* Somebody recorded it, or computed it from a recording: worth a line in a list, read or not. A
 * message that only its shape tells is one where the file's name says so too. */
bool decode_is_recording(struct str format, struct str path);
/* Does XProf keep results under this name beside a profile, and nothing else? Some are empty. */
bool decode_is_xprof_cache(struct str name);
/* Does TensorFlow's profiler write a result under this name beside each profile? On a CPU that of
 * its kernels is empty. */
bool decode_is_tool_output(struct str name);
/* The reason in words that a shell takes for a file of that base name, which it unpacks first. */
struct str decode_reason(const struct identity *identity, struct str name, struct arena *arena);

#endif

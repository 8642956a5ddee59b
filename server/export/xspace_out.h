/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the XSpace exporter: what its files share. The format stands in
 * decode/xspace/xspace.c.
 *
 *   xspace.c          the walk: planes in order, what the file says of itself
 *   xspace_plane.c    a plane: its lines wait in a spill until all their lengths are known
 *   xspace_lines.c    lines of what is still told, in place of a trace's rows
 *   xspace_order.c    the same, put in order
 *   xspace_names.c    what ids of events and stats mean
 *   xspace_event.c    an event with its stats
 *   xspace_samples.c  samples of stacks as lines of events
 *   xspace_details.c  what XProf expects to find as one text: kernel_details and the like
 */
#ifndef JVIEWD_EXPORT_XSPACE_OUT_H
#define JVIEWD_EXPORT_XSPACE_OUT_H

#include "base/arena.h"
#include "base/protobuf_out.h"
#include "decode/id_map.h"
#include "decode/xspace/xspace.h"
#include "export/row_merge.h"
#include "export/slice_rows.h"
#include "trace/sink.h"
#include "trace/spill.h"

/* A name of a plane: a name_id of the trace, or one of these words where the trace has no such
 * name, or a text that was made. */
typedef uint64_t key_id;

enum xspace_word {
    WORD_KERNEL_DETAILS,
    WORD_MEMCPY_DETAILS,
    WORD_MEMSET_DETAILS,
    WORD_CORRELATION,
    WORD_PRODUCER_TYPE,
    WORD_PRODUCER,
    WORD_CONSUMER_TYPE,
    WORD_CONSUMER,
    WORD_ASYNC,
    WORD_UNFINISHED,
    WORD_VALUE,
    WORD_PROTO,
    WORD_START,
    WORD_STOP,
    WORD_PROCESS,
    WORD_VENDOR,
    WORD_FILE,
    WORD_LINE,
    WORDS
};

enum detail_key { /* args that details are made of */
                  DETAIL_GRID,
                  DETAIL_BLOCK,
                  DETAIL_REGISTERS,
                  DETAIL_STATIC_SHARED,
                  DETAIL_DYNAMIC_SHARED,
                  DETAIL_BYTES,
                  DETAIL_SOURCE,
                  DETAIL_DESTINATION,
                  DETAIL_MEMORY,
                  DETAILS
};

struct xspace_out { /* one host's export */
    const struct export_run *run;
    const struct export_host *host;
    const struct trace *trace;
    struct sink *sink;         /* has the names while there is no trace; then NULL */
    const char *temporary_dir; /* NULL: the usual one */
    pack_write *write;
    void *to;
    struct error *err;
    struct arena *arena; /* of the event at hand: texts that had to be cleaned */
    struct chunk *chunk;
    struct slice_args args;
    int64_t shift_ps; /* XSpaces know no negative times: added to all, taken from the epoch */
    key_id words[WORDS];
    name_id details[DETAILS]; /* 0: no arg is called so */
    uint64_t detail_bits;     /* bit `key % 64` of each */
    bool is_xplane;           /* it was one: names, ids and arrows are right as they are */
    bool has_told_arrows;     /* args hold the ids that arrows are made of */
    uint64_t plane_count;
    uint32_t *samples; /* of stacks that have a place, by track, type and time */
    uint32_t sample_count;
    track_id *roots, *next; /* by track: the outermost above it; the next of that one */
};

struct extent { /* of plane.spill */
    uint64_t at, count;
};

struct line_out {
    size_t head_at, head_count; /* in plane.heads */
    struct extent *extents;     /* its events */
    uint32_t extent_count, extent_capacity;
    uint64_t bytes; /* of all extents */
};

enum { QUICK_IDS = 256 };

struct plane_detail { /* one made text, and what it was made of */
    uint64_t parts[5];
    uint64_t ref; /* 0: free */
};

struct plane_out {
    struct xspace_out *space;
    struct spill *spill;
    struct str name;
    bool is_device;
    struct text heads, events, event, stat, about, made, pieces;
    struct line_out *lines;
    uint32_t line_count, line_capacity;
    uint64_t line_from, lines_end; /* in the spill: of the line at hand; of all there are */
    struct id_map line_ids, stat_ids, event_ids;
    key_id *stats;          /* by id - 1 */
    uint64_t *events_by_id; /* type << 32 | name, by id - 1 */
    uint32_t stat_count, stat_capacity, event_count, event_capacity;
    struct plane_detail *known; /* DETAILS_KNOWN of them */
    uint32_t known_count;
    struct {
        key_id key;
        uint64_t id;    /* 0: free */
    } quick[QUICK_IDS]; /* some of stat_ids, by their lowest bits */
};

struct event_out {
    slice_id id; /* of a row's */
    name_id name;
    type_id type;
    uint8_t flags;
    int64_t start_ps, dur_ps;
    const struct arg *args;
    uint32_t arg_count;
};

/* xspace_names.c */
void names_open_words(struct xspace_out *space);
struct str space_text(const struct xspace_out *space, name_id name);
struct str names_text(const struct plane_out *plane, key_id key);
uint64_t names_stat_id(struct plane_out *plane, key_id key);
uint64_t names_event_id(struct plane_out *plane, name_id name, type_id type);
key_id names_make(struct plane_out *plane, struct str text);
/* All that were asked for, as metadata behind the lines. */
MUST_CHECK enum status names_put(struct plane_out *plane, struct error *err);

/* xspace_event.c */
void stat_put(struct plane_out *plane, struct text *to, uint32_t field, struct arg arg);
void stat_put_number(struct plane_out *plane, struct text *to, uint32_t field, enum xspace_word key,
                     uint64_t value);
void stat_put_text(struct plane_out *plane, struct text *to, uint32_t field, key_id key,
                   struct str text);
void stat_put_name(struct plane_out *plane, struct text *to, uint32_t field, enum xspace_word key,
                   name_id name);
/* Behind plane->events; its offset is from `base_ps`, a time of the space. */
void event_put(struct plane_out *plane, const struct event_out *event, int64_t base_ps);
/* Of it what follows its name and times. */
void event_put_stats(struct plane_out *plane, struct text *to, const struct event_out *event);

/* xspace_details.c */
void details_put(struct plane_out *plane, struct text *to, const struct event_out *event);

/* xspace_plane.c */
void plane_open(struct plane_out *plane, struct xspace_out *space, struct str name);
MUST_CHECK enum status plane_put_track(struct plane_out *plane, track_id track, struct error *err);
/* A line by hand: its head (which gives its clock, in ps), its events, its end. */
struct line_out *plane_add_line(struct plane_out *plane);
void line_add(struct line_out *line, struct extent extent);
int64_t plane_put_head(struct plane_out *plane, int64_t id, struct str name, int64_t first_ps);
/* Behind each event: what waits goes to the spill, and whoever cancelled is heard. */
MUST_CHECK enum status plane_look_around(struct plane_out *plane, uint64_t count,
                                         struct error *err);
void plane_end_line(struct plane_out *plane, struct line_out *line);
int64_t plane_line_id(struct plane_out *plane, track_id track);
struct str plane_line_name(const struct plane_out *plane, track_id track);
/* Adds to what waits for the plane's end. */
MUST_CHECK enum status plane_keep(struct plane_out *plane, struct text *text, struct error *err);
/* All counters of the tracks below a root: one line. */
MUST_CHECK enum status plane_put_counters(struct plane_out *plane, track_id root,
                                          struct error *err);
/* xspace_samples.c: sorts those that have a place; then those of the tracks below a root. */
void samples_sort(struct xspace_out *space);
MUST_CHECK enum status plane_put_samples(struct plane_out *plane, track_id root, struct error *err);
/* xspace_lines.c: the plane of an outermost track, where anything was told of it: handed over. */
bool lines_take_plane(struct xspace_out *space, track_id root, struct str name,
                      struct plane_out *ret);
uint64_t lines_count(const struct xspace_out *space, track_id track); /* of its events */
MUST_CHECK enum status plane_put_told(struct plane_out *plane, track_id track, struct error *err);
/* xspace_order.c: events behind what the plane keeps, in the order of their starts, of several the
 * longest first; `later_ps` is added to their offsets. */
MUST_CHECK enum status line_put_in_order(struct plane_out *plane, const struct line_out *told,
                                         int64_t later_ps, struct error *err);
void plane_free(struct plane_out *plane);
/* Writes the plane and frees it, also after a failure. */
MUST_CHECK enum status plane_close(struct plane_out *plane, enum status status, struct error *err);

int64_t space_time(const struct xspace_out *space, int64_t file_ps);
bool space_is_inside(const struct xspace_out *space, int64_t at_ps); /* of what is exported */

#endif

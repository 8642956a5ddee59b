/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX: what programs say of themselves.
 *
 *   NVTX_EVENTS  start  end  eventType  rangeId  category  color  text | textId  globalTid
 *                endGlobalTid  domainId  uint64Value ... floatValue  jsonText | jsonTextId
 *
 *   eventType   59 push/pop range, 34 mark     lane "NVTX" of its thread, a lane for each domain
 *               60 start/end range             lane of its process: may end on another thread
 *               33 name of a category   39 of a thread   75 of a domain   76 a domain's end
 *
 * A range without an end is open until the end of everything else.
 */
#include <inttypes.h>

#include "decode/nsys/nsys.h"
#include "decode/xla_range.h"

enum nvtx_type {
    NVTX_CATEGORY = 33,
    NVTX_MARK = 34,
    NVTX_THREAD = 39,
    NVTX_PUSH_POP = 59,
    NVTX_START_END = 60,
    NVTX_IMPORTED_PUSH_POP = 70,
    NVTX_IMPORTED_START_END = 71,
    NVTX_DOMAIN = 75,
    NVTX_DOMAIN_END = 76,
};

static uint64_t domain_key(int64_t process, int64_t domain)
{
    return (uint64_t)process ^ (uint64_t)domain; /* a process leaves the low 24 bits free */
}

static void read_name(struct nsys *nsys, struct nsys_rows *rows)
{
    int64_t type, domain = 0, category = 0, thread = 0, id;

    if (!nsys_integer(rows, 0, &type))
        return;
    nsys_integer(rows, 1, &domain);
    nsys_integer(rows, 2, &category);
    nsys_integer(rows, 3, &thread);

    struct str text = nsys_text(rows, 4);
    name_id name = text.count > 0               ? sink_name(nsys->sink, text)
                   : nsys_integer(rows, 5, &id) ? nsys_word(nsys, id)
                                                : 0;
    int64_t process = process_of(thread);
    if (name == 0)
        return;
    if (type == NVTX_DOMAIN)
        *pair_table_at(&nsys->domains, (uint64_t)process, (uint64_t)domain) = name;
    else if (type == NVTX_CATEGORY)
        *pair_table_at(&nsys->categories, domain_key(process, domain), (uint64_t)category) = name;
    else
        nsys_name_thread(nsys, thread, name);
}

static void read_names(struct nsys *nsys)
{
    static const char *const columns[] = {"eventType", "domainId", "category",
                                          "globalTid", "text",     "textId"};
    struct nsys_rows rows = nsys_rows_of(&nsys->db, "NVTX_EVENTS", columns, COUNT(columns),
                                         "WHERE \"eventType\" IN (33, 39, 75)");

    while (nsys_rows_next(&rows))
        read_name(nsys, &rows);
    nsys_rows_close(&rows);
}

static bool is_between_threads(int64_t type)
{
    return type == NVTX_START_END || type == NVTX_IMPORTED_START_END;
}

static bool is_range(int64_t type)
{
    return type == NVTX_PUSH_POP || type == NVTX_IMPORTED_PUSH_POP || is_between_threads(type);
}

/* "NVTX", "NVTX NCCL", "NVTX domain 7", "NVTX start/end". */
static struct str lane_name(struct nsys *nsys, int64_t process, int64_t domain, bool is_async)
{
    const char *end = is_async ? " start/end" : "";

    if (domain == 0)
        return is_async ? STR("NVTX start/end") : STR("NVTX");
    uint32_t name = pair_table_find(&nsys->domains, (uint64_t)process, (uint64_t)domain);
    if (name == PAIR_NONE)
        return str_format(nsys->arena, "NVTX domain %" PRId64 "%s", domain, end);
    struct str text = sink_text(nsys->sink, name);
    return str_format(nsys->arena, "NVTX %.*s%s", STR_ARG(text), end);
}

static track_id nvtx_lane(struct nsys *nsys, int64_t thread, int64_t domain, bool is_async)
{
    int64_t whose = is_async ? process_of(thread) : thread;
    uint32_t *known = pair_table_at(&nsys->nvtx_lanes, (uint64_t)whose,
                                    (uint64_t)domain << 1 | (is_async ? 1 : 0));

    if (*known != PAIR_NONE)
        return *known;
    struct str name = lane_name(nsys, process_of(thread), domain, is_async);
    track_id parent = is_async ? nsys_process_track(nsys, whose) : nsys_thread_track(nsys, whose);
    return *known = nsys_lane_track(nsys, parent, is_async ? TRACK_ASYNC : TRACK_THREAD, name,
                                    whose & 0xffffff, -1);
}

static void place(struct nsys *nsys, const struct nsys_spec *spec, struct nsys_row *row)
{
    int64_t type = row_or(row, FIELD_EVENT_TYPE, 0);
    bool is_open = is_range(type) && !row_has(row, FIELD_END), of_open = spec->tail != NULL;

    if (!is_range(type) && type != NVTX_MARK) {
        nsys->nvtx_other += type != NVTX_CATEGORY && type != NVTX_THREAD && type != NVTX_DOMAIN &&
                            type != NVTX_DOMAIN_END;
        return;
    }
    if (is_open && !of_open) {
        nsys->open_ranges++;
        return;
    }
    if (!row_has(row, FIELD_THREAD) || is_open != of_open) {
        nsys->without_place += !of_open;
        return;
    }
    if (is_open) {
        row->end_ps = nsys->last_ps > row->start_ps ? nsys->last_ps : row->start_ps;
        row->flags = SLICE_CUT;
    }
    if (is_between_threads(type))
        row->flags |= SLICE_ASYNC;
    row->track = nvtx_lane(nsys, row->values[FIELD_THREAD], row_or(row, FIELD_DOMAIN, 0),
                           is_between_threads(type));
}

static void given(struct nsys *nsys, const struct nsys_spec *spec, const struct nsys_row *row)
{
    int64_t thread = row->values[FIELD_THREAD], category = row_or(row, FIELD_CATEGORY, 0);

    (void)spec;
    if (category != 0) {
        uint64_t domain = domain_key(process_of(thread), row_or(row, FIELD_DOMAIN, 0));
        uint32_t name = pair_table_find(&nsys->categories, domain, (uint64_t)category);
        struct arg arg = {.key = sink_name(nsys->sink, STR("category"))};

        arg.type = name != PAIR_NONE ? ARG_STRING : ARG_INT64;
        arg.bits = name != PAIR_NONE ? name : (uint64_t)category;
        sink_arg(nsys->sink, arg);
    }
    nsys->has_xla_ranges |= xla_range_is_module(sink_text(nsys->sink, row->name));
    if (row->end_ps > row->start_ps)
        *nsys_list_add(nsys, &nsys->ranges) = (struct nvtx_range){
            .thread = thread,
            .start_ps = row->start_ps,
            .end_ps = row->end_ps,
            .name = row->name,
            .kind = (uint8_t)row->kind,
        };
}

void nsys_read_nvtx(struct nsys *nsys)
{
    static const struct nsys_spec spec = {
        .table = "NVTX_EVENTS", .what = "range", .place = place, .given = given};

    read_names(nsys);
    nsys_table_read(nsys, &spec);
}

void nsys_read_open_ranges(struct nsys *nsys)
{
    static const struct nsys_spec spec = {.table = "NVTX_EVENTS",
                                          .what = "range",
                                          .tail = "WHERE \"end\" IS NULL",
                                          .place = place,
                                          .given = given};

    if (nsys->open_ranges == 0)
        return;
    nsys_table_read(nsys, &spec);
    sink_note(nsys->sink, "open-ranges", NOTE_INFO, nsys->open_ranges,
              "NVTX ranges without an end are shown until the end of the recording.");
}

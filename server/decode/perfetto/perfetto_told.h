/* SPDX-License-Identifier: Apache-2.0 */
/* One TrackEvent while it is read: what perfetto_event.c finds and perfetto_record.c keeps. */
#ifndef JVIEWD_DECODE_PERFETTO_PERFETTO_TOLD_H
#define JVIEWD_DECODE_PERFETTO_PERFETTO_TOLD_H

#include "decode/perfetto/perfetto.h"

enum { EVENT_ARGS_MAX = 4096, MARKS_MAX = 1 << 29 };

struct told { /* of one event, while it is read */
    uint64_t type, uuid, location_iid;
    bool has_uuid, has_value, is_real, has_phase;
    name_id name;
    struct text categories;
    uint64_t value; /* of a counter: int64 or the bits of a double */
    uint64_t extra_uuids[EXTRA_COUNTERS_MAX], extra_real_uuids[EXTRA_COUNTERS_MAX];
    uint64_t extra_values[EXTRA_COUNTERS_MAX], extra_reals[EXTRA_COUNTERS_MAX];
    uint32_t extra_uuid_count, extra_real_uuid_count, extra_value_count, extra_real_count;
    int64_t delta_us, absolute_us;
    bool has_delta, has_absolute;
    int phase;
    int64_t duration_us;
    uint64_t id, bind_id, direction;
    struct str scope;
    bool has_id, has_bind_id, is_local_id;
    uint32_t arg_count, flow_count;
};

void perfetto_put_flow(struct perfetto *trace, struct told *told, uint64_t id, bool ends);
/* False when nothing points at the event's args and flows. */
bool perfetto_keep(struct perfetto *trace, const struct packet *packet, struct sequence *sequence,
                   struct told *told);

#endif

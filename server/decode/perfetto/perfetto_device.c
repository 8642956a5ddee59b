/* SPDX-License-Identifier: Apache-2.0 */
/* Which tracks are streams of GPUs, as AMD's rocprofv3 writes them.
 *
 *   track STREAM [1]   event { category kernel_dispatch  agent "Agent-4"  queue 0  ... }
 *   becomes            GPU Agent-4 / STREAM [1]          device 4
 *
 * Such a track hangs below the process, and only its events say what it is. Seen in traces of
 * rocprofv3 of ROCm 6; the packets for GPU render stages are those of Android and not read.
 */
#include "decode/perfetto/perfetto.h"

enum { DEVICES_MAX = 4096 };

/* The name of the agent in a record's args; 0 none. */
static name_id agent_of(const struct perfetto *trace, const struct record *record, name_id key)
{
    const struct arg *args = trace->args.at;

    for (uint32_t i = 0; i < record->arg_count; i++) {
        const struct arg *arg = &args[record->first_arg + i];

        if (arg->key == key && arg->type == ARG_STRING)
            return (name_id)arg->bits;
    }
    return 0;
}

/* The number at the end of "Agent-4". */
static int32_t number_of(struct str agent)
{
    size_t at = agent.count;
    uint64_t number;

    while (at > 0 && agent.at[at - 1] >= '0' && agent.at[at - 1] <= '9')
        at--;
    return str_to_u64(str_skip(agent, at), &number) && number < DEVICES_MAX ? (int32_t)number : -1;
}

void perfetto_devices_find(struct perfetto *trace)
{
    const struct record *records = trace->records.at;
    name_id kernel = sink_name(trace->sink, STR("kernel_dispatch"));
    name_id key = sink_name(trace->sink, STR("agent"));

    for (uint32_t i = 0; i < trace->records.count; i++) {
        struct descriptor *track = perfetto_track_at(trace, records[i].track);

        if (records[i].category != kernel || track->kind != TRACK_OF_NOTHING || track->agent != 0)
            continue;
        name_id agent = agent_of(trace, &records[i], key);
        if (agent != 0 && number_of(sink_text(trace->sink, agent)) >= 0)
            track->agent = agent;
    }
}

int32_t perfetto_device_of(struct perfetto *trace, const struct descriptor *track)
{
    return track->agent == 0 ? -1 : number_of(sink_text(trace->sink, track->agent));
}

track_id perfetto_device_make(struct perfetto *trace, const struct descriptor *track)
{
    struct str agent = sink_text(trace->sink, track->agent);
    struct text name = {0};
    bool is_new;
    uint32_t known = NO_TRACK;

    if (id_map_find(&trace->device_of, track->agent, &known))
        return known;
    text_puts(&name, "GPU ");
    text_put(&name, agent.at, agent.count);
    known = sink_track(trace->sink, (struct sink_track){.parent = NO_TRACK,
                                                        .kind = TRACK_DEVICE,
                                                        .name = text_str(&name),
                                                        .source_id = number_of(agent),
                                                        .device = number_of(agent)});
    text_free(&name);
    return id_map_add(&trace->device_of, track->agent, known, &is_new);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Who held memory, by stack: a sample an allocation that was there at the peak or is at the end.
 *
 *   peak_space, peak_objects   after the event that made the history's most
 *   space, objects             when the snapshot was taken
 *
 * Sizes are those asked for. A device's samples sum to its own peak; devices peak each by itself.
 */
#include "decode/torch_snapshot/torch_snapshot.h"

struct sampler {
    struct torch_snapshot *snapshot;
    const struct torch_device *device;
    stack_id before; /* "(allocated before the history)" */
    name_id key_device;
};

static void put_sample(const struct sampler *sampler, stack_id stack, int64_t bytes, bool at_peak,
                       bool at_end)
{
    const int64_t values[] = {at_end ? bytes : 0, at_end, at_peak ? bytes : 0, at_peak};
    const struct arg label = {
        .key = sampler->key_device, .type = ARG_INT64, .bits = sampler->device->number};

    if (at_peak || at_end)
        sink_sample(sampler->snapshot->sink,
                    (struct sample){.at_ps = SAMPLE_NO_TIME,
                                    .track = NO_TRACK,
                                    .stack = stack != NO_STACK ? stack : sampler->before},
                    values, &label, 1);
}

/* Is it there after the peak's event, freed by `freed_by`? */
static bool outlives_peak(const struct torch_device *device, uint32_t freed_by)
{
    return freed_by == TORCH_NONE || device->peak == TORCH_NONE || freed_by > device->peak;
}

void torch_tell_samples(struct torch_snapshot *snapshot, const struct torch_device *device)
{
    struct sink *sink = snapshot->sink;
    const struct torch_before *before = device->before.at;
    struct sampler sampler = {
        .snapshot = snapshot,
        .device = device,
        .key_device = sink_name(sink, STR("device")),
        .before = sink_stack(sink, NO_STACK,
                             (struct frame){.function = sink_name(sink, STR("(no stack)"))})};

    for (uint32_t i = 0; i < device->before.count; i++)
        put_sample(&sampler, before[i].stack, before[i].bytes,
                   outlives_peak(device, before[i].freed_by), before[i].freed_by == TORCH_NONE);
    for (uint32_t i = 0; i < device->events.count; i++) {
        const uint32_t index = device->events.first + i;
        const struct torch_event *event = torch_event_at(snapshot, index);

        if (event->action == TORCH_ALLOC)
            put_sample(&sampler, event->stack, event->bytes,
                       device->peak != TORCH_NONE && index <= device->peak &&
                           outlives_peak(device, event->other),
                       event->other == TORCH_NONE);
    }
}

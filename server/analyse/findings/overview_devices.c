/* SPDX-License-Identifier: Apache-2.0 */
/* How busy the devices were, and what they are called. */
#include <stdlib.h>

#include "analyse/device/device_spec.h"
#include "analyse/findings/overview.h"

enum { DEVICES_MAX = 4096 }; /* ordinals come from the file and may be any number */

/* Busy times of one host's devices over the whole trace, as they are stored. */
static uint32_t host_devices(const struct selection *selection, struct arena *arena,
                             struct device_busy **devices, uint32_t count, uint32_t *capacity)
{
    const struct attribution *attribution = selection->host->attribution;

    for (uint32_t i = 0; attribution != NULL && i < attribution->device_count; i++) {
        const struct device_total *total = &attribution->devices[i];
        int64_t hull_ps = total->end_ps - total->start_ps;

        if (!selection_has_device(selection, total->device))
            continue;
        if (count == DEVICES_MAX)
            break;
        if (count == *capacity) {
            *capacity = *capacity == 0 ? 16 : 2 * *capacity;
            *devices = memory_resize(*devices, *capacity, sizeof(**devices));
        }
        (*devices)[count++] = (struct device_busy){
            .name = device_name(selection->host->trace, total->device, arena),
            .host = selection->index,
            .device = total->device,
            .busy_ps = total->busy_ps,
            .idle_ps = hull_ps - total->busy_ps,
            .has_share = hull_ps > 0,
            .busy_share = hull_ps > 0 ? (double)total->busy_ps / (double)hull_ps : 0,
        };
    }
    return count;
}

void overview_devices(const struct selections *selections, struct arena *arena,
                      struct overview *ret)
{
    struct device_busy *devices = NULL, *kept;
    uint32_t capacity = 0, device_count = 0;

    for (uint32_t i = 0; i < selections->count; i++)
        device_count =
            host_devices(&selections->items[i], arena, &devices, device_count, &capacity);
    kept = arena_array(arena, struct device_busy, device_count);
    if (device_count > 0)
        memcpy(kept, devices, device_count * sizeof(*kept));
    free(devices);
    ret->devices = kept;
    ret->device_count = device_count;
}

/* What the devices are called: the first property that says it. */
static struct str device_kind(const struct trace *trace)
{
    static const char *const keys[] = {"gpu_device_name", "device_type_string", "device_name"};

    for (size_t key = 0; key < COUNT(keys); key++) {
        name_id id;

        if (!trace_find_name(trace, str_of(keys[key]), &id))
            continue;
        for (uint32_t i = 0; i < trace->property_count; i++) {
            if (trace->properties[i].arg.key == id && trace->properties[i].arg.type == ARG_STRING)
                return trace_name(trace, (name_id)trace->properties[i].arg.bits);
        }
    }
    return STR("");
}

static bool has_device_track(const struct trace *trace)
{
    for (track_id id = 0; id < trace->track_count; id++) {
        if (trace->tracks[id].device >= 0)
            return true;
    }
    return false;
}

struct str overview_basis(const struct run_traces *run, const struct overview *overview,
                          struct arena *arena)
{
    uint32_t count = overview->device_count;
    const char *many = count == 1 ? "" : "s";

    if (run->host_count == 0)
        return STR("no timeline");
    if (count == 0)
        return str_format(arena, "%u host%s without devices", run->host_count,
                          run->host_count == 1 ? "" : "s");

    const struct trace *trace = run->hosts[overview->devices[0].host].trace;

    if (!has_device_track(trace))
        return str_format(arena, "%u XLA:CPU device%s on host threads", count, many);

    struct str kind = device_kind(trace);

    return kind.count > 0 ? str_format(arena, "%u \u00D7 %.*s", count, STR_ARG(kind))
                          : str_format(arena, "%u device%s", count, many);
}

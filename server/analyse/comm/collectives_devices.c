/* SPDX-License-Identifier: Apache-2.0 */
/* Which device takes which part. Replica groups number the partitions of a program as its mesh has
 * them; which device runs a partition only the runtime's own calls say, one a device:
 *
 *   [5] CommonPjRtLoadedExecutable::Execute (jit_f)      partition 5, replica 0
 *                                                        global_device_id 7
 *
 * Without them, and where several hosts number their devices for themselves, a partition's number
 * is taken for its device's. A function that ran on two meshes of different order is torn: its
 * calls do not say which of its programs they are of.
 */
#include <stdlib.h>

#include "analyse/comm/collectives_parts.h"
#include "analyse/hlo/event_args.h"
#include "base/hash.h"
#include "trace/names/by_name.h"

struct call_list {
    slice_id *slices;
    uint64_t *modules; /* hashes of their names */
    uint32_t count, capacity;
};

static uint64_t hash_of(struct str text)
{
    return hash64((struct bytes){.at = (const uint8_t *)text.at, .count = text.count});
}

/* "[5] ...LoadedExecutable::Execute (jit_f)" */
static bool is_call(struct str name, struct str *ret_module)
{
    const struct str mark = STR("LoadedExecutable::Execute (");
    const char *at = name.count > 0 && name.at[0] == '['
                         ? memmem(name.at, name.count, mark.at, mark.count)
                         : NULL;

    if (at == NULL || !str_ends(name, STR(")")))
        return false;
    *ret_module = str_skip(name, (size_t)(at - name.at) + mark.count);
    ret_module->count--;
    return true;
}

static void add_calls(const struct trace *trace, name_id name, uint64_t module,
                      struct call_list *list)
{
    uint32_t run_count;
    const struct name_run *runs = trace_name_runs(trace, name, &run_count);

    for (uint32_t run = 0; run < run_count; run++) {
        const slice_id *slices = trace_name_slices(trace, &runs[run]);

        if (slices == NULL)
            continue;
        if (list->capacity - list->count < runs[run].count) {
            list->capacity = 2 * (list->count + runs[run].count);
            list->slices = memory_resize(list->slices, list->capacity, sizeof *list->slices);
            list->modules = memory_resize(list->modules, list->capacity, sizeof *list->modules);
        }
        for (uint32_t i = 0; i < runs[run].count; i++) {
            list->slices[list->count] = slices[i];
            list->modules[list->count++] = module;
        }
    }
}

static uint64_t key_of(uint64_t module, uint64_t participant)
{
    return (module ^ participant) * UINT64_C(0x9e3779b97f4a7c15);
}

static void take_calls(const struct trace *trace, const struct call_list *list, struct arena *arena,
                       struct collective_devices *ret)
{
    struct event_ref *refs = event_refs(trace, list->slices, list->count, arena);
    struct event_value *partitions, *replicas, *devices;

    partitions = event_values(trace, refs, list->count, STR("partition"), arena);
    replicas = event_values(trace, refs, list->count, STR("replica"), arena);
    devices = event_values(trace, refs, list->count, STR("global_device_id"), arena);
    for (uint32_t i = 0; i < list->count; i++) {
        if (partitions[i].type == ARG_NONE || replicas[i].type == ARG_NONE ||
            devices[i].type == ARG_NONE)
            continue;

        uint64_t participant = partitions[i].bits + replicas[i].bits; /* one of them is 0 */
        uint32_t device = (uint32_t)devices[i].bits, state = CALLS_TOLD;

        if ((partitions[i].bits != 0 && replicas[i].bits != 0) ||
            *map64_at(&ret->of, key_of(list->modules[i], participant), device) != device)
            state = CALLS_TORN;

        uint32_t *known = map64_at(&ret->states, list->modules[i], state);

        *known = state == CALLS_TORN ? state : *known;
    }
}

void collective_devices_read(const struct run_traces *run, struct arena *arena,
                             struct collective_devices *ret)
{
    const struct trace *trace = run->hosts[0].trace;
    const struct name_stats *stats;
    struct call_list list = {0};

    *ret = (struct collective_devices){.is_read = true};
    if (run->host_count != 1)
        return;
    uint32_t count = trace_name_stats(trace, &stats);
    for (uint32_t i = 0; i < count; i++) {
        struct str module;

        if (is_call(trace_name(trace, stats[i].name), &module))
            add_calls(trace, stats[i].name, hash_of(module), &list);
    }
    take_calls(trace, &list, arena, ret);
    free(list.slices);
    free(list.modules);
}

void collective_devices_free(struct collective_devices *devices)
{
    map64_free(&devices->of);
    map64_free(&devices->states);
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

void collective_devices_put(const struct collective_devices *devices, struct str module,
                            struct arena *arena, struct replica_groups *groups)
{
    uint64_t hash = hash_of(module);
    uint32_t state;

    if (groups->first == NULL || !map64_get(&devices->states, hash, &state))
        return;
    uint32_t *ids = arena_array(arena, uint32_t, (size_t)groups->id_count + 1);

    for (uint32_t i = 0; i < groups->id_count; i++)
        if (!map64_get(&devices->of, key_of(hash, groups->ids[i]), &ids[i]))
            state = CALLS_TORN;
    if (state == CALLS_TORN) {
        groups->first = groups->ids = NULL;
        return;
    }
    for (uint32_t group = 0; group < groups->group_count; group++)
        qsort(&ids[groups->first[group]], groups->first[group + 1] - groups->first[group],
              sizeof *ids, by_number);
    groups->ids = ids;
}

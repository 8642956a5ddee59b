/* SPDX-License-Identifier: Apache-2.0 */
/* From entries of ops to executions of collectives.
 *
 *   entries  --parts side by side-->  those of communication
 *            --facts of their ops-->  halves put together, on each device by time
 *            --mates-->               over all devices; what was asked for is kept
 */
#include <stdlib.h>

#include "analyse/comm/collectives_parts.h"
#include "analyse/scan/scan.h"

struct picked { /* entries of a host that are communication, by device and start */
    uint32_t *entries;
    uint32_t count, capacity;
};

struct picking {
    const struct attribution *attribution;
    const bool *wanted; /* by op */
    uint8_t *bits;      /* by entry */
    uint32_t part_count;
    struct picked parts[SPLIT_PARTS_MAX];
};

/* In the order of entries, whose ops stand side by side; the order of time asks for bits alone. */
static void mark_part(void *data, uint32_t part)
{
    enum { EACH = ENTRY_BLOCK };
    struct picking *picking = data;
    const struct attribution *attribution = picking->attribution;
    uint32_t count = attribution->entry_count, block_count = count / EACH + 1;
    uint64_t from = EACH * split_begin(block_count, part, picking->part_count);
    uint64_t end = EACH * split_begin(block_count, part + 1, picking->part_count);
    struct entry_reader reader;

    entry_reader_open(&reader, attribution, ENTRY_BIT(ENTRY_OP));
    for (uint64_t i = from; i < end && i < count; i++)
        picking->bits[i / 8] |=
            (uint8_t)((unsigned)picking->wanted[entry_read(&reader, (uint32_t)i).op] << i % 8);
}

static void pick_part(void *data, uint32_t part)
{
    struct picking *picking = data;
    const struct attribution *attribution = picking->attribution;
    struct picked *picked = &picking->parts[part];
    uint32_t end = (uint32_t)split_begin(attribution->entry_count, part + 1, picking->part_count);

    for (uint32_t i = (uint32_t)split_begin(attribution->entry_count, part, picking->part_count);
         i < end; i++) {
        uint32_t entry = entry_in_time(attribution, i);

        if ((picking->bits[entry / 8] >> entry % 8 & 1) == 0)
            continue;
        if (picked->count == picked->capacity) {
            picked->capacity = picked->capacity == 0 ? 1024 : 2 * picked->capacity;
            picked->entries =
                memory_resize(picked->entries, picked->capacity, sizeof(*picked->entries));
        }
        picked->entries[picked->count++] = entry;
    }
}

static bool any_communication(const struct attribution *attribution, bool *wanted)
{
    bool any = false;

    for (uint32_t i = 0; i < attribution->op_count; i++) {
        wanted[i] = attribution->ops[i].kind == KIND_COMMUNICATION;
        any |= wanted[i];
    }
    return any;
}

static struct picked pick(const struct attribution *attribution)
{
    struct picking picking = {.attribution = attribution};
    struct picked ret = {0};
    bool *wanted = memory_resize(NULL, (size_t)attribution->op_count + 1, sizeof(*wanted));

    if (any_communication(attribution, wanted)) {
        picking.wanted = wanted;
        picking.part_count = split_count(attribution->entry_count);
        picking.bits = memory_zeroed((size_t)attribution->entry_count / 8 + 1, 1);
        split_run(picking.part_count, mark_part, &picking);
        split_run(picking.part_count, pick_part, &picking);
        free(picking.bits);
        for (uint32_t i = 0; i < picking.part_count; i++)
            ret.count += picking.parts[i].count;
        ret.entries = memory_resize(NULL, (size_t)ret.count + 1, sizeof(*ret.entries));
        ret.count = 0;
        for (uint32_t i = 0; i < picking.part_count; i++) {
            const struct picked *part = &picking.parts[i];

            if (part->count > 0)
                memcpy(ret.entries + ret.count, part->entries, part->count * sizeof(*ret.entries));
            ret.count += part->count;
            free(part->entries);
        }
    }
    free(wanted);
    return ret;
}

static void make_room(struct finding_work *work, uint32_t count)
{
    if (work->run_capacity - work->ret->run_count >= count)
        return;
    work->run_capacity = work->ret->run_count + count;
    work->ret->runs = memory_resize(work->ret->runs, work->run_capacity, sizeof(*work->ret->runs));
}

struct collective_run *collectives_add_run(struct finding_work *work)
{
    struct collectives *ret = work->ret;

    if (ret->run_count == work->run_capacity) {
        work->run_capacity = work->run_capacity == 0 ? 1024 : 2 * work->run_capacity;
        ret->runs = memory_resize(ret->runs, work->run_capacity, sizeof(*ret->runs));
    }
    ret->runs[ret->run_count] = (struct collective_run){
        .inside_ps = -1, .wait_ps = -1, .late_ps = -1, .group = REPLICA_NO_GROUP};
    return &ret->runs[ret->run_count++];
}

struct pairing { /* starts of one collective on one device that wait for their done */
    int32_t device;
    uint32_t *open; /* runs; the first waits longest */
    uint32_t first, count, capacity;
};

static void open_start(struct pairing *pairing, uint32_t run)
{
    if (pairing->count == pairing->capacity) {
        pairing->capacity = pairing->capacity == 0 ? 64 : 2 * pairing->capacity;
        pairing->open = memory_resize(pairing->open, pairing->capacity, sizeof(*pairing->open));
    }
    pairing->open[pairing->count++] = run;
}

struct launches { /* by run */
    slice_id *slices;
    bool *by_kernel;
    uint32_t capacity;
};

static void note_launch(struct launches *launches, const struct finding_work *work, bool by_kernel,
                        slice_id slice)
{
    uint32_t run = work->ret->run_count - 1;

    if (launches->capacity != work->run_capacity) {
        launches->capacity = work->run_capacity;
        launches->slices =
            memory_resize(launches->slices, launches->capacity, sizeof(*launches->slices));
        launches->by_kernel =
            memory_resize(launches->by_kernel, launches->capacity, sizeof(*launches->by_kernel));
    }
    launches->slices[run] = slice;
    launches->by_kernel[run] = by_kernel;
}

static void add_entry(struct finding_work *work, uint32_t host, const struct attributed *entry,
                      const struct op_facts *facts, struct pairing *pairing,
                      struct launches *launches)
{
    const struct host_trace *of = &work->run->hosts[host];
    int64_t start_ps = entry->start_ps + of->offset_ps;

    if (facts->half == HALF_UPDATE)
        return; /* inside of its pair */
    if (facts->half == HALF_DONE && pairing->first < pairing->count) {
        struct collective_run *run = &work->ret->runs[pairing->open[pairing->first++]];

        run->dur_ps = start_ps + entry->dur_ps - run->start_ps;
        run->blocked_ps = entry->dur_ps;
        run->has_done = true;
        return;
    }
    struct collective_run *run = collectives_add_run(work);

    note_launch(launches, work, facts->by_kernel, entry->launch);
    run->collective = facts->collective;
    run->host = host;
    run->device = entry->device;
    run->slice = entry->slice;
    run->turn = entry->execution < of->attribution->execution_count
                    ? of->attribution->executions[entry->execution].run_id
                    : 0;
    run->start_ps = start_ps;
    run->dur_ps = entry->dur_ps;
    run->has_done = facts->half == HALF_DONE;
    run->blocked_ps = run->has_done ? entry->dur_ps : 0;
    if (facts->half == HALF_START)
        open_start(pairing, work->ret->run_count - 1);
}

/* An entry in the order of time. Those stand apart in memory, so one that is soon asked for is sent
 * for already. */
static struct attributed picked_entry(const struct attribution *attribution,
                                      const struct picked *picked, uint32_t i)
{
    enum { AHEAD = 16 };

    if (picked->count - i > AHEAD)
        entry_prefetch(attribution, picked->entries[i + AHEAD]);
    return entry_at(attribution, picked->entries[i]);
}

/* Of the entry's collective, empty where its device is new. */
static struct pairing *pairing_of(struct pairing *pairings, const struct op_facts *facts,
                                  const struct attributed *entry)
{
    struct pairing *pairing = &pairings[facts->collective];

    if (pairing->device != entry->device)
        pairing->first = pairing->count = 0;
    pairing->device = entry->device;
    return pairing;
}

static void pair_entries(struct finding_work *work, uint32_t host, const struct picked *picked,
                         struct launches *launches)
{
    const struct attribution *attribution = work->run->hosts[host].attribution;
    const struct op_facts *facts = work->op_facts[host];
    uint32_t count = work->ret->count;
    struct pairing *pairings = memory_zeroed((size_t)count + 1, sizeof(*pairings));
    for (uint32_t i = 0; i < picked->count; i++) {
        const struct attributed entry = picked_entry(attribution, picked, i);
        const struct op_facts *of = &facts[entry.op];

        add_entry(work, host, &entry, of, pairing_of(pairings, of, &entry), launches);
    }
    for (uint32_t i = 0; i < count; i++)
        free(pairings[i].open);
    free(pairings);
}

static bool lets_through(const struct selection *selection, const struct collective_run *run,
                         const struct collective *item)
{
    const struct trace *trace = selection->host->trace;
    const struct restriction *asked = selection->asked;

    if (!selection_has_device(selection, run->device) || !selection_has_name(selection, item->name))
        return false;
    if (asked->module.count > 0 &&
        !module_is_called(item->module_bare, item->module_number, asked->module))
        return false;
    if (asked->scope.count > 0 &&
        !(str_starts(item->scope, asked->scope) &&
          (item->scope.count == asked->scope.count || item->scope.at[asked->scope.count] == '/')))
        return false;
    return selection->all_tracks ||
           selection->tracks[trace->rows[trace_row_of(trace, run->slice)].track];
}

/* Where steps are asked for it is theirs by its op, wherever it lies. */
static int64_t inside_of(const struct selection *selection, const struct collective_run *run)
{
    const struct attribution *of = selection->host->attribution;
    int64_t start_ps = run->start_ps - selection->host->offset_ps;
    struct row_windows windows = collectives_windows(selection);
    uint32_t entry = selection->owners == NULL ? NO_ENTRY : attribution_find(of, run->slice);

    if (entry != NO_ENTRY && selection->owners[entry] == NO_OWNER)
        return -1;
    return windows_inside(windows, start_ps, run->dur_ps);
}

/* What of each run is asked for. */
static void ask_inside(struct finding_work *work, const struct selection *selection, uint32_t first)
{
    for (uint32_t i = first; i < work->ret->run_count; i++) {
        struct collective_run *run = &work->ret->runs[i];

        if (lets_through(selection, run, &work->ret->items[run->collective]))
            run->inside_ps = inside_of(selection, run);
    }
}

/* `selection`: what is asked for of the host; NULL: nothing, but others may have waited for it. */
static void find_on_host(struct finding_work *work, uint32_t host,
                         const struct selection *selection, struct launches *launches)
{
    const struct attribution *attribution = work->run->hosts[host].attribution;
    struct picked picked = attribution == NULL ? (struct picked){0} : pick(attribution);
    uint32_t first = work->ret->run_count;

    if (picked.count > 0) {
        make_room(work, picked.count);
        collectives_facts(work, host);
        pair_entries(work, host, &picked, launches);
        collectives_calls(work, host, first, launches->by_kernel, launches->slices);
        if (selection != NULL) {
            ask_inside(work, selection, first);
            collectives_hide(work, selection, first);
        }
    }
    free(picked.entries);
}

enum status collectives_find(const struct run_traces *run, const struct restriction *restriction,
                             struct arena *arena, struct collectives *ret, struct error *err)
{
    struct finding_work work = {.run = run, .arena = arena, .ret = ret};
    const struct selection **by_host;
    struct selection *selections;
    uint32_t selection_count;
    struct launches launches = {0};

    *ret = (struct collectives){0};
    TRY(restrict_run(run, restriction, arena, &selections, &selection_count, err));
    ret->alignments = align_hosts(run, arena);
    work.scratch = arena_create();
    work.op_facts = arena_array(arena, struct op_facts *, run->host_count + 1);
    by_host = arena_array(arena, const struct selection *, run->host_count + 1);
    for (uint32_t i = 0; i < selection_count; i++)
        by_host[selections[i].index] = &selections[i];
    for (uint32_t host = 0; host < run->host_count; host++)
        find_on_host(&work, host, by_host[host], &launches);
    free(launches.slices);
    free(launches.by_kernel);
    collectives_match(&work);
    map64_free(&work.by_identity);
    map64_free(&work.by_groups);
    collective_devices_free(&work.devices);
    arena_destroy(work.scratch);
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of counters and devices in a spool become counters, properties and slices of slowing
 * down. Facts: api/record.h, NVML's public header. */
#include "decode/record/record_system.h"

#include <inttypes.h>

#include "base/arena.h"
#include "decode/record/record_tracks.h"

/* NVML's bits; a GPU that idles is not slowed down. */
enum { REASON_IDLE = 1, REASON_POWER_CAP = 4 };
static const char *const reasons[RECORD_REASONS] = {
    "idle",
    "clock setting",
    "power cap",
    "hardware slowdown",
    "sync boost",
    "thermal (software)",
    "thermal (hardware)",
    "power brake",
    "display clock setting",
};

enum owner { OF_MACHINE, OF_PROCESS, OF_GPU };
static const struct figure {
    enum owner owner;
    const char *name, *unit;
    double scale; /* from the spool's unit to this one */
} figures[FIGURES] = {
    [FIGURE_CPU] = {OF_MACHINE, "CPU", "%", 1e-3},
    [FIGURE_MEMORY] = {OF_MACHINE, "memory in use", "bytes", 1},
    [FIGURE_DISK_READ] = {OF_MACHINE, "disk read", "bytes/s", 1},
    [FIGURE_DISK_WRITE] = {OF_MACHINE, "disk write", "bytes/s", 1},
    [FIGURE_OWN_CPU] = {OF_PROCESS, "CPU of the process", "% of one", 1e-3},
    [FIGURE_OWN_MEMORY] = {OF_PROCESS, "memory of the process", "bytes", 1},
    [FIGURE_OWN_READ] = {OF_PROCESS, "disk read by the process", "bytes/s", 1},
    [FIGURE_OWN_WRITE] = {OF_PROCESS, "disk write by the process", "bytes/s", 1},
    [FIGURE_GPU_CLOCK] = {OF_GPU, "SM clock", "MHz", 1},
    [FIGURE_GPU_MEMORY_CLOCK] = {OF_GPU, "memory clock", "MHz", 1},
    [FIGURE_GPU_POWER] = {OF_GPU, "power", "W", 1e-3},
    [FIGURE_GPU_TEMPERATURE] = {OF_GPU, "temperature", "°C", 1},
    [FIGURE_GPU_MEMORY] = {OF_GPU, "memory in use", "bytes", 1},
    [FIGURE_GPU_BUSY] = {OF_GPU, "busy", "%", 1},
    [FIGURE_GPU_THROTTLE] = {OF_GPU, "slowed down", "", 1},
};

void record_system_begin(struct record_system *system)
{
    system->machine = NO_TRACK;
    for (int figure = 0; figure < FIGURES; figure++)
        system->figures[figure] = NO_TRACK;
    for (uint32_t gpu = 0; gpu < RECORD_GPUS_MAX; gpu++) {
        system->gpus[gpu].track = system->gpus[gpu].slowed = NO_TRACK;
        for (int figure = 0; figure < FIGURES; figure++)
            system->gpus[gpu].figures[figure] = NO_TRACK;
    }
}

void record_system_devices(struct record_system *system, const struct record_columns *columns)
{
    for (uint32_t row = 0; row < columns->count && system->device_count < RECORD_DEVICES_MAX; row++)
        system->devices[system->device_count++] = (struct record_device){
            .source = record_at(columns, DEVICE_SOURCE, row),
            .number = record_at(columns, DEVICE_NUMBER, row),
            .name = record_text_of(system->record, record_at(columns, DEVICE_NAME, row)),
            .uuid = record_text_of(system->record, record_at(columns, DEVICE_UUID, row)),
            .memory_bytes = record_at(columns, DEVICE_MEMORY_BYTES, row),
            .multiprocessors = record_at(columns, DEVICE_MULTIPROCESSORS, row),
            .clock_khz = record_at(columns, DEVICE_CLOCK_KHZ, row),
            .bandwidth_kb = record_at(columns, DEVICE_BANDWIDTH_KB, row),
            .major = record_at(columns, DEVICE_MAJOR, row),
            .minor = record_at(columns, DEVICE_MINOR, row)};
}

static const struct record_device *find_device(const struct record_system *system, int64_t source,
                                               int64_t number, name_id uuid)
{
    for (uint32_t index = 0; index < system->device_count; index++) {
        const struct record_device *device = &system->devices[index];
        if (device->source == source &&
            (uuid != 0 ? device->uuid == uuid : device->number == number))
            return device;
    }
    return NULL;
}

static void put_property(struct record_system *system, track_id track, const char *key,
                         enum arg_type type, uint64_t bits)
{
    sink_property(
        system->sink, track,
        (struct arg){.key = sink_name(system->sink, str_of(key)), .type = type, .bits = bits});
}

/* By the names that XLA's own profiler gives them. */
void record_system_put_device(struct record_system *system, int64_t ordinal, track_id track)
{
    const struct record_device *device = find_device(system, SOURCE_CUDA, ordinal, 0);

    if (device == NULL)
        return;
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {
        {"core_count", device->multiprocessors},
        {"clock_rate", device->clock_khz},
        {"memory_size", device->memory_bytes},
        {"memory_bandwidth",
         device->bandwidth_kb < INT64_MAX / 1000 ? device->bandwidth_kb * 1000 : 0},
        {"compute_cap_major", device->major},
    };
    for (size_t index = 0; index < COUNT(numbers); index++)
        if (numbers[index].value > 0)
            put_property(system, track, numbers[index].key, ARG_INT64,
                         (uint64_t)numbers[index].value);
    if (device->major > 0 && device->minor >= 0)
        put_property(system, track, "compute_cap_minor", ARG_INT64, (uint64_t)device->minor);
    if (device->name != 0)
        put_property(system, track, "gpu_device_name", ARG_STRING, device->name);
    if (device->uuid != 0)
        put_property(system, track, "uuid", ARG_STRING, device->uuid);
    put_property(system, track, "device_vendor", ARG_STRING,
                 sink_name(system->sink, STR("Nvidia")));
}

static bool has_source(const struct record_system *system, int64_t source)
{
    for (uint32_t index = 0; index < system->device_count; index++)
        if (system->devices[index].source == source)
            return true;
    return false;
}

static track_id group_track(struct record_system *system, struct str name, int64_t id)
{
    return sink_track(system->sink, (struct sink_track){.parent = NO_TRACK,
                                                        .kind = TRACK_PROCESS,
                                                        .name = name,
                                                        .source_id = id,
                                                        .device = -1});
}

static track_id gpu_track(struct record_system *system, int64_t place)
{
    struct record_gpu *gpu = &system->gpus[place];
    const struct record_device *known = find_device(system, SOURCE_NVML, place, 0), *used = NULL;

    if (gpu->track != NO_TRACK)
        return gpu->track;
    if (known != NULL && known->uuid != 0)
        used = find_device(system, SOURCE_CUDA, 0, known->uuid);
    struct str about =
        known != NULL && known->name != 0
            ? str_format(system->arena, ", %.*s", STR_ARG(sink_text(system->sink, known->name)))
            : STR("");
    bool is_others = used == NULL && has_source(system, SOURCE_CUDA);
    gpu->name = sink_name(system->sink, str_format(system->arena, "GPU %" PRId64 "%s%.*s",
                                                   used != NULL ? used->number : place,
                                                   is_others ? " of NVML, not the program's" : "",
                                                   STR_ARG(about)));
    gpu->track = group_track(system,
                             str_format(system->arena, "GPU metrics (%.*s)",
                                        STR_ARG(sink_text(system->sink, gpu->name))),
                             place);
    return gpu->track;
}

static track_id parent_of(struct record_system *system, enum owner owner, int64_t place)
{
    if (owner == OF_GPU)
        return gpu_track(system, place);
    if (owner == OF_PROCESS)
        return record_process_track(system->record);
    if (system->machine == NO_TRACK)
        system->machine = group_track(system, STR("system"), 0);
    return system->machine;
}

static track_id figure_track(struct record_system *system, int64_t what, int64_t place)
{
    const struct figure *figure = &figures[what];
    track_id *known =
        figure->owner == OF_GPU ? &system->gpus[place].figures[what] : &system->figures[what];

    if (*known != NO_TRACK)
        return *known;
    *known = sink_track(system->sink,
                        (struct sink_track){.parent = parent_of(system, figure->owner, place),
                                            .kind = TRACK_COUNTER,
                                            .name = str_of(figure->name),
                                            .source_id = what,
                                            .device = -1});
    sink_property(system->sink, *known,
                  (struct arg){.key = sink_name(system->sink, STR("unit")),
                               .type = ARG_STRING,
                               .bits = sink_name(system->sink, str_of(figure->unit))});
    return *known;
}

static name_id reasons_name(struct record_system *system, int64_t bits)
{
    struct str name = STR("");

    for (int reason = 1; reason < RECORD_REASONS; reason++)
        if ((bits >> reason & 1) != 0)
            name = str_format(system->arena, "%.*s%s%s", STR_ARG(name), name.count > 0 ? " + " : "",
                              reasons[reason]);
    if (bits >> RECORD_REASONS != 0)
        name = str_format(system->arena, "%.*s%sreason 0x%" PRIx64, STR_ARG(name),
                          name.count > 0 ? " + " : "",
                          (uint64_t)bits >> RECORD_REASONS << RECORD_REASONS);
    return sink_name(system->sink, name);
}

/* From the look that first saw these reasons to the one that saw others. */
static void put_slowed(struct record_system *system, struct record_gpu *gpu, int64_t end_ps)
{
    if ((gpu->reasons & ~REASON_IDLE) == 0 || end_ps < gpu->since_ps)
        return;
    if (gpu->slowed == NO_TRACK)
        gpu->slowed = sink_track(
            system->sink, (struct sink_track){.parent = gpu->track,
                                              .kind = TRACK_THREAD,
                                              .name = str_of(figures[FIGURE_GPU_THROTTLE].name),
                                              .derived = true,
                                              .device = -1});
    sink_slice(system->sink, (struct sink_slice){.track = gpu->slowed,
                                                 .start_ps = gpu->since_ps,
                                                 .dur_ps = end_ps - gpu->since_ps,
                                                 .name = reasons_name(system, gpu->reasons),
                                                 .kind = KIND_OTHER});
}

static void take_reasons(struct record_system *system, int64_t place, int64_t at_ps, int64_t bits)
{
    struct record_gpu *gpu = &system->gpus[place];

    gpu_track(system, place);
    if (!gpu->is_looked_at || bits != gpu->reasons) {
        if (gpu->is_looked_at)
            put_slowed(system, gpu, at_ps);
        gpu->reasons = bits;
        gpu->since_ps = at_ps;
    }
    gpu->is_looked_at = true;
    gpu->looked_ps = at_ps;
    gpu->looks++;
    for (int reason = 0; reason < RECORD_REASONS; reason++)
        gpu->by_reason[reason] += (uint64_t)(bits >> reason & 1);
}

void record_system_figures(struct record_system *system, const struct record_columns *columns)
{
    for (uint32_t row = 0; row < columns->count && !sink_failed(system->sink); row++) {
        int64_t what = record_at(columns, COUNTER_WHAT, row);
        int64_t place = record_at(columns, COUNTER_PLACE, row);
        int64_t value = record_at(columns, COUNTER_VALUE, row);
        int64_t at_ps =
            record_clock_ps_of_monotonic(system->clock, record_at(columns, COUNTER_AT_NS, row));

        if (what < 0 || what >= FIGURES || place < 0 || place >= RECORD_GPUS_MAX || value < 0)
            system->unread++;
        else if (what == FIGURE_GPU_THROTTLE)
            take_reasons(system, place, at_ps, value);
        else
            sink_counter(system->sink, figure_track(system, what, place), at_ps,
                         (double)value * figures[what].scale);
    }
}

static void note_slowed(struct record_system *system, int64_t place)
{
    const struct record_gpu *gpu = &system->gpus[place];
    struct str said = STR("");
    uint64_t most = 0;
    bool is_grave = false;

    for (int reason = 2; reason < RECORD_REASONS; reason++) {
        uint64_t count = gpu->by_reason[reason];
        if (count == 0)
            continue;
        said = str_format(system->arena, "%.*s%s%s at %" PRIu64, STR_ARG(said),
                          said.count > 0 ? ", " : "", reasons[reason], count);
        most = count > most ? count : most;
        is_grave |= 1 << reason != REASON_POWER_CAP;
    }
    if (said.count > 0)
        sink_note(system->sink, "gpu-slowed", is_grave ? NOTE_WARNING : NOTE_INFO, most,
                  "%.*s was throttled: of %" PRIu64 " samples, %.*s.",
                  STR_ARG(sink_text(system->sink, gpu->name)), gpu->looks, STR_ARG(said));
}

void record_system_end(struct record_system *system)
{
    for (int64_t place = 0; place < RECORD_GPUS_MAX; place++) {
        struct record_gpu *gpu = &system->gpus[place];
        if (!gpu->is_looked_at)
            continue;
        put_slowed(system, gpu, gpu->looked_ps);
        note_slowed(system, place);
    }
    if (system->unread > 0)
        sink_note(system->sink, "unread", NOTE_INFO, system->unread,
                  "%" PRIu64 " machine metrics are of kinds that this version does not know.",
                  system->unread);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The occupancy formula: warps of a multiprocessor by warps, blocks, registers and shared
 * memory. Facts: NVIDIA's tables of compute capabilities. */
#include "analyse/device/occupancy.h"

enum { WARP_THREADS = 32, REGISTERS = 65536, REGISTER_UNIT = 256, WARP_UNIT = 4 };

static const struct limits {
    uint32_t major, minor, warps, blocks, shared_bytes, shared_unit, shared_reserved;
} limits[] = {
    {6, 0, 64, 32, 65536, 256, 0},      {6, 1, 64, 32, 98304, 256, 0},
    {7, 0, 64, 32, 98304, 256, 0},      {7, 5, 32, 16, 65536, 256, 0},
    {8, 0, 64, 32, 167936, 128, 1024},  {8, 6, 48, 16, 102400, 128, 1024},
    {8, 7, 48, 16, 167936, 128, 1024},  {8, 9, 48, 24, 102400, 128, 1024},
    {9, 0, 64, 32, 233472, 128, 1024},  {10, 0, 64, 32, 233472, 128, 1024},
    {10, 3, 64, 32, 233472, 128, 1024}, {12, 0, 48, 24, 102400, 128, 1024},
    {12, 1, 48, 24, 102400, 128, 1024},
};

enum { CDNA_WAVE_THREADS = 64, CDNA_SIMDS = 4, CDNA_WAVES = 8, CDNA_REGISTERS = 512 };
enum { CDNA_REGISTER_UNIT = 8, CDNA_LDS_BYTES = 65536 };

const char *occupancy_limit_word(enum occupancy_limit limit)
{
    static const char *const words[LIMIT_COUNT] = {
        [LIMIT_WARPS] = "block size",
        [LIMIT_BLOCKS] = "blocks",
        [LIMIT_REGISTERS] = "registers",
        [LIMIT_SHARED] = "shared memory",
    };

    return words[limit];
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static void limit_by(struct occupancy *best, uint64_t *blocks, uint64_t fit,
                     enum occupancy_limit limit)
{
    if (fit < *blocks) {
        *blocks = fit;
        best->limit = limit;
    }
}

static uint64_t threads_of(const struct kernel *kernel)
{
    return (uint64_t)kernel->block[0] * kernel->block[1] * kernel->block[2];
}

static uint64_t shared_of(const struct kernel *kernel)
{
    uint64_t dynamic =
        kernel->dynamic_shared_bytes == NOT_RECORDED ? 0 : kernel->dynamic_shared_bytes;

    return kernel->static_shared_bytes + dynamic;
}

static struct occupancy unknown(const char *reason)
{
    return (struct occupancy){.share = NOT_RECORDED, .reason = reason};
}

static struct occupancy finish(struct occupancy found, uint64_t blocks, uint64_t warps_of_block,
                               uint64_t warps_max)
{
    uint64_t warps = blocks * warps_of_block;

    if (warps == 0)
        return unknown("the recorded launch shape does not fit this device");
    found.share = (uint32_t)(warps * 10000 / warps_max);
    found.blocks = (uint32_t)blocks;
    if (warps == warps_max)
        found.limit = LIMIT_NONE;
    return found;
}

static struct occupancy nvidia(const struct limits *of, const struct kernel *kernel)
{
    struct occupancy found = {.limit = LIMIT_BLOCKS};
    uint64_t warps = round_up(threads_of(kernel), WARP_THREADS) / WARP_THREADS;
    uint64_t registers = round_up((uint64_t)kernel->registers * WARP_THREADS, REGISTER_UNIT);
    uint64_t shared = round_up(shared_of(kernel) + of->shared_reserved, of->shared_unit),
             blocks = of->blocks;

    limit_by(&found, &blocks, of->warps / warps, LIMIT_WARPS);
    limit_by(&found, &blocks, REGISTERS / registers / WARP_UNIT * WARP_UNIT / warps,
             LIMIT_REGISTERS);
    if (shared > 0)
        limit_by(&found, &blocks, of->shared_bytes / shared, LIMIT_SHARED);
    return finish(found, blocks, warps, of->warps);
}

static struct occupancy cdna(const struct kernel *kernel)
{
    struct occupancy found = {.limit = LIMIT_WARPS};
    const uint64_t most = CDNA_SIMDS * CDNA_WAVES;
    uint64_t waves = round_up(threads_of(kernel), CDNA_WAVE_THREADS) / CDNA_WAVE_THREADS;
    uint64_t per_simd = CDNA_REGISTERS / round_up(kernel->registers, CDNA_REGISTER_UNIT);
    uint64_t groups = most / waves;

    limit_by(&found, &groups, per_simd * CDNA_SIMDS / waves, LIMIT_REGISTERS);
    if (shared_of(kernel) > 0)
        limit_by(&found, &groups, CDNA_LDS_BYTES / shared_of(kernel), LIMIT_SHARED);
    return finish(found, groups, waves, most);
}

struct occupancy occupancy_compute(struct processor processor, const struct kernel *kernel)
{
    if (kernel->block[0] == NOT_RECORDED || threads_of(kernel) == 0 || threads_of(kernel) > 1024)
        return unknown("the profile does not say how many threads a block has");
    if (kernel->registers == NOT_RECORDED || kernel->registers == 0)
        return unknown("the profile does not say how many registers a thread uses");
    if (kernel->static_shared_bytes == NOT_RECORDED)
        return unknown("the profile does not say how much shared memory a block uses");
    if (processor.amd)
        return processor.major == 9 && kernel->registers <= CDNA_REGISTERS
                   ? cdna(kernel)
                   : unknown("jviewd does not know the limits of this device");
    for (size_t i = 0; i < COUNT(limits); i++) {
        if (limits[i].major == processor.major && limits[i].minor == processor.minor)
            return kernel->registers <= 255
                       ? nvidia(&limits[i], kernel)
                       : unknown("no device of this kind has so many registers");
    }
    return unknown(processor.major == 0
                       ? "the profile does not say the device's compute capability"
                       : "jviewd does not know the limits of this compute capability");
}

double occupancy_waves(struct processor processor, const struct occupancy *of,
                       const struct kernel *kernel)
{
    if (of->blocks == 0 || processor.count == 0 || kernel->grid[0] == NOT_RECORDED)
        return 0;
    return (double)kernel->grid[0] * kernel->grid[1] * kernel->grid[2] /
           ((double)of->blocks * processor.count);
}

static bool is_of_device(const struct trace *trace, track_id id, int32_t device)
{
    return id < trace->track_count && trace->tracks[id].device == device;
}

static uint32_t number(const struct arg *arg)
{
    return (arg->type == ARG_INT64 || arg->type == ARG_UINT64) && arg->bits < 1000
               ? (uint32_t)arg->bits
               : 0;
}

struct processor processor_of(const struct trace *trace, int32_t device)
{
    struct processor processor = {0};

    for (uint32_t i = 0; i < trace->property_count; i++) {
        const struct property *property = &trace->properties[i];
        struct str key = trace_name(trace, property->arg.key);
        struct str text = property->arg.type == ARG_STRING
                              ? trace_name(trace, (name_id)property->arg.bits)
                              : STR("");

        if (!is_of_device(trace, property->track, device))
            continue;
        if (str_equal(key, STR("compute_cap_major")))
            processor.major = number(&property->arg);
        else if (str_equal(key, STR("compute_cap_minor")))
            processor.minor = number(&property->arg);
        else if (str_equal(key, STR("core_count")) || str_equal(key, STR("numSms")))
            processor.count = number(&property->arg);
        else if (str_contains(text, STR("AMD")) || str_contains(text, STR("Instinct")))
            processor.amd = true;
    }
    return processor;
}

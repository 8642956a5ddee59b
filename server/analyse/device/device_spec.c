/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the properties of a device from the file and holds them against the data sheets of
 * device_table.c. */
#include "analyse/device/device_spec.h"

#include <math.h>

/* A figure of the file may be this many times above or below the sheet's: boards are clocked
 * differently, but not twice as fast. */
static const double doubt_from = 1.5;

struct said { /* by the file, of one device; 0 unknown */
    struct str name, vendor;
    double major, minor, cores, clock_mhz, memory_gb;
    double peak_flops_per_s, bytes_per_s, on_chip_bytes_per_s;
};

static double number_of(const struct arg *arg)
{
    double real;

    switch (arg->type) {
    case ARG_INT64:
        return (double)(int64_t)arg->bits;
    case ARG_UINT64:
    case ARG_DIGITS:
        return (double)arg->bits;
    case ARG_DOUBLE:
        memcpy(&real, &arg->bits, sizeof(real));
        return isfinite(real) ? real : 0;
    default:
        return 0;
    }
}

/* Keys of XPlane, of Nsight Systems, of Kineto; with what makes them a number of ours. */
static const struct {
    const char *key;
    size_t field;
    double scale;
} numbers[] = {
    {"compute_cap_major", offsetof(struct said, major), 1},
    {"compute_cap_minor", offsetof(struct said, minor), 1},
    {"computeMajor", offsetof(struct said, major), 1},
    {"computeMinor", offsetof(struct said, minor), 1},
    {"core_count", offsetof(struct said, cores), 1},
    {"numSms", offsetof(struct said, cores), 1},
    {"clock_rate", offsetof(struct said, clock_mhz), 1e-3},
    {"clock_rate_hz", offsetof(struct said, clock_mhz), 1e-6},
    {"memory_size", offsetof(struct said, memory_gb), 1e-9},
    {"memory_size_bytes", offsetof(struct said, memory_gb), 1e-9},
    {"totalGlobalMem", offsetof(struct said, memory_gb), 1e-9},
    {"memory_bandwidth", offsetof(struct said, bytes_per_s), 1},
    {"memory_bandwidth_bytes_per_s", offsetof(struct said, bytes_per_s), 1},
    {"peak_hbm_bw_gigabytes_per_second", offsetof(struct said, bytes_per_s), 1e9},
    {"peak_vmem_rd_bw_gigabytes_per_second", offsetof(struct said, on_chip_bytes_per_s), 1e9},
    {"peak_teraflops_per_second", offsetof(struct said, peak_flops_per_s), 1e12},
};

static void take_property(const struct trace *trace, const struct arg *arg, struct said *ret)
{
    static const char *const names[] = {"device_type_string", "gpu_device_name", "name"};
    struct str key = trace_name(trace, arg->key);

    for (size_t i = 0; i < COUNT(numbers); i++)
        if (str_equal(key, str_of(numbers[i].key)))
            *(double *)(void *)((char *)ret + numbers[i].field) = number_of(arg) * numbers[i].scale;
    if (arg->type != ARG_STRING)
        return;
    for (size_t i = 0; i < COUNT(names); i++)
        if (str_equal(key, str_of(names[i])))
            ret->name = trace_name(trace, (name_id)arg->bits);
    if (str_equal(key, STR("device_vendor")))
        ret->vendor = trace_name(trace, (name_id)arg->bits);
}

/* The device that ran ops, else the first of the file. */
static struct said read_said(const struct trace *trace, const struct attribution *attribution)
{
    struct said said = {0};
    int32_t device =
        attribution != NULL && attribution->device_count > 0 ? attribution->devices[0].device : -1;

    for (uint32_t i = 0; i < trace->property_count; i++) {
        track_id track = trace->properties[i].track;

        if (track != NO_TRACK && trace->tracks[track].device >= 0 &&
            (device < 0 || trace->tracks[track].device == device))
            take_property(trace, &trace->properties[i].arg, &said);
    }
    return said;
}

static bool is_alphanumeric(char letter)
{
    return (letter >= '0' && letter <= '9') || ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z');
}

/* "L4" is no "L40", "RTX 4060" neither an "RTX 4060 Ti" nor the chip of a laptop. */
static bool ends_there(struct str word, struct str rest)
{
    static const char *const others[] = {" Ti", " SUPER", " Super", " Laptop", " Mobile", " Max-Q"};
    char last = word.at[word.count - 1];

    if (rest.count > 0 && last >= '0' && last <= '9' && is_alphanumeric(rest.at[0]))
        return false;
    for (size_t i = 0; i < COUNT(others); i++) {
        if (str_starts(rest, str_of(others[i])))
            return false;
    }
    return !str_equal(rest, STR(" D"));
}

static bool is_named(struct str name, struct str word)
{
    for (; name.count >= word.count; name = str_skip(name, 1)) {
        if (str_starts(name, word) && ends_there(word, str_skip(name, word.count)))
            return true;
    }
    return false;
}

static bool has_word(struct str name, const char *words)
{
    for (struct str rest = str_of(words); rest.count > 0;) {
        const char *bar = memchr(rest.at, '|', rest.count);
        size_t count = bar == NULL ? rest.count : (size_t)(bar - rest.at);

        if (is_named(name, (struct str){rest.at, count}))
            return true;
        rest = str_skip(rest, bar == NULL ? count : count + 1);
    }
    return false;
}

static bool fits_numbers(const struct device_sheet *sheet, const struct said *said)
{
    uint16_t vendor = str_equal(said->vendor, STR("AMD")) ? 'A' : 'N';

    return sheet->major != 0 && sheet->vendor == vendor && said->major == sheet->major &&
           said->minor == sheet->minor && (sheet->cores == 0 || said->cores == sheet->cores) &&
           (sheet->memory_gb_min == 0 ||
            (said->memory_gb >= sheet->memory_gb_min && said->memory_gb <= sheet->memory_gb_max)) &&
           said->clock_mhz >= sheet->clock_mhz_min;
}

static const struct device_sheet *find_sheet(const struct said *said)
{
    for (size_t i = 0; i < device_sheet_count && said->name.count > 0; i++)
        if (device_sheets[i].words != NULL && has_word(said->name, device_sheets[i].words))
            return &device_sheets[i];
    for (size_t i = 0; i < device_sheet_count && said->major > 0; i++)
        if (fits_numbers(&device_sheets[i], said))
            return &device_sheets[i];
    return NULL;
}

/* The highest rate at which an op of the profile is seen to move its bytes; caches are small beside
 * what is looked at. */
static double fastest_bytes_per_s(const struct attribution *attribution)
{
    const double bytes_min = 1e9, run_bytes_min = 256e6;
    double fastest = 0;

    if (attribution == NULL || attribution->costs == NULL || attribution->totals == NULL)
        return 0;
    for (uint32_t op = 0; op < attribution->op_count; op++) {
        const struct op_cost *cost = &attribution->costs[op];
        double bytes = cost->bytes * cost->run_count;

        if (!(bytes >= bytes_min) || cost->bytes < run_bytes_min ||
            (cost->flags & COST_ASYNC) != 0 || attribution->totals[op].total_ps <= 0)
            continue;
        double per_s = bytes / ((double)attribution->totals[op].total_ps * 1e-12);
        fastest = per_s > fastest ? per_s : fastest;
    }
    return fastest;
}

static bool is_doubtful(double said, double sheet)
{
    return sheet > 0 && (said * doubt_from < sheet || said > sheet * doubt_from);
}

static void put_bytes(const struct said *said, const struct attribution *attribution,
                      struct arena *arena, struct device_spec *ret)
{
    double sheet = ret->sheet == NULL ? 0 : ret->sheet->bytes_per_s * 1e9;
    double fastest = fastest_bytes_per_s(attribution);

    ret->bytes_per_s = NAN;
    if (said->bytes_per_s > 0 && !is_doubtful(said->bytes_per_s, sheet) &&
        fastest <= said->bytes_per_s) {
        ret->bytes_per_s = said->bytes_per_s;
        ret->bytes_source = STR("the profile");
        return;
    }
    if (sheet > 0) {
        ret->bytes_per_s = sheet;
        ret->bytes_source = str_of(ret->sheet->source);
    }
    if (said->bytes_per_s > 0 && fastest > said->bytes_per_s)
        ret->doubt = str_format(arena,
                                "the profile states a memory bandwidth of %.4g GB/s, but one of "
                                "its ops moves %.4g GB/s: %s",
                                said->bytes_per_s * 1e-9, fastest * 1e-9,
                                sheet > 0 ? "the data sheet is taken" : "it is not used");
    else if (said->bytes_per_s > 0)
        ret->doubt = str_format(arena,
                                "the profile states a memory bandwidth of %.4g GB/s, the data "
                                "sheet %.4g: the data sheet is used",
                                said->bytes_per_s * 1e-9, sheet * 1e-9);
}

static void put_flops(const struct said *said, struct device_spec *ret)
{
    for (int i = 0; i < PEAK_COUNT; i++) {
        ret->flops_source[i] = ret->sheet == NULL ? (struct str){0} : str_of(ret->sheet->source);
        ret->flops_per_s[i] =
            ret->sheet != NULL && ret->sheet->tera[i] > 0 ? ret->sheet->tera[i] * 1e12 : NAN;
    }
    /* A TPU says one figure: that of its matrix units with bf16. */
    if (said->peak_flops_per_s > 0 &&
        !is_doubtful(said->peak_flops_per_s,
                     ret->sheet == NULL ? 0 : ret->sheet->tera[PEAK_F16] * 1e12)) {
        ret->flops_per_s[PEAK_F16] = said->peak_flops_per_s;
        ret->flops_source[PEAK_F16] = STR("the profile");
    }
}

void device_spec_of(const struct trace *trace, const struct attribution *attribution,
                    struct arena *arena, struct device_spec *ret)
{
    struct said said = read_said(trace, attribution);

    *ret = (struct device_spec){.sheet = find_sheet(&said)};
    ret->memory_name =
        ret->sheet != NULL && ret->sheet->vendor == 'C' ? STR("DRAM") : STR("memory");
    ret->on_chip_bytes_per_s = said.on_chip_bytes_per_s > 0 ? said.on_chip_bytes_per_s : NAN;
    ret->name = ret->sheet != NULL ? str_of(ret->sheet->name) : said.name;
    put_flops(&said, ret);
    put_bytes(&said, attribution, arena, ret);
    if (ret->sheet != NULL)
        return;
    ret->reason =
        said.name.count > 0
            ? str_format(arena, "jviewd has no data sheet of \"%.*s\"", STR_ARG(said.name))
        : said.cores > 0
            ? STR("the profile does not name the device, and no known device has its numbers")
            : STR("the profile does not say which device this is");
}

enum peak device_peak(enum hlo_type type, bool is_matrix, bool is_highest)
{
    switch (type) {
    case HLO_F64:
    case HLO_C128:
        return is_matrix ? PEAK_F64_MATRIX : PEAK_F64;
    case HLO_F16:
    case HLO_BF16:
        return is_matrix ? PEAK_F16 : PEAK_F32;
    case HLO_F8E5M2:
    case HLO_F8E4M3FN:
    case HLO_F8E4M3B11FNUZ:
    case HLO_F8E5M2FNUZ:
    case HLO_F8E4M3FNUZ:
    case HLO_F8E4M3:
    case HLO_F8E3M4:
    case HLO_F8E8M0FNU:
        return is_matrix ? PEAK_F8 : PEAK_F32;
    case HLO_F4E2M1FN:
        return is_matrix ? PEAK_F4 : PEAK_F32;
    case HLO_S8:
    case HLO_U8:
    case HLO_S4:
    case HLO_U4:
        return is_matrix ? PEAK_S8 : PEAK_F32;
    default:
        return is_matrix && !is_highest ? PEAK_TF32 : PEAK_F32;
    }
}

const char *device_peak_word(enum peak peak)
{
    static const char *const words[PEAK_COUNT] = {
        [PEAK_F64] = "f64",  [PEAK_F64_MATRIX] = "f64 matrix",
        [PEAK_F32] = "f32",  [PEAK_TF32] = "tf32",
        [PEAK_F16] = "bf16", [PEAK_F8] = "f8",
        [PEAK_F4] = "f4",    [PEAK_S8] = "s8",
    };

    return words[peak];
}

/* The nearest that the device is known to have: a chip without units for a type computes it in
 * those of a longer one. */
static enum peak nearest_peak(const struct device_spec *spec, enum peak peak)
{
    static const enum peak longer[PEAK_COUNT] = {
        [PEAK_F64] = PEAK_F64,  [PEAK_F64_MATRIX] = PEAK_F64, [PEAK_F32] = PEAK_F32,
        [PEAK_TF32] = PEAK_F32, [PEAK_F16] = PEAK_F32,        [PEAK_F8] = PEAK_F16,
        [PEAK_F4] = PEAK_F8,    [PEAK_S8] = PEAK_F32,
    };

    while (isnan(spec->flops_per_s[peak]) && longer[peak] != peak)
        peak = longer[peak];
    return peak;
}

static double peak_or_longer(const struct device_spec *spec, enum peak peak)
{
    return spec->flops_per_s[nearest_peak(spec, peak)];
}

enum peak device_peak_of(const struct device_spec *spec, const struct op_cost *cost)
{
    bool is_matrix = cost->matrix_flops > 0;
    enum peak peak = nearest_peak(
        spec, device_peak((enum hlo_type)cost->type, is_matrix, (cost->flags & COST_HIGHEST) != 0));

    return cost->flops_rule == COST_EVENT || (is_matrix && isnan(spec->flops_per_s[peak]))
               ? PEAK_F16
               : peak;
}

double device_compute_s(const struct device_spec *spec, const struct op_cost *cost)
{
    enum hlo_type type = (enum hlo_type)cost->type;
    bool highest = (cost->flags & COST_HIGHEST) != 0;
    double other = cost->flops - cost->matrix_flops, seconds = 0;

    /* What only the compiler tells, it tells as one sum: the fastest units are meant. */
    if (cost->flops_rule == COST_EVENT)
        return cost->flops / spec->flops_per_s[PEAK_F16];
    if (cost->matrix_flops > 0) {
        double peak = peak_or_longer(spec, device_peak(type, true, highest));

        /* Matrix units that know bf16 only take f32 in several passes: bf16 is the bound. */
        seconds += cost->matrix_flops / (isnan(peak) ? spec->flops_per_s[PEAK_F16] : peak);
    }
    if (other > 0) {
        double peak = peak_or_longer(spec, device_peak(type, false, false));

        /* Vector units beside matrix units: unknown there, they bound nothing that is known. */
        if (!isnan(peak))
            seconds += other / peak;
        else if (cost->matrix_flops == 0 && isnan(spec->flops_per_s[PEAK_F16]))
            return NAN;
    }
    return seconds;
}

struct str device_name(const struct trace *trace, int32_t device, struct arena *arena)
{
    for (track_id id = 0; id < trace->track_count; id++) {
        struct str name = trace_name(trace, trace->tracks[id].name);

        if (trace->tracks[id].device == device && trace->tracks[id].kind == TRACK_DEVICE &&
            (str_starts(name, STR("/device:")) || str_contains(name, STR("GPU"))))
            return name;
    }
    return str_format(arena, "device %d", device);
}

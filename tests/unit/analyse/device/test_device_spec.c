/* SPDX-License-Identifier: Apache-2.0 */
/* Data sheets are whole, and devices of files are found in them by name or by numbers. */
#include "check.h"

#include <math.h>

#include "analyse/device/device_link.h"
#include "analyse/device/device_spec.h"
#include "analyse/hlo/cost.h"
#include "unit/analyse/made_run.h"

struct said { /* of a device by its file */
    const char *name, *vendor;
    int64_t major, minor, cores, memory_gb, clock_mhz, bytes_per_s;
};

static void put(struct made_run *run, track_id track, const char *key, int64_t value)
{
    struct sink *sink = run->made.sink;

    if (value != 0)
        sink_property(sink, track,
                      (struct arg){.key = sink_name(sink, str_of(key)),
                                   .type = ARG_UINT64,
                                   .bits = (uint64_t)value});
}

static void put_text(struct made_run *run, track_id track, const char *key, const char *value)
{
    struct sink *sink = run->made.sink;

    if (value != NULL)
        sink_property(sink, track,
                      (struct arg){.key = sink_name(sink, str_of(key)),
                                   .type = ARG_STRING,
                                   .bits = sink_name(sink, str_of(value))});
}

static struct device_spec spec_of(const struct said *said, struct made_run *run)
{
    struct device_spec spec;

    run_begin(run);
    track_id stream = run_stream(run, "Stream #7", ROLE_NONE, 0);
    put_text(run, stream, "gpu_device_name", said->name);
    put_text(run, stream, "device_vendor", said->vendor);
    put(run, stream, "compute_cap_major", said->major);
    put(run, stream, "compute_cap_minor", said->minor);
    put(run, stream, "core_count", said->cores);
    put(run, stream, "memory_size", said->memory_gb * 1000000000);
    put(run, stream, "clock_rate", said->clock_mhz * 1000);
    put(run, stream, "memory_bandwidth", said->bytes_per_s);
    run_slice(run, stream, 0, 1000, "kernel", KIND_COMPUTE);
    run_finish(run);
    device_spec_of(&run->made.trace, &run->attribution, run->made.arena, &spec);
    return spec;
}

static void sheets(void **state)
{
    (void)state;
    const struct {
        const char *what, *name; /* of the sheet; NULL none */
        struct said said;
        double bytes_per_s, f16_per_s; /* 0 unknown */
        const char *source;
    } rows[] = {
        {"by name",
         "NVIDIA H100 SXM",
         {.name = "NVIDIA H100 80GB HBM3"},
         3.35e12,
         989.4e12,
         "NVIDIA H100 data sheet"},
        {"the longer name",
         "NVIDIA H100 NVL",
         {.name = "NVIDIA H100 NVL"},
         3.9e12,
         835.5e12,
         "NVIDIA H100 data sheet"},
        {"a longer number is another chip",
         "NVIDIA L40S",
         {.name = "NVIDIA L40S"},
         864e9,
         362e12,
         "NVIDIA L40S data sheet"},
        {"a board by its numbers, not by the first letters of its name",
         "NVIDIA A100 40GB",
         {.name = "NVIDIA A100-PG509-200", .major = 8, .cores = 108, .memory_gb = 42},
         1555e9,
         312e12,
         "NVIDIA A100 data sheet"},
        {"a Ti is another chip",
         "NVIDIA GeForce RTX 4060 Ti",
         {.name = "NVIDIA GeForce RTX 4060 Ti"},
         288e9,
         44.1e12,
         "NVIDIA Ada white paper, its rates by 34 multiprocessors at 2.54 GHz"},
        {"so is a laptop's", NULL, {.name = "NVIDIA GeForce RTX 4090 Laptop GPU"}, 0, 0, ""},
        {"and what is in no table", NULL, {.name = "NVIDIA GeForce RTX 3080 Ti"}, 0, 0, ""},
        {"a superchip",
         "NVIDIA GB200",
         {.name = "NVIDIA GB200"},
         8e12,
         2500e12,
         "NVIDIA GB200 NVL72 data sheet"},
        {"its own figure",
         "NVIDIA T4",
         {.name = "Tesla T4", .bytes_per_s = 320064000000},
         320064000000,
         65e12,
         "the profile"},
        {"by numbers",
         "NVIDIA T4",
         {.major = 7, .minor = 5, .cores = 40, .memory_gb = 15},
         320e9,
         65e12,
         "NVIDIA T4 data sheet"},
        {"by memory",
         "NVIDIA H200",
         {.major = 9, .cores = 132, .memory_gb = 141},
         4.8e12,
         989.4e12,
         "NVIDIA H200 data sheet"},
        {"not believed",
         "AMD Instinct MI300X",
         {.vendor = "AMD",
          .major = 9,
          .minor = 4,
          .cores = 304,
          .memory_gb = 206,
          .bytes_per_s = 2662400000000},
         5.3e12,
         1307.4e12,
         "AMD Instinct MI300X data sheet"},
        {"by clock",
         "AMD Instinct MI355X",
         {.vendor = "AMD", .major = 9, .minor = 5, .cores = 256, .clock_mhz = 2400},
         8e12,
         2516.6e12,
         "AMD Instinct MI355X data sheet"},
        {"slower clock",
         "AMD Instinct MI350X",
         {.vendor = "AMD", .major = 9, .minor = 5, .cores = 256, .clock_mhz = 2200},
         8e12,
         2306.9e12,
         "AMD Instinct MI350X data sheet"},
        {"another vendor",
         NULL,
         {.vendor = "AMD", .major = 7, .minor = 5, .cores = 40, .memory_gb = 15},
         0,
         0,
         ""},
        {"never another chip's",
         NULL,
         {.major = 12, .minor = 1, .cores = 20, .memory_gb = 16},
         0,
         0,
         ""},
        {"a name of tomorrow",
         NULL,
         {.name = "NVIDIA R100", .bytes_per_s = 20000000000000},
         20e12,
         0,
         "the profile"},
        {"nothing said", NULL, {0}, 0, 0, ""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        struct device_spec spec = spec_of(&rows[i].said, &run);

        CHECK(rows[i].what, (spec.sheet == NULL) == (rows[i].name == NULL));
        if (rows[i].name != NULL)
            CHECK_STR(rows[i].what, spec.name, rows[i].name);
        CHECK_INT(rows[i].what, isnan(spec.bytes_per_s) ? 0 : (int64_t)spec.bytes_per_s,
                  (int64_t)rows[i].bytes_per_s);
        CHECK_INT(rows[i].what,
                  isnan(spec.flops_per_s[PEAK_F16]) ? 0
                                                    : (int64_t)(spec.flops_per_s[PEAK_F16] / 1e9),
                  (int64_t)(rows[i].f16_per_s / 1e9));
        CHECK_STR(rows[i].what, spec.bytes_source, rows[i].source);
        CHECK(rows[i].what, (spec.reason.count > 0) == (spec.sheet == NULL));
        CHECK(rows[i].what, (spec.doubt.count > 0) == (strcmp(rows[i].what, "not believed") == 0));
        run_end(&run);
    }
}

/* Every sheet is whole: a source, a bandwidth, a rate, and one that it can be found by. */
static void table(void **state)
{
    (void)state;
    for (size_t i = 0; i < device_sheet_count; i++) {
        const struct device_sheet *sheet = &device_sheets[i];
        double fastest = 0;

        for (int peak = 0; peak < PEAK_COUNT; peak++)
            fastest = fmax(fastest, sheet->tera[peak]);
        CHECK(sheet->name, fastest > 1 && sheet->bytes_per_s > 100);
        CHECK(sheet->name, strlen(sheet->source) > 0);
        CHECK(sheet->name, sheet->words != NULL || sheet->major != 0);
        CHECK(sheet->name,
              sheet->tera[PEAK_F16] == 0 || sheet->tera[PEAK_F16] >= sheet->tera[PEAK_TF32]);
    }
}

static void peaks(void **state)
{
    (void)state;
    const struct {
        const char *what;
        enum hlo_type type;
        bool is_matrix, is_highest;
        enum peak peak;
    } rows[] = {
        {"bf16 products", HLO_BF16, true, false, PEAK_F16},
        {"bf16 sums", HLO_BF16, false, false, PEAK_F32},
        {"f32 products", HLO_F32, true, false, PEAK_TF32},
        {"f32 products of all bits", HLO_F32, true, true, PEAK_F32},
        {"f8 products", HLO_F8E4M3FN, true, false, PEAK_F8},
        {"f64 products", HLO_F64, true, false, PEAK_F64_MATRIX},
        {"s8 products", HLO_S8, true, false, PEAK_S8},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(rows[i].what, device_peak(rows[i].type, rows[i].is_matrix, rows[i].is_highest),
                  rows[i].peak);
}

/* Each type at its own peak; what has no units of its own computes in those of a longer one. */
static void seconds(void **state)
{
    (void)state;
    struct made_run run;
    const struct said said = {.name = "NVIDIA T4"};
    struct device_spec spec = spec_of(&said, &run);
    struct op_cost cost = {
        .flops_rule = COST_HLO, .flops = 65e12, .matrix_flops = 65e12, .type = HLO_BF16};

    CHECK_INT("a second", (int64_t)(device_compute_s(&spec, &cost) * 1e6), 1000000);
    CHECK_INT("at its own peak", device_peak_of(&spec, &cost), PEAK_F16);
    cost.type = HLO_F32; /* no TF32 on this chip */
    CHECK_INT("as f32", (int64_t)(device_compute_s(&spec, &cost) * 1e3), 8024);
    CHECK_INT("and called so", device_peak_of(&spec, &cost), PEAK_F32);
    cost.matrix_flops = 0;
    CHECK_INT("sums", (int64_t)(device_compute_s(&spec, &cost) * 1e3), 8024);
    run_end(&run);
}

static void families(void **state)
{
    (void)state;
    const struct {
        const char *name, *words;
    } rows[] = {
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "collective (by name)"},
        {"void flash::flash_fwd_kernel<Flash_fwd>", "attention (by name)"},
        {"Cijk_Ailk_Bljk_BBS_BH_MT256x128x64", "matrix product (by name)"},
        {"nvjet_hsh_128x256_64x4_2x1_v_bz_TNT", "matrix product (by name)"},
        {"sm80_xmma_fprop_implicit_gemm_f16f16", "convolution (by name)"},
        {"Im3d2Col.kd", "convolution (by name)"},
        {"my_kernel", ""},
        {"", ""},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_STR(rows[i].name, cost_family_words(cost_family_of(str_of(rows[i].name))),
                  rows[i].words);
    CHECK_STR("a number of tomorrow", cost_family_words(4096), "");
}

/* Every link is of a sheet that is there; what is not known says why; one way, so below memory. */
static void links(void **state)
{
    (void)state;
    static const struct {
        const char *sheet, *name;
        double gb_per_s, host_gb_per_s;
    } rows[] = {{"NVIDIA H100 SXM", "NVLink 4", 450, 64},
                {"NVIDIA A800 80GB", "NVLink 3", 200, 32},
                {"NVIDIA L4", NULL, 0, 32},
                {"AMD Instinct MI355X", "Infinity Fabric", 537.6, 64},
                {"TPU v5e", "ICI", 200, 0},
                {"AMD EPYC 7763", NULL, 0, 0},
                {"", NULL, 0, 0}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct device_link *link = device_link_of(str_of(rows[i].sheet));

        CHECK(rows[i].sheet, (link->name == NULL) == (rows[i].name == NULL));
        CHECK(rows[i].sheet, link->gb_per_s == rows[i].gb_per_s);
        CHECK(rows[i].sheet, link->host_gb_per_s == rows[i].host_gb_per_s);
    }
    for (size_t i = 0; i < device_sheet_count; i++) {
        const struct device_link *link = device_link_of(str_of(device_sheets[i].name));

        CHECK(device_sheets[i].name, (link->name != NULL) == (link->gb_per_s > 0));
        CHECK(device_sheets[i].name, (link->name != NULL) == (link->reason == NULL));
        CHECK(device_sheets[i].name, (link->host_name != NULL) == (link->host_gb_per_s > 0));
        CHECK(device_sheets[i].name, (link->host_name != NULL) == (link->host_reason == NULL));
        CHECK(device_sheets[i].name, link->gb_per_s < device_sheets[i].bytes_per_s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links), cmocka_unit_test(sheets),  cmocka_unit_test(table),
        cmocka_unit_test(peaks), cmocka_unit_test(seconds), cmocka_unit_test(families),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

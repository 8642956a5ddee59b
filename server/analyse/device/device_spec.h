/* SPDX-License-Identifier: Apache-2.0 */
/* What a device can do at most: products a second by type, bytes a second to its memory.
 *
 *   what the file says of it      peak rates (TPU), clock, cores and memory bandwidth (GPU)
 *   the table of data sheets      found by name, else by vendor, capability, cores and memory
 *
 * The file's own figure comes first, unless an op of the profile, or the data sheet, proves it
 * wrong: then the sheet's is taken and `doubt` says so. What neither tells is NAN with a reason;
 * the peak of another chip is never taken. All figures are those of dense arithmetic.
 */
#ifndef JVIEWD_ANALYSE_DEVICE_DEVICE_SPEC_H
#define JVIEWD_ANALYSE_DEVICE_DEVICE_SPEC_H

#include "decode/hlo/hlo_sizes.h"
#include "trace/attribution.h"

enum peak {
    PEAK_F64,        /* of vectors: everything that is no matrix product */
    PEAK_F64_MATRIX, /* products of matrices, in the units made for them */
    PEAK_F32,
    PEAK_TF32, /* products of f32 matrices with shorter mantissas */
    PEAK_F16,  /* f16 and bf16 */
    PEAK_F8,
    PEAK_F4,
    PEAK_S8,
    PEAK_COUNT
};

struct device_sheet {
    const char *name;  /* as shown */
    const char *words; /* parts of the name that the file may say, "a|b"; NULL: never by name */
    uint16_t vendor;   /* 'N'VIDIA, 'A'MD, 'G'oogle, 'C'PU */
    uint16_t major, minor, cores;          /* 0: any */
    uint16_t memory_gb_min, memory_gb_max; /* of 10^9 bytes; 0: any */
    uint16_t clock_mhz_min;
    double bytes_per_s;      /* in GB/s */
    double tera[PEAK_COUNT]; /* 0: the sheet does not say, or it cannot */
    const char *source;
};
extern const struct device_sheet device_sheets[];
extern const size_t device_sheet_count;

struct device_spec {
    struct str name;                  /* "" unknown */
    const struct device_sheet *sheet; /* NULL: none fits */
    double flops_per_s[PEAK_COUNT];   /* NAN unknown */
    double bytes_per_s;               /* to and from the memory that `memory_name` names */
    double on_chip_bytes_per_s; /* to the scratchpad beside the units; only the file says it */
    struct str memory_name;     /* "HBM" */
    struct str flops_source[PEAK_COUNT], bytes_source; /* "the profile", "NVIDIA H100 data sheet" */
    struct str reason;                                 /* why something is unknown */
    struct str doubt; /* of a figure in the file that is not taken; "" none */
};

/* Of the first device of the trace that ran ops. */
void device_spec_of(const struct trace *trace, const struct attribution *attribution,
                    struct arena *arena, struct device_spec *ret);
/* Which peak holds for products, or other arithmetic, of that type; *ret_word names it: "bf16". */
enum peak device_peak(enum hlo_type type, bool is_matrix, bool is_highest);
const char *device_peak_word(enum peak peak);
/* The one that most of an op is held against: f32 where the device has no tf32. */
enum peak device_peak_of(const struct device_spec *spec, const struct op_cost *cost);
/* Seconds that the device would need for the op's arithmetic alone; NAN unknown. */
double device_compute_s(const struct device_spec *spec, const struct op_cost *cost);

/* The name of the device's own track where the file has one, else "device N". */
struct str device_name(const struct trace *trace, int32_t device, struct arena *arena);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf messages that stand beside profiles and are none: their shapes. */
#ifndef JVIEWD_DECODE_FOREIGN_H
#define JVIEWD_DECODE_FOREIGN_H

#include "decode/shape.h"

extern const struct shape shape_hlo;        /* HloProto */
extern const struct shape shape_hlo_module; /* HloModuleProto, without one around it */
extern const struct shape shape_pprof;      /* perftools.profiles.Profile */
extern const struct shape shape_perfetto;
/* Results of TensorFlow's profiler, as TensorBoard left them beside the profile. */
extern const struct shape shape_kernel_stats, shape_input_pipeline, shape_overview,
    shape_tensorflow_stats;

#endif

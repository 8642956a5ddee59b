/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of protobuf messages that lie beside profiles. Facts: the .proto files of XLA, pprof,
 * Perfetto and XProf. */
#include "decode/foreign.h"

/* A module without computations is none; two texts are what many messages begin with. */
static const struct shape_rule named_rules[] = {{1, SHAPE_TEXT, true, NULL}};
static const struct shape named = SHAPE(named_rules, 2);
static const struct shape_rule hlo_module_rules[] = {
    {1, SHAPE_TEXT, true, NULL},   {2, SHAPE_TEXT, false, NULL},   {3, SHAPE_BYTES, true, &named},
    {4, SHAPE_BYTES, false, NULL}, {5, SHAPE_VARINT, false, NULL}, {6, SHAPE_VARINT, false, NULL},
};
static const struct shape hlo_module = SHAPE(hlo_module_rules, 7);
static const struct shape_rule hlo_rules[] = {
    {1, SHAPE_BYTES, true, &hlo_module},
    {2, SHAPE_BYTES, false, NULL},
    {3, SHAPE_BYTES, false, NULL},
};
const struct shape shape_hlo = SHAPE(hlo_rules, 0);

static const struct shape_rule hlo_computation_rules[] = {
    {1, SHAPE_TEXT, true, NULL},   {2, SHAPE_BYTES, false, NULL},  {4, SHAPE_BYTES, true, NULL},
    {5, SHAPE_VARINT, true, NULL}, {6, SHAPE_VARINT, false, NULL}, {7, SHAPE_VARINT, false, NULL},
};
static const struct shape hlo_computation = SHAPE(hlo_computation_rules, 8);
static const struct shape_rule lone_module_rules[] = {
    {1, SHAPE_TEXT, true, NULL},
    {2, SHAPE_TEXT, true, NULL},
    {3, SHAPE_BYTES, true, &hlo_computation},
    {4, SHAPE_BYTES, false, NULL},
    {5, SHAPE_VARINT, false, NULL},
    {6, SHAPE_VARINT, false, NULL},
};
const struct shape shape_hlo_module = SHAPE(lone_module_rules, 7);

static const struct shape_rule value_type_rules[] = {
    {1, SHAPE_VARINT, true, NULL},
    {2, SHAPE_VARINT, false, NULL},
};
static const struct shape value_type = SHAPE(value_type_rules, 0);
static const struct shape_rule pprof_rules[] = {
    {1, SHAPE_BYTES, true, &value_type}, {2, SHAPE_BYTES, false, NULL},
    {3, SHAPE_BYTES, false, NULL},       {4, SHAPE_BYTES, false, NULL},
    {5, SHAPE_BYTES, false, NULL},       {6, SHAPE_BYTES, false, NULL},
    {7, SHAPE_VARINT, false, NULL},      {8, SHAPE_VARINT, false, NULL},
    {9, SHAPE_VARINT, false, NULL},      {10, SHAPE_VARINT, false, NULL},
    {11, SHAPE_BYTES, false, NULL},      {12, SHAPE_VARINT, false, NULL},
};
const struct shape shape_pprof = SHAPE(pprof_rules, 13);

/* Packets hold one of a hundred kinds of data; the sequence they belong to is in all of them. */
static const struct shape_rule packet_rules[] = {
    {3, SHAPE_VARINT, false, NULL},
    {6, SHAPE_BYTES, false, NULL},
    {8, SHAPE_VARINT, false, NULL},
    {10, SHAPE_VARINT, true, NULL},
};
static const struct shape packet = SHAPE(packet_rules, 1);
static const struct shape_rule perfetto_rules[] = {{1, SHAPE_BYTES, true, &packet}};
const struct shape shape_perfetto = SHAPE(perfetto_rules, 0);

static const struct shape_rule kernel_rules[] = {
    {1, SHAPE_TEXT, true, NULL},     {2, SHAPE_VARINT, false, NULL},
    {3, SHAPE_VARINT, false, NULL},  {4, SHAPE_VARINT, false, NULL},
    {5, SHAPE_BYTES, false, NULL},   {6, SHAPE_BYTES, false, NULL},
    {7, SHAPE_VARINT, true, NULL},   {8, SHAPE_VARINT, false, NULL},
    {9, SHAPE_VARINT, false, NULL},  {10, SHAPE_VARINT, false, NULL},
    {11, SHAPE_VARINT, false, NULL}, {12, SHAPE_TEXT, false, NULL},
    {13, SHAPE_VARINT, false, NULL},
};
static const struct shape kernel = SHAPE(kernel_rules, 14);
static const struct shape_rule kernel_stats_rules[] = {{1, SHAPE_BYTES, true, &kernel}};
const struct shape shape_kernel_stats = SHAPE(kernel_stats_rules, 0);

static const struct shape_rule summary_rules[] = {
    /* average, deviation, minimum, maximum */
    {1, SHAPE_FIXED64, false, NULL},
    {2, SHAPE_FIXED64, false, NULL},
    {3, SHAPE_FIXED64, false, NULL},
    {4, SHAPE_FIXED64, false, NULL},
};
static const struct shape summary = SHAPE(summary_rules, 0);
static const struct shape_rule input_pipeline_rules[] = {
    {2, SHAPE_BYTES, true, &summary},
    {3, SHAPE_BYTES, true, &summary},
};
const struct shape shape_input_pipeline = SHAPE(input_pipeline_rules, 4);
static const struct shape_rule overview_rules[] = {
    {2, SHAPE_BYTES, true, &shape_input_pipeline},
    {3, SHAPE_BYTES, true, NULL},
};
const struct shape shape_overview = SHAPE(overview_rules, 4);

static const struct shape_rule stats_record_rules[] = {
    {1, SHAPE_VARINT, false, NULL},
    {2, SHAPE_TEXT, true, NULL},
    {3, SHAPE_TEXT, true, NULL},
    {4, SHAPE_TEXT, false, NULL},
};
static const struct shape stats_record = SHAPE(stats_record_rules, 5);
static const struct shape_rule stats_table_rules[] = {{1, SHAPE_BYTES, true, &stats_record}};
static const struct shape stats_table = SHAPE(stats_table_rules, 2);
static const struct shape_rule tensorflow_stats_rules[] = {
    {4, SHAPE_BYTES, true, &stats_table},
    {5, SHAPE_BYTES, false, &stats_table},
    {6, SHAPE_TEXT, false, NULL},
};
const struct shape shape_tensorflow_stats = SHAPE(tensorflow_stats_rules, 0);

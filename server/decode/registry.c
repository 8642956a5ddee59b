/* Every format that is met in profile directories, told by content.
 *
 * The table is asked from top to bottom; the first that recognises the content names it. Magic
 * numbers come first, then JSON and text, then protobuf messages, which only their shape tells.
 */
#include "decode/decode.h"
#include "decode/shape.h"

struct format {
    const char *name;
    bool (*is)(const struct input *input);
    const char *reason; /* why it is not read and what to do instead */
};

static bool head_starts(const struct input *input, struct bytes magic)
{
    return input->head.count >= magic.count && memcmp(input->head.at, magic.at, magic.count) == 0;
}

static struct str head_text(const struct input *input, size_t limit)
{
    return (struct str){
        .at = (const char *)input->head.at,
        .count = input->head.count < limit ? input->head.count : limit,
    };
}

static bool is_empty(const struct input *input)
{
    return input->bytes.count == 0;
}

static bool is_damaged_packing(const struct input *input)
{
    return input->packing != PACKING_NONE && input->head.count == 0;
}

static bool is_sqlite(const struct input *input)
{
    return head_starts(input, BYTES("SQLite format 3\0"));
}

/* The schema, as text, lies in the first pages. */
static bool is_nsys_sqlite(const struct input *input)
{
    struct str head = head_text(input, SIZE_MAX);

    return is_sqlite(input) &&
           (str_contains(head, STR("META_DATA_EXPORT")) || str_contains(head, STR("TARGET_INFO")) ||
            str_contains(head, STR("CUPTI_ACTIVITY")) || str_contains(head, STR("StringIds")));
}

static bool is_nsys_report(const struct input *input)
{
    return head_starts(input, BYTES("NVIDIA Tegra Profiler Report")) ||
           head_starts(input, BYTES("QDSTRM"));
}

static bool is_parquet(const struct input *input)
{
    return head_starts(input, BYTES("PAR1"));
}

static bool is_zip(const struct input *input)
{
    return head_starts(input, BYTES("PK\x03\x04")) || head_starts(input, BYTES("PK\x05\x06"));
}

static bool is_riegeli(const struct input *input)
{
    return head_starts(input, BYTES("\x83\xaf\x70\xd1\x0d\x88\x4a\x3f"));
}

/* A LevelDB table ends with its magic. */
static bool is_sstable(const struct input *input)
{
    static const uint8_t magic[] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};

    return input->packing == PACKING_NONE && input->bytes.count >= sizeof magic &&
           memcmp(input->bytes.at + input->bytes.count - sizeof magic, magic, sizeof magic) == 0;
}

/* Records of: length (8 bytes), its sum (4 bytes), an Event whose first one names the version. */
static bool is_tfevents(const struct input *input)
{
    return str_contains(head_text(input, 64), STR("brain.Event:")) && input->head.count > 12 &&
           input->head.at[2] == 0 && input->head.at[7] == 0;
}

/* Words of 8 bytes: 0, 3, 0, sampling period, 0. */
static bool is_gperftools(const struct input *input)
{
    uint64_t words[5];

    if (input->head.count < sizeof words)
        return false;
    memcpy(words, input->head.at, sizeof words);
    return words[0] == 0 && words[1] == 3 && words[2] == 0 && words[3] != 0 && words[4] == 0;
}

static struct str skip_blanks(struct str text)
{
    while (text.count > 0 &&
           (text.at[0] == ' ' || text.at[0] == '\t' || text.at[0] == '\n' || text.at[0] == '\r'))
        text = str_skip(text, 1);
    return text;
}

static bool is_text(const struct input *input)
{
    for (size_t index = 0; index < input->head.count; index++) {
        uint8_t byte = input->head.at[index];
        if (byte == 0x7f || (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' &&
                             byte != '\f' && byte != 0x1b))
            return false;
    }
    return true;
}

static bool is_json(const struct input *input)
{
    struct str text = skip_blanks(head_text(input, SIZE_MAX));

    return text.count > 0 && (text.at[0] == '{' || text.at[0] == '[') && is_text(input);
}

static bool is_memory_profile_json(const struct input *input)
{
    return str_starts(skip_blanks(head_text(input, SIZE_MAX)),
                      STR("{\"memoryProfilePerAllocator\""));
}

static bool is_hlo_text(const struct input *input)
{
    return head_starts(input, BYTES("HloModule "));
}

static bool is_xla_dump_text(const struct input *input)
{
    return head_starts(input, BYTES("BufferAssignment:")) ||
           head_starts(input, BYTES("Total bytes used: "));
}

/* Binary in which every byte above 127 became U+FFFD: control characters between them. */
static bool is_mangled(const struct input *input)
{
    struct str rest = head_text(input, SIZE_MAX);
    size_t replaced = 0;

    for (size_t index = 0; index + 3 <= rest.count; index++)
        replaced += memcmp(rest.at + index, "\xef\xbf\xbd", 3) == 0;
    return replaced >= 16 && replaced > rest.count / 256 && !is_text(input);
}

static const struct shape_rule hlo_module_rules[] = {
    {1, SHAPE_TEXT,   true,  NULL},
    {2, SHAPE_TEXT,   false, NULL},
    {3, SHAPE_BYTES,  false, NULL},
    {4, SHAPE_BYTES,  false, NULL},
    {5, SHAPE_VARINT, false, NULL},
    {6, SHAPE_VARINT, false, NULL},
};
static const struct shape hlo_module = SHAPE(hlo_module_rules, 7);
static const struct shape_rule hlo_rules[] = {
    {1, SHAPE_BYTES, true,  &hlo_module},
    {2, SHAPE_BYTES, false, NULL       },
    {3, SHAPE_BYTES, false, NULL       },
};
static const struct shape hlo = SHAPE(hlo_rules, 0);

static const struct shape_rule value_type_rules[] = {
    {1, SHAPE_VARINT, true,  NULL},
    {2, SHAPE_VARINT, false, NULL},
};
static const struct shape value_type = SHAPE(value_type_rules, 0);
static const struct shape_rule pprof_rules[] = {
    {1,  SHAPE_BYTES,  true,  &value_type},
    {2,  SHAPE_BYTES,  false, NULL       },
    {3,  SHAPE_BYTES,  false, NULL       },
    {4,  SHAPE_BYTES,  false, NULL       },
    {5,  SHAPE_BYTES,  false, NULL       },
    {6,  SHAPE_BYTES,  false, NULL       },
    {7,  SHAPE_VARINT, false, NULL       },
    {8,  SHAPE_VARINT, false, NULL       },
    {9,  SHAPE_VARINT, false, NULL       },
    {10, SHAPE_VARINT, false, NULL       },
    {11, SHAPE_BYTES,  false, NULL       },
    {12, SHAPE_VARINT, false, NULL       },
};
static const struct shape pprof = SHAPE(pprof_rules, 13);

/* Packets hold one of a hundred kinds of data; the sequence they belong to is in all of them. */
static const struct shape_rule packet_rules[] = {
    {3,  SHAPE_VARINT, false, NULL},
    {6,  SHAPE_BYTES,  false, NULL},
    {8,  SHAPE_VARINT, false, NULL},
    {10, SHAPE_VARINT, true,  NULL},
};
static const struct shape packet = SHAPE(packet_rules, 1);
static const struct shape_rule perfetto_rules[] = {
    {1, SHAPE_BYTES, true, &packet}
};
static const struct shape perfetto = SHAPE(perfetto_rules, 0);

static const struct shape_rule kernel_rules[] = {
    {1,  SHAPE_TEXT,   true,  NULL},
    {2,  SHAPE_VARINT, false, NULL},
    {3,  SHAPE_VARINT, false, NULL},
    {4,  SHAPE_VARINT, false, NULL},
    {5,  SHAPE_BYTES,  false, NULL},
    {6,  SHAPE_BYTES,  false, NULL},
    {7,  SHAPE_VARINT, true,  NULL},
    {8,  SHAPE_VARINT, false, NULL},
    {9,  SHAPE_VARINT, false, NULL},
    {10, SHAPE_VARINT, false, NULL},
    {11, SHAPE_VARINT, false, NULL},
    {12, SHAPE_TEXT,   false, NULL},
    {13, SHAPE_VARINT, false, NULL},
};
static const struct shape kernel = SHAPE(kernel_rules, 14);
static const struct shape_rule kernel_stats_rules[] = {
    {1, SHAPE_BYTES, true, &kernel}
};
static const struct shape kernel_stats = SHAPE(kernel_stats_rules, 0);

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
static const struct shape input_pipeline = SHAPE(input_pipeline_rules, 4);
static const struct shape_rule overview_rules[] = {
    {2, SHAPE_BYTES, true, &input_pipeline},
    {3, SHAPE_BYTES, true, NULL           },
};
static const struct shape overview = SHAPE(overview_rules, 4);

static const struct shape_rule stats_record_rules[] = {
    {1, SHAPE_VARINT, false, NULL},
    {2, SHAPE_TEXT,   true,  NULL},
    {3, SHAPE_TEXT,   true,  NULL},
    {4, SHAPE_TEXT,   false, NULL},
};
static const struct shape stats_record = SHAPE(stats_record_rules, 5);
static const struct shape_rule stats_table_rules[] = {
    {1, SHAPE_BYTES, true, &stats_record}
};
static const struct shape stats_table = SHAPE(stats_table_rules, 2);
static const struct shape_rule tensorflow_stats_rules[] = {
    {4, SHAPE_BYTES, true,  &stats_table},
    {5, SHAPE_BYTES, false, &stats_table},
    {6, SHAPE_TEXT,  false, NULL        },
};
static const struct shape tensorflow_stats = SHAPE(tensorflow_stats_rules, 0);

static bool is_hlo_proto(const struct input *input)
{
    return shape_fits(input->head, &hlo);
}

static bool is_pprof(const struct input *input)
{
    return shape_fits(input->head, &pprof);
}

static bool is_perfetto(const struct input *input)
{
    return shape_fits(input->head, &perfetto);
}

static bool is_kernel_stats(const struct input *input)
{
    return shape_fits(input->head, &kernel_stats);
}

static bool is_input_pipeline(const struct input *input)
{
    return shape_fits(input->head, &input_pipeline);
}

static bool is_overview(const struct input *input)
{
    return shape_fits(input->head, &overview);
}

static bool is_tensorflow_stats(const struct input *input)
{
    return shape_fits(input->head, &tensorflow_stats);
}

static bool is_anything(const struct input *input)
{
    (void)input;
    return true;
}

#define TOOL_OUTPUT                                                                                \
    "A result that TensorBoard computed from a profile, without a timeline; look for the "         \
    "*.xplane.pb of the same session."

static const struct format before_decoders[] = {
    {"empty",          is_empty,
     "The file is empty: its writer was stopped or is not done yet; capture again."             },
    {"damaged",        is_damaged_packing,
     "The file is compressed, and nothing could be unpacked; copy it again."                    },
    {"nsys-sqlite",    is_nsys_sqlite,
     "An SQLite export of Nsight Systems, which is not read; open the report in Nsight Systems, "
     "or capture with jax.profiler or jview-collect."                                           },
    {"sqlite",         is_sqlite,          "An SQLite database that holds no profile."          },
    {"nsys-rep",       is_nsys_report,
     "A report of Nsight Systems in its private format; open it in Nsight Systems, or capture "
     "with jax.profiler or jview-collect."                                                      },
    {"parquet",        is_parquet,
     "A Parquet table, as nsys-jax writes them, which is not read; use nsys-jax's own tools."   },
    {"zip",            is_zip,             "A ZIP archive: unpack it, and give the directory."  },
    {"riegeli",        is_riegeli,
     "An XPlane profile packed as Riegeli records; capture without continuous profiling, which "
     "writes *.xplane.pb."                                                                      },
    {"sstable",        is_sstable,
     "A cache that XProf leaves beside a profile; it can be removed, the *.xplane.pb says more."},
    {"tfevents",       is_tfevents,        "Scalars for TensorBoard, not a profile."            },
    {"gperftools-cpu", is_gperftools,
     "A CPU profile of gperftools, without a timeline; open it with `pprof`."                   },
    {"mangled",        is_mangled,
     "The file went through a program that takes it for text, and every byte above 127 was lost; "
     "fetch the original again as binary."                                                      },
};

static const struct decoder *const decoders[] = {&decode_trace_json, &decode_xspace};

static const struct format after_decoders[] = {
    {"memory-profile-json", is_memory_profile_json, TOOL_OUTPUT                                   },
    {"json",                is_json,
     "JSON that is no trace: a trace is an array of events or an object with traceEvents."        },
    {"hlo-text",            is_hlo_text,
     "The text of an HLO module from an XLA dump, without a timeline; profiles carry their "
     "modules themselves."                                                                        },
    {"xla-dump",            is_xla_dump_text,
     "A report from an XLA dump, without a timeline; profiles carry their modules themselves."    },
    {"text",                is_text,                "Text, not a profile."                        },
    {"pprof",               is_pprof,
     "A pprof profile (device memory or CPU samples), without a timeline; open it with `pprof`."  },
    {"hlo-proto",           is_hlo_proto,
     "An HLO module, without a timeline; profiles carry their modules themselves."                },
    {"kernel-stats",        is_kernel_stats,        TOOL_OUTPUT                                   },
    {"overview-page",       is_overview,            TOOL_OUTPUT                                   },
    {"input-pipeline",      is_input_pipeline,      TOOL_OUTPUT                                   },
    {"tensorflow-stats",    is_tensorflow_stats,    TOOL_OUTPUT                                   },
    {"perfetto",            is_perfetto,
     "A Perfetto protobuf trace, which is not read; convert it with `traceconv json`, or open it "
     "at ui.perfetto.dev."                                                                        },
    {"unknown",             is_anything,            "A binary file of a format that is not known."},
};

static const struct format *find_format(const struct format *formats, size_t count,
                                        const struct input *input)
{
    for (size_t index = 0; index < count; index++)
        if (formats[index].is(input))
            return &formats[index];
    return NULL;
}

struct identity decode_identify(const struct input *input)
{
    const struct format *found = find_format(before_decoders, COUNT(before_decoders), input);

    for (size_t index = 0; found == NULL && index < COUNT(decoders); index++)
        if (decoders[index]->sniff(input))
            return (struct identity){.decoder = decoders[index], .format = decoders[index]->name};
    if (found == NULL)
        found = find_format(after_decoders, COUNT(after_decoders), input);
    return (struct identity){.format = found->name, .reason = found->reason};
}

/* The tools, one after the other: the list is the documentation. */
#include <string.h>

#include "serve/mcp/mcp_parts.h"

#define RUN_ARGUMENT                                                                               \
    {                                                                                              \
        "run", MCP_TEXT, true,                                                                     \
            "A run: its name, a unique end of it, an id, latest, latest-1 or a step number", NULL  \
    }
#define TOKENS_ARGUMENT                                                                            \
    {                                                                                              \
        "max_tokens", MCP_INTEGER, false,                                                          \
            "About how long the answer may be (default 3500); what is left out is said", NULL      \
    }
#define LIMIT_ARGUMENTS                                                                            \
    {"limit", MCP_INTEGER, false, "Rows at most", NULL},                                           \
    {                                                                                              \
        "cursor", MCP_TEXT, false, "Where to go on: `next` of the answer before", NULL             \
    }
#define WINDOW_ARGUMENTS                                                                           \
    {"start_ps", MCP_INTEGER, false, "Window begin, picoseconds of run time", NULL},               \
    {                                                                                              \
        "end_ps", MCP_INTEGER, false, "Window end", NULL                                           \
    }
#define END_OF_ARGUMENTS                                                                           \
    {                                                                                              \
        NULL, MCP_TEXT, false, NULL, NULL                                                          \
    }

static const struct mcp_argument list_runs[] = {
    {"q", MCP_TEXT, false, "A part of name, directory, host or framework", NULL},
    {"path", MCP_TEXT, false, "Only runs below this directory", NULL},
    {"state", MCP_WORD, false, "Only runs in this state",
     "writing|queued|indexing|ready|partial|failed|gone"},
    LIMIT_ARGUMENTS,
    TOKENS_ARGUMENT,
    END_OF_ARGUMENTS};
static const struct mcp_argument of_run[] = {RUN_ARGUMENT, TOKENS_ARGUMENT, END_OF_ARGUMENTS};
static const struct mcp_argument findings[] = {RUN_ARGUMENT, LIMIT_ARGUMENTS, TOKENS_ARGUMENT,
                                               END_OF_ARGUMENTS};
static const struct mcp_argument top[] = {
    RUN_ARGUMENT,
    {"by", MCP_WORD, false, "What a row is (default op)",
     "op|name|kernel|api|category|module|scope|source|host|device|track|annotation"},
    {"step", MCP_TEXT, false, "Only these steps: 3 or 1-11, by comma", NULL},
    {"device", MCP_TEXT, false, "Only these device ordinals, by comma", NULL},
    {"host", MCP_TEXT, false, "Only these hosts, by comma", NULL},
    {"module", MCP_TEXT, false, "Only this compiled module", NULL},
    {"scope", MCP_TEXT, false, "Only this scope, a prefix of whole path elements", NULL},
    {"q", MCP_TEXT, false, "Only names that hold this text", NULL},
    {"sort", MCP_TEXT, false, "A column, - in front for descending (default -self_ps)", NULL},
    WINDOW_ARGUMENTS,
    LIMIT_ARGUMENTS,
    TOKENS_ARGUMENT,
    END_OF_ARGUMENTS};
static const struct mcp_argument explain_step[] = {
    RUN_ARGUMENT,
    {"step", MCP_TEXT, true, "The step's number", NULL},
    {"host", MCP_TEXT, false, "Only this host", NULL},
    TOKENS_ARGUMENT,
    END_OF_ARGUMENTS};
static const struct mcp_argument explain_op[] = {
    RUN_ARGUMENT,
    {"name", MCP_TEXT, true, "The op's, kernel's or slice's exact name", NULL},
    TOKENS_ARGUMENT,
    END_OF_ARGUMENTS};
static const struct mcp_argument diff[] = {
    {"a", MCP_TEXT, true, "The run before; NAME@step=4 asks for one step of it", NULL},
    {"b", MCP_TEXT, true, "The run after", NULL},
    {"by", MCP_WORD, false, "What a row is (default op)", "op|scope|module|kernel|category"},
    LIMIT_ARGUMENTS,
    TOKENS_ARGUMENT,
    END_OF_ARGUMENTS};
static const struct mcp_argument trend[] = {
    {"metric", MCP_TEXT, false, "step_time (default), step_count, duration, ...", NULL},
    {"path", MCP_TEXT, false, "Only runs below this directory", NULL},
    {"q", MCP_TEXT, false, "A part of name, directory, host or framework", NULL},
    LIMIT_ARGUMENTS,
    TOKENS_ARGUMENT,
    END_OF_ARGUMENTS};
static const struct mcp_argument slices[] = {
    RUN_ARGUMENT,
    {"track", MCP_TEXT, false, "Only this track's id", NULL},
    {"name", MCP_TEXT, false, "Only this exact name", NULL},
    {"min_dur_ps", MCP_INTEGER, false, "Only slices that last so long", NULL},
    {"sort", MCP_WORD, false, "Order (default start_ps)", "start_ps|-dur_ps|-self_ps"},
    WINDOW_ARGUMENTS,
    LIMIT_ARGUMENTS,
    TOKENS_ARGUMENT,
    END_OF_ARGUMENTS};
static const struct mcp_argument sql[] = {
    {"query", MCP_TEXT, true,
     "One SELECT of SQLite. Tables: slices, ops, names, scopes, modules, steps, gaps, kernels, "
     "collectives, compiles, transfers, memory, tracks, hosts, runs, metrics; the table columns "
     "lists all. Times are picoseconds",
     NULL},
    {"run", MCP_TEXT, false, "A run; all runs where it is not given", NULL},
    {"limit", MCP_INTEGER, false, "Rows at most: 1000", NULL},
    TOKENS_ARGUMENT,
    END_OF_ARGUMENTS};

#define TOP_COLUMNS                                                                                \
    "name kind category module scope source count total_ps self_ps share mean_ps p95_ps flops "    \
    "bytes bound_by"

const struct mcp_tool mcp_tools[] = {
    {.name = "list_runs",
     .title = "Runs",
     .text =
         "The captured runs, newest first: name, when, devices, steps and the median step time.",
     .arguments = list_runs,
     .parts = {{.path = "/api/runs",
                .fixed = "limit=20",
                .columns = "name id state started_at duration_ps hosts device_count device_kind "
                           "framework slice_count step_count step_median_ps error"}}},
    {.name = "overview",
     .title = "Overview",
     .text = "Where a run's step time goes: a sentence, steps, breakdown by kind of work, devices, "
             "the costliest ops, the first findings. Ask this first.",
     .arguments = of_run,
     .parts = {{.path = "/api/overview",
                .fixed = "",
                .columns = TOP_COLUMNS " idle_ps busy_ps busy_share device host rule severity "
                                       "confidence text remedy win_ps self_ps message step"}}},
    {.name = "findings",
     .title = "Findings",
     .text =
         "What to do first in a run: each finding with what it may win, its evidence and remedy.",
     .arguments = findings,
     .parts = {{.path = "/api/findings", .fixed = "limit=10"}}},
    {.name = "top",
     .title = "Top table",
     .text = "What took the time in a run: ops, kernels, scopes, modules, ... by self time.",
     .arguments = top,
     .parts = {{.path = "/api/top", .fixed = "limit=20", .columns = TOP_COLUMNS}}},
    {.name = "explain_step",
     .title = "One step",
     .text =
         "One step of a run: how long, what of it each kind of work took, why it is slower than "
         "others, its costliest ops and longest idle gaps.",
     .arguments = explain_step,
     .parts = {{.member = "steps", .path = "/api/steps", .fixed = "limit=8"},
               {.member = "top",
                .path = "/api/top",
                .fixed = "limit=8",
                .columns = "name kind scope source count total_ps self_ps share"},
               {.member = "gaps", .path = "/api/steps", .fixed = "view=gaps&limit=5"}}},
    {.name = "explain_op",
     .title = "One op",
     .text =
         "One op or kernel by its name: its totals, scope, source line, FLOPs, bytes and bound, "
         "and its longest executions.",
     .arguments = explain_op,
     .parts = {{.member = "top", .path = "/api/top", .fixed = "limit=8"},
               {.member = "names", .path = "/api/top", .fixed = "by=name&limit=4"},
               {.member = "longest", .path = "/api/slices", .fixed = "sort=-dur_ps&limit=5"}}},
    {.name = "diff",
     .title = "Difference of two runs",
     .text =
         "What changed from run a to run b: step time with its interval and test, and which ops "
         "explain it, ranked.",
     .arguments = diff,
     .parts = {{.path = "/api/diff", .fixed = "limit=15"}}},
    {.name = "trend",
     .title = "Trend",
     .text = "A metric over the runs, and where it jumped.",
     .arguments = trend,
     .parts = {{.path = "/api/trend", .fixed = "limit=100"}}},
    {.name = "slices",
     .title = "Slices",
     .text = "Events of the timeline: of a track, a name, a window, the longest first if asked.",
     .arguments = slices,
     .parts = {{.path = "/api/slices", .fixed = "limit=20"}}},
    {.name = "sql",
     .title = "SQL",
     .text =
         "A read-only SELECT over slices, ops, names, steps, kernels, memory, ... of a run or of "
         "all runs. Numbers are those of the other tools.",
     .arguments = sql,
     .parts = {{.path = "/api/sql", .fixed = "limit=100"}},
     .limit_max = 1000},
};
const size_t mcp_tool_count = COUNT(mcp_tools);

static json_t *argument_json(const struct mcp_argument *argument)
{
    json_t *schema = json_object();

    json_object_set_new(schema, "type",
                        json_string(argument->type == MCP_INTEGER ? "integer" : "string"));
    json_object_set_new(schema, "description", json_string(argument->text));
    if (argument->type == MCP_WORD) {
        json_t *words = json_array();

        for (const char *at = argument->words; *at != '\0';) {
            size_t size = strcspn(at, "|");

            json_array_append_new(words, json_stringn(at, size));
            at += size + (at[size] == '|');
        }
        json_object_set_new(schema, "enum", words);
    }
    if (strcmp(argument->name, "max_tokens") == 0) {
        json_object_set_new(schema, "minimum", json_integer(MCP_TOKENS_MIN));
        json_object_set_new(schema, "maximum", json_integer(MCP_TOKENS_MAX));
    }
    return schema;
}

json_t *mcp_tool_json(const struct mcp_tool *tool)
{
    json_t *properties = json_object(), *required = json_array();

    for (const struct mcp_argument *at = tool->arguments; at->name != NULL; at++) {
        json_object_set_new(properties, at->name, argument_json(at));
        if (at->required)
            json_array_append_new(required, json_string(at->name));
    }
    return json_pack("{s:s, s:s, s:s, s:{s:s, s:o, s:o, s:b}, s:{s:b, s:b, s:b}}", "name",
                     tool->name, "title", tool->title, "description", tool->text, "inputSchema",
                     "type", "object", "properties", properties, "required", required,
                     "additionalProperties", 0, "annotations", "readOnlyHint", 1, "idempotentHint",
                     1, "openWorldHint", 0);
}

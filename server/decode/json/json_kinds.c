/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that is no trace.
 *
 *   {"$schema": ".../speedscope...", ...}    {"profile": {...}, "fileType": ...}    keys tell
 *   [[-1, 1, 37888, 7], ...]                 [{"cols": [...], ...}, ...]            so do items
 *
 * Only the head is looked at; a key that stands behind it does not tell.
 */
#include <stdlib.h>

#include "decode/json/json_kinds.h"
#include "decode/json/json_scan.h"

static const struct other_json {
    const char *keys[3]; /* all of them; of an array, of its first item */
    const char *reason;
    bool is_profile;       /* of another tool; else computed from one that is read */
    const char *name_part; /* keys that anybody's JSON may have: a profile by this name alone */
} kinds[] = {
    /* specific ones before those they end like */
    {{"$schema", "profiles", "shared"},
     "A profile of speedscope, call stacks without devices; open it at speedscope.app.",
     true,
     NULL},
    {{"meta", "libs", "threads"},
     "A profile of Firefox's profiler; open it at profiler.firefox.com.",
     true,
     NULL},
    {{"meta", "threads"},
     "A profile of Firefox's profiler; open it at profiler.firefox.com.",
     true,
     "profile"},
    {{"label", "allocations", "profile"},
     "A profile of Firefox's profiler; open it at profiler.firefox.com.",
     true,
     "profile"},
    {{"head", "samples", "timestamps"},
     "A CPU profile of Chrome or Node, call stacks without a timeline; open it in Chrome's "
     "developer tools.",
     true,
     "profile"},
    {{"nodes", "samples", "timeDeltas"},
     "A CPU profile of Chrome or Node, call stacks without a timeline; open it in Chrome's "
     "developer tools.",
     true,
     NULL},
    {{"schema", "pid", "nodes"},
     "PyTorch's execution trace: operators and what they were given, without their times; the "
     "profile of the same run (*.pt.trace.json) has those.",
     true,
     NULL},
    {{"rts_arguments", "tick_interval", "cost_centres"},
     "A cost-centre profile of a Haskell program; open it with ghc-prof-flamegraph or "
     "speedscope.app.",
     true,
     NULL},
    {{"cost_centres", "profile"},
     "A cost-centre profile of a Haskell program; open it with ghc-prof-flamegraph or "
     "speedscope.app.",
     true,
     ".prof"},
    {{"projectId", "traceId", "spans"},
     "A trace of Google Cloud Trace; open it in its console.",
     true,
     NULL},
    {{"traceId", "spans"}, "A trace of Google Cloud Trace; open it in its console.", true, "trace"},
    {{"memoryProfilePerAllocator"},
     "Memory by allocator, computed by TensorBoard from the profile beside it; the *.xplane.pb of "
     "the same session shows it under Memory.",
     false,
     NULL},
    {{"cols"},
     "A table that TensorBoard or XProf computed from a profile; look for the *.xplane.pb of the "
     "same session.",
     false,
     NULL},
    {{"byProgram"},
     "A tree of ops that XProf computed from a profile; look for the *.xplane.pb of the same "
     "session.",
     false,
     NULL},
    {{"bySizeToMaxHeap"},
     "A view of buffers that XProf computed from a module; look for the *.hlo_proto.pb or the "
     "*.xplane.pb of the same session.",
     false,
     NULL},
    {{"podStatsSequence"},
     "Steps by core that TensorBoard computed from a profile; look for the *.xplane.pb of the same "
     "session.",
     false,
     NULL},
};
static const char why_numbers[] =
    "Rows of numbers written by PyTorch's export_memory_timeline, without names of what holds the "
    "memory; profile with profile_memory=True instead, whose *.pt.trace.json holds the "
    "allocations.";
static const char why_json[] =
    "JSON that is not a trace: a trace is an array of events or an object with traceEvents.";

static bool is_in(const struct other_json *kind, struct str key, unsigned *found)
{
    for (unsigned i = 0; i < COUNT(kind->keys) && kind->keys[i] != NULL; i++)
        if (str_equal(key, str_of(kind->keys[i])))
            *found |= 1u << i;
    return kind->keys[COUNT(kind->keys) - 1] != NULL ? *found == 7
           : kind->keys[1] != NULL                   ? *found == 3
                                                     : *found == 1;
}

static const struct other_json *by_keys(struct json *json)
{
    unsigned found[COUNT(kinds)] = {0};
    bool first = true;

    json->at++;
    for (struct str key; json_next_key(json, &first, &key); json_value(json))
        for (size_t i = 0; i < COUNT(kinds); i++)
            if (is_in(&kinds[i], key, &found[i]))
                return &kinds[i];
    return NULL;
}

/* NULL: no object, or one that is not known. */
static const struct other_json *find_kind(struct str head)
{
    char *room;
    struct json json = json_over(head, &room);

    if (json_peek(&json) == '[')
        json.at++;
    const struct other_json *kind = json_peek(&json) == '{' ? by_keys(&json) : NULL;
    free(room);
    return kind;
}

static bool holds_rows(struct str head)
{
    return head.count > 2 && str_starts(head, STR("[[")) &&
           (head.at[2] == '-' || (head.at[2] >= '0' && head.at[2] <= '9'));
}

bool json_kind_is_profile(struct str head, struct str name)
{
    const struct other_json *kind = find_kind(head);

    if (kind == NULL && holds_rows(head))
        return str_contains(name, STR("memory")) || str_contains(name, STR("timeline")) ||
               str_ends(name, STR(".raw.json"));
    return kind != NULL && kind->is_profile &&
           (kind->name_part == NULL || str_contains(name, str_of(kind->name_part)));
}

const char *json_kind_reason(struct str head)
{
    const struct other_json *kind = find_kind(head);

    return kind != NULL ? kind->reason : holds_rows(head) ? why_numbers : why_json;
}

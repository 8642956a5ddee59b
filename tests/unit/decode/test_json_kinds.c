/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that is no trace says what it is. */
#include "check.h"
#include "decode/json/json_kinds.h"

static void reasons(void **state)
{
    (void)state;
    const struct {
        const char *what, *head, *part;
    } rows[] = {
        {"speedscope", "{\"$schema\":\"x\",\"profiles\":[{\"a\":[1]}],\"shared\":{",
         "speedscope.app"},
        {"Firefox", "{\"meta\":{\"version\":1},\"libs\":[],\"threads\":[", "profiler.firefox.com"},
        {"Firefox of old", "{\"label\":\"a\",\"allocations\":{},\"profile\":{", "firefox"},
        {"Node", "{\"head\":{},\"samples\":[],\"timestamps\":[]}", "developer tools"},
        {"Chrome", "{\"nodes\":[],\"startTime\":1,\"samples\":[],\"timeDeltas\":[]}",
         "developer tools"},
        {"an execution trace", "{\n \"schema\": \"1.0.1\", \"pid\": 5, \"nodes\": [", "PyTorch"},
        {"memory by row", "[[-1, 1, 37888, 7], [-1, ", "export_memory_timeline"},
        {"memory by allocator", "{\"memoryProfilePerAllocator\":{}}", "by allocator"},
        {"a table", "{\"cols\":[", "TensorBoard"},
        {"tables", "[{\"cols\":[{\"id\":\"a\"}],\"rows\":[", "TensorBoard"},
        {"ops", "{\"byProgram\":{", "XProf"},
        {"one of two keys", "{\"meta\":{},\"thread\":[]}", "JSON that is not a trace"},
        {"a key of an inner object", "{\"a\":{\"cols\":[]}}", "JSON that is not a trace"},
        {"texts", "[[\"a\"]]", "JSON that is not a trace"},
        {"cut in a key", "{\"cols", "JSON that is not a trace"},
        {"cut behind a bracket", "[[", "JSON that is not a trace"},
        {"nothing", "", "JSON that is not a trace"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_HAS(rows[i].what, json_kind_reason(str_of(rows[i].head)), rows[i].part);
}

static void profiles(void **state)
{
    (void)state;
    const struct {
        const char *head, *name;
        bool is_profile;
    } rows[] = {
        {"{\"$schema\":1,\"profiles\":[],\"shared\":{}}", "a.json", true},
        {"{\"byProgram\":{}}", "profile.json", false},
        {"[[1,2]]", "profile.json", false},
        {"[[0, 10], [[0, 5]]]", "memory_timeline.json", true},
        {"[[-1, 1, 37888, 7]]", "rank0.raw.json", true},
        {"{\"a\":1}", "profile.json", false},
        {"{\"meta\":{},\"libs\":[],\"threads\":[", "a.json", true},
        {"{\"meta\":{\"user\":\"alice\"},\"threads\":[]}", "diary.json", false},
        {"{\"meta\":{},\"threads\":[]}", "profile.json.gz", true},
        {"{\"label\":\"a\",\"allocations\":{},\"profile\":{", "budget.json", false},
        {"{\"label\":\"a\",\"allocations\":{},\"profile\":{", "my profile.json", true},
        {"{\"head\":1,\"samples\":[],\"timestamps\":[]}", "blood.json", false},
        {"{\"head\":1,\"samples\":[],\"timestamps\":[]}", "a.cpuprofile", true},
        {"{\"nodes\":[],\"samples\":[],\"timeDeltas\":[]}", "a.json", true},
        {"{\"traceId\":1,\"spans\":[]}", "a.json", false},
        {"{\"traceId\":1,\"spans\":[]}", "trace.json", true},
        {"{\"projectId\":1,\"traceId\":1,\"spans\":[]}", "a.json", true},
        {"{\"cost_centres\":[],\"profile\":{}}", "firm.json", false},
        {"{\"cost_centres\":[],\"profile\":{}}", "a.prof", true},
        {"{\"rts_arguments\":[],\"tick_interval\":1,\"cost_centres\":[", "a.json", true},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK(rows[i].head, json_kind_is_profile(str_of(rows[i].head), str_of(rows[i].name)) ==
                                rows[i].is_profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reasons), cmocka_unit_test(profiles)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

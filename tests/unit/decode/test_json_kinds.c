/* JSON that is no trace says what it is. */
#include "check.h"
#include "decode/json_kinds.h"

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
        {"one of two keys", "{\"meta\":{},\"thread\":[]}", "JSON that is no trace"},
        {"a key of an inner object", "{\"a\":{\"cols\":[]}}", "JSON that is no trace"},
        {"texts", "[[\"a\"]]", "JSON that is no trace"},
        {"cut in a key", "{\"cols", "JSON that is no trace"},
        {"cut behind a bracket", "[[", "JSON that is no trace"},
        {"nothing", "", "JSON that is no trace"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_HAS(rows[i].what, json_kind_reason(str_of(rows[i].head)), rows[i].part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reasons)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

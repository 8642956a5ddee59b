#include "inject/cupti_gate.h"

enum { SPANS_MAX = 64 }; /* the last ones: records come within seconds */

static struct {
    struct span {
        int64_t from, to;
    } spans[SPANS_MAX];
    uint64_t count;
    int64_t looked_ns;
    bool is_open;
} gate;

/* A change lies between two looks: a recording is rather a look too long than too short. */
void cupti_gate_look(bool is_open, int64_t now_ns)
{
    if (is_open && !gate.is_open)
        gate.spans[gate.count++ % SPANS_MAX] =
            (struct span){.from = gate.looked_ns, .to = INT64_MAX};
    else if (!is_open && gate.is_open)
        gate.spans[(gate.count - 1) % SPANS_MAX].to = now_ns;
    gate.is_open = is_open;
    gate.looked_ns = now_ns;
}

bool cupti_gate_keeps(int64_t start_ns, int64_t end_ns)
{
    if (start_ns <= 0 || end_ns < start_ns)
        return gate.is_open;
    for (uint64_t at = gate.count; at > 0 && at + SPANS_MAX > gate.count; at--) {
        const struct span *span = &gate.spans[(at - 1) % SPANS_MAX];
        if (end_ns >= span->from && start_ns <= span->to)
            return true;
    }
    return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's resource callbacks for nodes of CUDA graphs, as entries of the calling thread's ring. */
#include "inject/cupti/cupti_nodes.h"

#include <stdio.h>

#include "inject/cupti/cupti_say.h"
#include "inject/process/texts.h"
#include "inject/process/threads.h"
#include "inject/spool/ticks.h"

/* What is open on the calling thread, as NODE_STACK has it; 0 nothing. A graph is built of many
 * nodes in few ranges: the text is made where a range began or ended since the last one. */
static uint32_t stack_text(struct thread *thread)
{
    static _Thread_local uint32_t last_turn = UINT32_MAX, last_text;
    struct range open[OPEN_MAX];
    char text[TEXT_BYTES_MAX];
    uint32_t turn = atomic_load_explicit(&thread->open.turn, memory_order_relaxed);
    size_t used = 0;

    if (turn == last_turn)
        return last_text;
    uint32_t count = thread_open_ranges(thread, open);
    for (uint32_t index = 0; index < count && used + 64 < sizeof text; index++) {
        uint64_t fields = open[index].payload_kind == PAYLOAD_FIELDS ? open[index].payload : 0;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u.%u.%u", used > 0 ? " " : "",
                                 open[index].domain, open[index].name, (uint32_t)fields);
    }
    last_turn = turn;
    last_text = used > 0 ? text_id(text, used) : 0;
    return last_text;
}

void cupti_nodes_callback(const struct cupti *cupti, uint32_t what,
                          const struct cupti_resource *resource)
{
    const struct cupti_node *node = resource->about;
    struct range told = {.form = FORM_NODE};
    struct thread *thread = thread_own();
    uint64_t from = 0;

    if (thread == NULL || node == NULL || cupti->node_id(node->node, &told.payload) != CUPTI_OK)
        return;
    if (what == CUPTI_NODE_CLONED && cupti->node_id(node->original, &from) != CUPTI_OK)
        return;
    told.start = ticks_now();
    told.end = (int64_t)from;
    told.name = stack_text(thread);
    thread_put(thread, &told);
}

void cupti_nodes_watch(const struct cupti *cupti, void *subscriber)
{
    int result =
        cupti->node_id != NULL && cupti->enable_callback != NULL ? CUPTI_OK : CUPTI_NOT_SUPPORTED;

    if (result == CUPTI_OK)
        result = cupti->enable_callback(1, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_NODE_CREATED);
    if (result == CUPTI_OK)
        result = cupti->enable_callback(1, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_NODE_CLONED);
    if (result != CUPTI_OK)
        cupti_say_result(cupti, "Kernels of CUDA graphs have the op of their launch alone", result,
                         "");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX's callbacks: each call of the program becomes a range, a mark or a name in the calling
 * thread's ring. Facts: the headers of NVTX 3. */
#include "inject/nvtx/nvtx.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/cupti/cupti.h"
#include "inject/nvtx/free_ranges.h"
#include "inject/nvtx/payload.h"
#include "inject/process/recorder.h"
#include "inject/process/recording_switch.h"
#include "inject/process/texts.h"
#include "inject/process/threads.h"
#include "inject/process/told_names.h"
#include "inject/spool/ticks.h"

/* A domain that is not asked for: none of its ranges is looked at. */
#define DOMAIN_OUT (UINT32_C(1) << 31)

static uint32_t default_domain;     /* 0, or DOMAIN_OUT: set before the first range */
static _Atomic uint32_t xla_domain; /* of XLA, once it is there */

/* Domains and registered strings are handed out as the ids of their texts; no handle is the default
 * domain. */
static uint32_t id_of(const void *handle)
{
    return (uint32_t)(uintptr_t)handle;
}

static uint32_t domain_of(const void *handle)
{
    return handle != NULL ? id_of(handle) : default_domain;
}

static bool is_out(uint32_t domain)
{
    return (domain & DOMAIN_OUT) != 0;
}

static void *handle_of(uint32_t id)
{
    return (void *)(uintptr_t)id;
}

static uint32_t text_of(const char *text)
{
    return text != NULL ? text_id(text, strlen(text)) : 0;
}

static uint32_t text_of_wide(const wchar_t *text)
{
    return text != NULL ? text_id_wide(text) : 0;
}

static uint32_t message_of(const struct nvtx_event *event)
{
    if (event->size < sizeof *event)
        return 0;
    switch (event->message_type) {
    case NVTX_MESSAGE_TEXT:
        return text_of(event->message.text);
    case NVTX_MESSAGE_WIDE:
        return text_of_wide(event->message.wide);
    case NVTX_MESSAGE_STRING:
        return id_of(event->message.string);
    default:
        return 0;
    }
}

static void take_double(struct range *range, double value)
{
    range->payload_kind = PAYLOAD_DOUBLE;
    memcpy(&range->payload, &value, sizeof value);
}

static void take_fields(struct range *range, const void *domain,
                        const struct nvtx_payload *payloads, size_t count)
{
    range->payload = payload_text(domain, payloads, count);
    if (range->payload != 0)
        range->payload_kind = PAYLOAD_FIELDS;
}

static void take_payload(struct range *range, const void *domain, const struct nvtx_event *event)
{
    switch (event->payload_type) {
    case NVTX_PAYLOAD_UINT64:
    case NVTX_PAYLOAD_UINT32:
        range->payload_kind = PAYLOAD_UINT64;
        range->payload =
            event->payload_type == NVTX_PAYLOAD_UINT64 ? event->payload.u64 : event->payload.u32;
        break;
    case NVTX_PAYLOAD_INT64:
    case NVTX_PAYLOAD_INT32:
        range->payload_kind = PAYLOAD_INT64;
        range->payload = (uint64_t)(event->payload_type == NVTX_PAYLOAD_INT64 ? event->payload.i64
                                                                              : event->payload.i32);
        break;
    case NVTX_PAYLOAD_DOUBLE:
        take_double(range, event->payload.f64);
        break;
    case NVTX_PAYLOAD_FLOAT:
        take_double(range, (double)event->payload.f32);
        break;
    case NVTX_PAYLOAD_SCHEMA:
        take_fields(range, domain, event->payload.schemas, (size_t)(uint32_t)event->reserved);
        break;
    }
}

static struct range range_of(const void *domain, const struct nvtx_event *event)
{
    struct range range = {.domain = domain_of(domain)};

    if (event == NULL || is_out(range.domain))
        return range;
    range.name = message_of(event);
    range.category = event->category;
    if (event->color_type == NVTX_COLOR_ARGB)
        range.color = event->color;
    take_payload(&range, domain, event);
    return range;
}

/* Of the default domain, with no more than a name. */
static struct range range_named(const char *text)
{
    return (struct range){.domain = default_domain,
                          .name = is_out(default_domain) ? 0 : text_of(text)};
}

static struct range range_named_wide(const wchar_t *text)
{
    return (struct range){.domain = default_domain,
                          .name = is_out(default_domain) ? 0 : text_of_wide(text)};
}

static void mark(struct range range)
{
    struct thread *thread = is_out(range.domain) ? NULL : thread_own();

    if (thread == NULL || !recorder_is_on())
        return;
    range.start = range.end = ticks_now();
    range.form = FORM_MARK;
    thread_put(thread, &range);
}

/* A range that begins while nothing is recorded is counted, so that its end is known for one, and
 * costs next to nothing. Not so where it may open the capture, stands in one that is known, or is
 * XLA's: graphs that are launched in the recording are built before it. */
static bool begins_unseen(const void *domain, const char *name)
{
    struct thread *thread;

    if (recorder_is_on() || is_out(domain_of(domain)) ||
        (switch_has_range && switch_looks_at(name)))
        return false;
    thread = thread_own();
    if (thread == NULL ||
        atomic_load_explicit(&thread->open.count, memory_order_relaxed) + thread->open.too_deep > 0)
        return false;
    if (domain != NULL &&
        id_of(domain) == atomic_load_explicit(&xla_domain, memory_order_relaxed) &&
        cupti_library() != NULL)
        return false;
    thread->unseen++;
    return true;
}

static const char *name_of(const struct nvtx_event *event)
{
    return event != NULL && event->size >= sizeof *event && event->message_type == NVTX_MESSAGE_TEXT
               ? event->message.text
               : NULL;
}

/* The depth at which it stands. */
static int push(struct range range)
{
    struct thread *thread = is_out(range.domain) ? NULL : thread_own();

    if (thread == NULL)
        return 0;
    int depth =
        (int)(atomic_load_explicit(&thread->open.count, memory_order_relaxed) + thread->unseen);
    range.start = ticks_now();
    thread_push(thread, &range);
    if (switch_has_range)
        switch_range_begins(&range);
    return depth;
}

static int pop(uint32_t domain)
{
    struct thread *thread = is_out(domain) ? NULL : thread_own();
    struct range range;

    if (thread == NULL)
        return -1;
    if (thread->unseen > 0 && atomic_load_explicit(&thread->open.count, memory_order_relaxed) == 0)
        return (int)--thread->unseen;
    int64_t end = ticks_now();
    if (!thread_pop(thread, domain, &range))
        return -1;
    range.end = end;
    if (recorder_is_on())
        thread_put(thread, &range);
    if (switch_has_range)
        switch_range_ends(&range);
    return (int)(atomic_load_explicit(&thread->open.count, memory_order_relaxed) + thread->unseen);
}

static uint64_t start(struct range range)
{
    struct thread *thread = is_out(range.domain) ? NULL : thread_own();

    if (thread == NULL)
        return 0;
    range.start = ticks_now();
    range.form = FORM_FREE;
    range.end_thread = thread->id; /* who started it, until it ends */
    uint64_t id = free_range_start(&range);
    if (id == 0)
        thread_lose(thread, LOST_TOO_DEEP);
    if (switch_has_range)
        switch_range_begins(&range);
    return id;
}

/* It stands on the thread that started it; the ring is of the one that ends it. */
static void end(uint32_t domain, uint64_t id)
{
    int64_t at = ticks_now();
    struct thread *thread = is_out(domain) ? NULL : thread_own();
    struct range range;

    if (thread == NULL)
        return;
    if (!free_range_end(id, &range)) {
        thread_lose(thread, LOST_NO_PUSH);
        return;
    }
    range.end = at;
    if (recorder_is_on())
        thread_put(thread, &range);
    if (switch_has_range)
        switch_range_ends(&range);
}

static void on_mark_ex(const struct nvtx_event *event)
{
    mark(range_of(NULL, event));
}

static void on_mark(const char *text)
{
    mark(range_named(text));
}

static void on_mark_wide(const wchar_t *text)
{
    mark(range_named_wide(text));
}

static uint64_t on_start_ex(const struct nvtx_event *event)
{
    return start(range_of(NULL, event));
}

static uint64_t on_start(const char *text)
{
    return start(range_named(text));
}

static uint64_t on_start_wide(const wchar_t *text)
{
    return start(range_named_wide(text));
}

static void on_end(uint64_t id)
{
    end(default_domain, id);
}

static int on_push_ex(const struct nvtx_event *event)
{
    return begins_unseen(NULL, name_of(event)) ? 0 : push(range_of(NULL, event));
}

static int on_push(const char *text)
{
    return begins_unseen(NULL, text) ? 0 : push(range_named(text));
}

static int on_push_wide(const wchar_t *text)
{
    return begins_unseen(NULL, NULL) ? 0 : push(range_named_wide(text));
}

static int on_pop(void)
{
    return pop(default_domain);
}

static void on_name_category(uint32_t category, const char *text)
{
    told_name_of_category(0, category, text_of(text));
}

static void on_name_category_wide(uint32_t category, const wchar_t *text)
{
    told_name_of_category(0, category, text_of_wide(text));
}

static void on_name_thread(uint32_t thread, const char *text)
{
    told_name_of_thread(thread, text_of(text));
}

static void on_name_thread_wide(uint32_t thread, const wchar_t *text)
{
    told_name_of_thread(thread, text_of_wide(text));
}

/* A stream is known by CUPTI's number: before CUDA begins, or without CUPTI, it has none. */
static void name_stream(void *stream, uint32_t name)
{
    const struct cupti *cupti = cupti_library();
    uint32_t number;

    if (cupti != NULL && cupti->stream_id != NULL &&
        cupti->stream_id(NULL, stream, 0, &number) == CUPTI_OK)
        told_name_of_stream(number, name);
}

static void on_name_stream(void *stream, const char *text)
{
    name_stream(stream, text_of(text));
}

static void on_name_stream_wide(void *stream, const wchar_t *text)
{
    name_stream(stream, text_of_wide(text));
}

static void on_domain_mark(const void *domain, const struct nvtx_event *event)
{
    mark(range_of(domain, event));
}

static uint64_t on_domain_start(const void *domain, const struct nvtx_event *event)
{
    return start(range_of(domain, event));
}

static void on_domain_end(const void *domain, uint64_t id)
{
    end(domain_of(domain), id);
}

static int on_domain_push(const void *domain, const struct nvtx_event *event)
{
    return begins_unseen(domain, name_of(event)) ? 0 : push(range_of(domain, event));
}

static int on_domain_pop(const void *domain)
{
    return pop(domain_of(domain));
}

static void on_domain_name_category(const void *domain, uint32_t category, const char *text)
{
    if (!is_out(domain_of(domain)))
        told_name_of_category(domain_of(domain), category, text_of(text));
}

static void on_domain_name_category_wide(const void *domain, uint32_t category, const wchar_t *text)
{
    if (!is_out(domain_of(domain)))
        told_name_of_category(domain_of(domain), category, text_of_wide(text));
}

static void *on_domain_string(const void *domain, const char *text)
{
    return is_out(domain_of(domain)) ? NULL : handle_of(text_of(text));
}

static void *on_domain_string_wide(const void *domain, const wchar_t *text)
{
    return is_out(domain_of(domain)) ? NULL : handle_of(text_of_wide(text));
}

static void *handle_of_domain(uint32_t id)
{
    size_t count;
    const char *name;
    bool is_known = id != 0 && text_at(id, &name, &count);
    bool is_taken = !is_known || switch_takes_domain(name);

    if (is_known && strcmp(name, "TSL") == 0)
        atomic_store(&xla_domain, id);

    return handle_of(is_taken ? id : id | DOMAIN_OUT);
}

static void *on_domain_create(const char *text)
{
    return handle_of_domain(text_of(text));
}

static void *on_domain_create_wide(const wchar_t *text)
{
    return handle_of_domain(text_of_wide(text));
}

struct hook {
    unsigned number;
    nvtx_function *function;
};

#define HOOK(number, function)                                                                     \
    {                                                                                              \
        (number), (nvtx_function *)(function)                                                      \
    }

static const struct hook core[] = {
    HOOK(NVTX_MARK_EX, on_mark_ex),
    HOOK(NVTX_MARK, on_mark),
    HOOK(NVTX_MARK_WIDE, on_mark_wide),
    HOOK(NVTX_START_EX, on_start_ex),
    HOOK(NVTX_START, on_start),
    HOOK(NVTX_START_WIDE, on_start_wide),
    HOOK(NVTX_END, on_end),
    HOOK(NVTX_PUSH_EX, on_push_ex),
    HOOK(NVTX_PUSH, on_push),
    HOOK(NVTX_PUSH_WIDE, on_push_wide),
    HOOK(NVTX_POP, on_pop),
    HOOK(NVTX_NAME_CATEGORY, on_name_category),
    HOOK(NVTX_NAME_CATEGORY_WIDE, on_name_category_wide),
    HOOK(NVTX_NAME_THREAD, on_name_thread),
    HOOK(NVTX_NAME_THREAD_WIDE, on_name_thread_wide),
};

static const struct hook cuda[] = {
    HOOK(NVTX_CUDA_NAME_STREAM, on_name_stream),
    HOOK(NVTX_CUDA_NAME_STREAM_WIDE, on_name_stream_wide),
};

static const struct hook cudart[] = {
    HOOK(NVTX_CUDART_NAME_STREAM, on_name_stream),
    HOOK(NVTX_CUDART_NAME_STREAM_WIDE, on_name_stream_wide),
};

static const struct hook core2[] = {
    HOOK(NVTX_DOMAIN_MARK_EX, on_domain_mark),
    HOOK(NVTX_DOMAIN_START_EX, on_domain_start),
    HOOK(NVTX_DOMAIN_END, on_domain_end),
    HOOK(NVTX_DOMAIN_PUSH_EX, on_domain_push),
    HOOK(NVTX_DOMAIN_POP, on_domain_pop),
    HOOK(NVTX_DOMAIN_NAME_CATEGORY, on_domain_name_category),
    HOOK(NVTX_DOMAIN_NAME_CATEGORY_WIDE, on_domain_name_category_wide),
    HOOK(NVTX_DOMAIN_STRING, on_domain_string),
    HOOK(NVTX_DOMAIN_STRING_WIDE, on_domain_string_wide),
    HOOK(NVTX_DOMAIN_CREATE, on_domain_create),
    HOOK(NVTX_DOMAIN_CREATE_WIDE, on_domain_create_wide),
};

static struct range range_of_payloads(const void *domain, const struct nvtx_payload *payloads,
                                      size_t count)
{
    struct range range = {.domain = domain_of(domain)};

    if (is_out(range.domain))
        return range;
    range.name = payload_name(domain, payloads, count);
    take_fields(&range, domain, payloads, count);
    return range;
}

static void on_mark_payload(const void *domain, const struct nvtx_payload *payloads, size_t count)
{
    mark(range_of_payloads(domain, payloads, count));
}

static int on_push_payload(const void *domain, const struct nvtx_payload *payloads, size_t count)
{
    return begins_unseen(domain, NULL) ? 0 : push(range_of_payloads(domain, payloads, count));
}

static uint64_t on_start_payload(const void *domain, const struct nvtx_payload *payloads,
                                 size_t count)
{
    return start(range_of_payloads(domain, payloads, count));
}

/* What the end tells beside the beginning is not kept. */
static int on_pop_payload(const void *domain, const struct nvtx_payload *payloads, size_t count)
{
    (void)payloads;
    (void)count;
    return pop(domain_of(domain));
}

static void on_end_payload(const void *domain, uint64_t id, const struct nvtx_payload *payloads,
                           size_t count)
{
    (void)payloads;
    (void)count;
    end(domain_of(domain), id);
}

static uint8_t on_is_enabled(const void *domain)
{
    return !is_out(domain_of(domain));
}

bool nvtx_extend(struct nvtx_extension *extension)
{
    static const struct hook hooks[] = {
        HOOK(NVTX_SLOT_SCHEMA, payload_schema), HOOK(NVTX_SLOT_ENUM, payload_enum),
        HOOK(NVTX_SLOT_MARK, on_mark_payload),  HOOK(NVTX_SLOT_PUSH, on_push_payload),
        HOOK(NVTX_SLOT_POP, on_pop_payload),    HOOK(NVTX_SLOT_START, on_start_payload),
        HOOK(NVTX_SLOT_END, on_end_payload),    HOOK(NVTX_SLOT_IS_ENABLED, on_is_enabled),
    };

    if (extension->size < sizeof *extension || extension->module != NVTX_EXTENSION_PAYLOAD ||
        extension->segment_count == 0)
        return false;
    for (size_t index = 0; index < sizeof hooks / sizeof hooks[0]; index++)
        if (hooks[index].number < extension->segments[0].slot_count)
            extension->segments[0].slots[hooks[index].number] = (intptr_t)hooks[index].function;
    return true;
}

static bool hook_module(const struct nvtx_callbacks *callbacks, int module,
                        const struct hook *hooks, size_t count)
{
    nvtx_function ***places = NULL;
    unsigned place_count = 0;

    if (callbacks->module(module, &places, &place_count) == 0 || places == NULL)
        return false;
    for (size_t index = 0; index < count; index++)
        if (hooks[index].number < place_count && places[hooks[index].number] != NULL)
            *places[hooks[index].number] = hooks[index].function;
    return true;
}

bool nvtx_attach(nvtx_get_table *get_table)
{
    const struct nvtx_callbacks *callbacks = get_table(NVTX_TABLE_CALLBACKS);

    if (callbacks == NULL || callbacks->size < sizeof *callbacks)
        return false;
    default_domain = switch_takes_domain(NULL) ? 0 : DOMAIN_OUT;
    bool has_core = hook_module(callbacks, NVTX_MODULE_CORE, core, sizeof core / sizeof core[0]);
    bool has_core2 =
        hook_module(callbacks, NVTX_MODULE_CORE2, core2, sizeof core2 / sizeof core2[0]);
    hook_module(callbacks, NVTX_MODULE_CUDA, cuda, sizeof cuda / sizeof cuda[0]);
    hook_module(callbacks, NVTX_MODULE_CUDART, cudart, sizeof cudart / sizeof cudart[0]);
    return has_core || has_core2;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Compares ranges with the capture range that was asked for, and turns the session's gate. */
#include "inject/process/recording_switch.h"

#include <pthread.h>
#include <string.h>

#include "inject/process/texts.h"
#include "inject/spool/ticks.h"

enum { TURNS_MAX = 1024, LOOKS_MAX = 10000 };

bool switch_has_range;

static struct {
    pthread_mutex_t lock;
    struct control *control;
    uint32_t name, domain; /* texts; domain 0: any */
    uint32_t steps;        /* ranges of that name so far */
    uint32_t seen[SEEN_MAX];
    _Atomic uint32_t seen_count, looks; /* the latter at names that are others */
    bool is_ours;                       /* a range of this process opened it: */
    struct range opener;
    struct switch_turn {
        int64_t at;
        uint32_t is_open, capture;
    } turns[TURNS_MAX], last;
    uint32_t count; /* of turns that wait */
    struct switch_spans spans;
    int64_t looked_ns;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A turn that another made lies between two looks: a recording is rather a look too long than too
 * short. */
static void keep_span(bool is_open, bool is_others)
{
    struct switch_spans *spans = &gate.spans;
    int64_t now_ns = clock_ns(CLOCK_REALTIME);

    if (is_open && !spans->is_open)
        spans->spans[spans->count++ % GATE_SPANS_MAX] = (struct switch_span){
            .from_ns = is_others ? gate.looked_ns : now_ns, .to_ns = INT64_MAX};
    else if (!is_open && spans->is_open)
        spans->spans[(spans->count - 1) % GATE_SPANS_MAX].to_ns = now_ns;
    spans->is_open = is_open;
    gate.looked_ns = now_ns;
}

static void keep_turn(bool is_others)
{
    keep_span(atomic_load(&gate.control->gate) != 0, is_others);
    struct switch_turn turn = {ticks_now(), atomic_load(&gate.control->gate),
                               atomic_load(&gate.control->capture)};

    if (gate.count == TURNS_MAX ||
        (turn.is_open == gate.last.is_open && turn.capture == gate.last.capture))
        return;
    gate.turns[gate.count++] = gate.last = turn;
}

void switch_watch(const struct session *session)
{
    const struct control_asked *asked = &session->control->asked;

    gate.control = session->control;
    if (asked->range == CAPTURE_NVTX || asked->range == CAPTURE_STEPS) {
        gate.name = text_id(asked->name, strlen(asked->name));
        if (asked->domain[0] != '\0')
            gate.domain = text_id(asked->domain, strlen(asked->domain));
        switch_has_range = true;
    }
    gate.looked_ns = clock_ns(CLOCK_REALTIME);
    keep_turn(true);
}

void switch_follow(void)
{
    pthread_mutex_lock(&gate.lock);
    keep_turn(true);
    pthread_mutex_unlock(&gate.lock);
}

static bool is_range(const struct range *range)
{
    return range->name == gate.name && (gate.domain == 0 || range->domain == gate.domain);
}

/* Into the page: what the launcher tells where the capture never began. */
static void see(uint32_t name)
{
    struct control *control = gate.control;
    size_t size;
    const char *text;

    for (uint32_t index = 0; index < gate.seen_count; index++)
        if (gate.seen[index] == name)
            return;
    if (name == 0 || gate.seen_count == SEEN_MAX || !text_at(name, &text, &size))
        return;
    gate.seen[gate.seen_count++] = name;
    uint32_t place = atomic_fetch_add(&control->seen_count, 1);
    if (place >= SEEN_MAX)
        return;
    if (size > SEEN_NAME_MAX - 1)
        size = SEEN_NAME_MAX - 1;
    memcpy(control->seen[place], text, size); /* the page is of zeros */
}

/* Is it the one that opens, or do enough of them lie behind? */
static bool opens(void)
{
    const struct control_asked *asked = &gate.control->asked;

    if (asked->range == CAPTURE_STEPS)
        return ++gate.steps == asked->first_step;
    return asked->captures_max == 0 || atomic_load(&gate.control->capture) < asked->captures_max;
}

/* Names that are others are told until there are enough of them. */
bool switch_looks_at(const char *name)
{
    bool has_seen = atomic_load_explicit(&gate.looks, memory_order_relaxed) >= LOOKS_MAX;

    return name == NULL || !has_seen || strcmp(name, gate.control->asked.name) == 0;
}

void switch_range_begins(const struct range *range)
{
    if (!is_range(range)) {
        if (atomic_load_explicit(&gate.looks, memory_order_relaxed) < LOOKS_MAX)
            atomic_fetch_add_explicit(&gate.looks, 1, memory_order_relaxed);
        if (gate.seen_count < SEEN_MAX && atomic_load(&gate.control->capture) == 0) {
            pthread_mutex_lock(&gate.lock);
            see(range->name);
            pthread_mutex_unlock(&gate.lock);
        }
        return;
    }
    pthread_mutex_lock(&gate.lock);
    /* Its end needs a place too; one that finds none stays unrecorded, as any beyond the last. */
    if (opens() && gate.count + 2 <= TURNS_MAX && control_turn(gate.control, true)) {
        gate.is_ours = true;
        gate.opener = *range;
        keep_turn(false);
    }
    pthread_mutex_unlock(&gate.lock);
}

/* Of steps the last one that is asked for closes, and whoever it is ends the range that opened
 * it. */
static bool closes(const struct range *range)
{
    const struct control_asked *asked = &gate.control->asked;

    if (!gate.is_ours || !is_range(range))
        return false;
    if (asked->range == CAPTURE_STEPS)
        return gate.steps >= asked->last_step;
    return range->start == gate.opener.start && range->domain == gate.opener.domain;
}

void switch_range_ends(const struct range *range)
{
    if (range->name != gate.name)
        return;
    pthread_mutex_lock(&gate.lock);
    if (closes(range)) {
        gate.is_ours = false;
        control_turn(gate.control, false);
        keep_turn(false);
    }
    pthread_mutex_unlock(&gate.lock);
}

bool switch_has_calls(void)
{
    return gate.control->asked.range == CAPTURE_CUDA;
}

/* The runtime's call makes the driver's: the second of the two finds nothing to do. */
void switch_turn_by_call(bool opens)
{
    uint32_t most = gate.control->asked.captures_max;

    pthread_mutex_lock(&gate.lock);
    if ((!opens || most == 0 || atomic_load(&gate.control->capture) < most) &&
        gate.count + 2 <= TURNS_MAX && control_turn(gate.control, opens))
        keep_turn(false);
    pthread_mutex_unlock(&gate.lock);
}

void switch_spans(struct switch_spans *ret)
{
    pthread_mutex_lock(&gate.lock);
    *ret = gate.spans;
    pthread_mutex_unlock(&gate.lock);
}

uint32_t switch_turns(int64_t *rows, uint32_t max)
{
    uint32_t count = 0;

    pthread_mutex_lock(&gate.lock);
    for (; count < max && count < gate.count; count++, rows += GATE_COLUMNS) {
        rows[GATE_AT] = gate.turns[count].at;
        rows[GATE_IS_OPEN] = gate.turns[count].is_open;
        rows[GATE_CAPTURE] = gate.turns[count].capture;
    }
    pthread_mutex_unlock(&gate.lock);
    return count;
}

void switch_told(uint32_t count)
{
    pthread_mutex_lock(&gate.lock);
    gate.count -= count;
    memmove(gate.turns, gate.turns + count, gate.count * sizeof *gate.turns);
    pthread_mutex_unlock(&gate.lock);
}

static bool is_listed(const char *list, const char *name)
{
    size_t count = strlen(name);

    for (;; list++) {
        size_t word = strcspn(list, ",");
        if (word == count && memcmp(list, name, count) == 0)
            return true;
        list += word;
        if (*list == '\0')
            return false;
    }
}

bool switch_takes_domain(const char *name)
{
    const struct control_asked *asked = gate.control != NULL ? &gate.control->asked : NULL;

    if (asked == NULL)
        return true;
    if (asked->no_ranges != 0)
        return false;
    return asked->domains[0] == '\0' ||
           is_listed(asked->domains, name != NULL ? name : "default") ==
               (asked->excludes_domains == 0);
}

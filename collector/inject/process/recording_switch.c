/* SPDX-License-Identifier: Apache-2.0 */
/* Compares ranges with the capture range that was asked for, and turns the session's state. */
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
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A turn that another made lies between two looks: a recording is rather a look too long than too
 * short. */
static void keep_span(bool is_open, bool is_others)
{
    struct switch_spans *spans = &state.spans;
    int64_t now_ns = clock_ns(CLOCK_REALTIME);

    if (is_open && !spans->is_open)
        spans->spans[spans->count++ % SWITCH_SPANS_MAX] = (struct switch_span){
            .from_ns = is_others ? state.looked_ns : now_ns, .to_ns = INT64_MAX};
    else if (!is_open && spans->is_open)
        spans->spans[(spans->count - 1) % SWITCH_SPANS_MAX].to_ns = now_ns;
    spans->is_open = is_open;
    state.looked_ns = now_ns;
}

static void keep_turn(bool is_others)
{
    keep_span(atomic_load(&state.control->is_on) != 0, is_others);
    struct switch_turn turn = {ticks_now(), atomic_load(&state.control->is_on),
                               atomic_load(&state.control->capture)};

    if (state.count == TURNS_MAX ||
        (turn.is_open == state.last.is_open && turn.capture == state.last.capture))
        return;
    state.turns[state.count++] = state.last = turn;
}

void switch_watch(const struct session *session)
{
    const struct control_asked *asked = &session->control->asked;

    state.control = session->control;
    if (asked->range == CAPTURE_NVTX || asked->range == CAPTURE_STEPS) {
        state.name = text_id(asked->name, strlen(asked->name));
        if (asked->domain[0] != '\0')
            state.domain = text_id(asked->domain, strlen(asked->domain));
        switch_has_range = true;
    }
    state.looked_ns = clock_ns(CLOCK_REALTIME);
    keep_turn(true);
}

void switch_follow(void)
{
    pthread_mutex_lock(&state.lock);
    keep_turn(true);
    pthread_mutex_unlock(&state.lock);
}

static bool is_range(const struct range *range)
{
    return range->name == state.name && (state.domain == 0 || range->domain == state.domain);
}

/* Into the page: what the launcher tells where the capture never began. */
static void see(uint32_t name)
{
    struct control *control = state.control;
    size_t size;
    const char *text;

    for (uint32_t index = 0; index < state.seen_count; index++)
        if (state.seen[index] == name)
            return;
    if (name == 0 || state.seen_count == SEEN_MAX || !text_at(name, &text, &size))
        return;
    state.seen[state.seen_count++] = name;
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
    const struct control_asked *asked = &state.control->asked;

    if (asked->range == CAPTURE_STEPS)
        return ++state.steps == asked->first_step;
    return asked->captures_max == 0 || atomic_load(&state.control->capture) < asked->captures_max;
}

/* Names that are others are told until there are enough of them. */
bool switch_looks_at(const char *name)
{
    bool has_seen = atomic_load_explicit(&state.looks, memory_order_relaxed) >= LOOKS_MAX;

    return name == NULL || !has_seen || strcmp(name, state.control->asked.name) == 0;
}

void switch_range_begins(const struct range *range)
{
    if (!is_range(range)) {
        if (atomic_load_explicit(&state.looks, memory_order_relaxed) < LOOKS_MAX)
            atomic_fetch_add_explicit(&state.looks, 1, memory_order_relaxed);
        if (state.seen_count < SEEN_MAX && atomic_load(&state.control->capture) == 0) {
            pthread_mutex_lock(&state.lock);
            see(range->name);
            pthread_mutex_unlock(&state.lock);
        }
        return;
    }
    pthread_mutex_lock(&state.lock);
    /* Its end needs a place too; one that finds none stays unrecorded, as any beyond the last. */
    if (opens() && state.count + 2 <= TURNS_MAX && control_turn(state.control, true)) {
        state.is_ours = true;
        state.opener = *range;
        keep_turn(false);
    }
    pthread_mutex_unlock(&state.lock);
}

/* Of steps the last one that is asked for closes, and whoever it is ends the range that opened
 * it. */
static bool closes(const struct range *range)
{
    const struct control_asked *asked = &state.control->asked;

    if (!state.is_ours || !is_range(range))
        return false;
    if (asked->range == CAPTURE_STEPS)
        return state.steps >= asked->last_step;
    return range->start == state.opener.start && range->domain == state.opener.domain;
}

void switch_range_ends(const struct range *range)
{
    if (range->name != state.name)
        return;
    pthread_mutex_lock(&state.lock);
    if (closes(range)) {
        state.is_ours = false;
        control_turn(state.control, false);
        keep_turn(false);
    }
    pthread_mutex_unlock(&state.lock);
}

bool switch_has_calls(void)
{
    return state.control->asked.range == CAPTURE_CUDA;
}

/* The runtime's call makes the driver's: the second of the two finds nothing to do. */
void switch_turn_by_call(bool opens)
{
    uint32_t most = state.control->asked.captures_max;

    pthread_mutex_lock(&state.lock);
    if ((!opens || most == 0 || atomic_load(&state.control->capture) < most) &&
        state.count + 2 <= TURNS_MAX && control_turn(state.control, opens))
        keep_turn(false);
    pthread_mutex_unlock(&state.lock);
}

void switch_spans(struct switch_spans *ret)
{
    pthread_mutex_lock(&state.lock);
    *ret = state.spans;
    pthread_mutex_unlock(&state.lock);
}

uint32_t switch_turns(int64_t *rows, uint32_t max)
{
    uint32_t count = 0;

    pthread_mutex_lock(&state.lock);
    for (; count < max && count < state.count; count++, rows += SWITCH_COLUMNS) {
        rows[SWITCH_AT] = state.turns[count].at;
        rows[SWITCH_IS_OPEN] = state.turns[count].is_open;
        rows[SWITCH_CAPTURE] = state.turns[count].capture;
    }
    pthread_mutex_unlock(&state.lock);
    return count;
}

void switch_told(uint32_t count)
{
    pthread_mutex_lock(&state.lock);
    state.count -= count;
    memmove(state.turns, state.turns + count, state.count * sizeof *state.turns);
    pthread_mutex_unlock(&state.lock);
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
    const struct control_asked *asked = state.control != NULL ? &state.control->asked : NULL;

    if (asked == NULL)
        return true;
    if (asked->no_ranges != 0)
        return false;
    return asked->domains[0] == '\0' ||
           is_listed(asked->domains, name != NULL ? name : "default") ==
               (asked->excludes_domains == 0);
}

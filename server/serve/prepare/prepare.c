/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that asks the first questions of new runs, so that pages find them answered. */
#include "serve/prepare/prepare.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "serve/answer/route_table.h"
#include "serve/dispatch/dispatch.h"
#include "serve/kept/shared.h"
#include "serve/kept/stored.h"
#include "serve/prepare/measure.h"
#include "serve/sql/sql_process.h"

enum { LOOK_MS = 250, LOOKS_IN_VAIN_MAX = 8, RUNS_MAX = 8, ASKED_MAX = 64 };

struct prepare {
    struct services services; /* without waiting: what is no longer indexed is not prepared */
    const struct server *server;
    struct pace pace;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopping;
    uint64_t seen;             /* the catalog's generation when its runs were last looked at */
    uint64_t asked[ASKED_MAX]; /* runs as they were, the oldest forgotten first */
    uint32_t asked_count;
};

static bool pause_until_next(struct prepare *prepare)
{
    pthread_mutex_lock(&prepare->lock);
    if (!prepare->stopping)
        clock_wait(&prepare->changed, &prepare->lock, clock_deadline_ns(LOOK_MS));
    bool stopping = prepare->stopping;
    pthread_mutex_unlock(&prepare->lock);
    return !stopping;
}

static bool is_stopping(struct prepare *prepare)
{
    pthread_mutex_lock(&prepare->lock);
    bool stopping = prepare->stopping;
    pthread_mutex_unlock(&prepare->lock);
    return stopping;
}

/* The reply's status. Who asks first is the one who waits; what is kept already costs a read. */
static int ask(const struct services *services, struct str run_id, const struct offer *question,
               struct shared *shared)
{
    const struct ahead *ahead = question->what;
    struct arena *arena = arena_create();
    struct request request = {
        .method = STR("GET"),
        .path = str_of(question->route->path),
        .query = str_format(arena, "run=%.*s%s%s", STR_ARG(run_id),
                            ahead->params[0] != '\0' ? "&" : "", ahead->params),
        .arena = arena,
        .services = services,
        .shared = shared,
    };
    struct reply reply;

    serve_request(&request, &reply);

    int status = reply.status;

    reply_free(&reply);
    arena_destroy(arena);
    memory_give_back();
    return status;
}

static bool shares(const struct offer *question)
{
    return ((const struct ahead *)question->what)->shares;
}

/* What endpoints make of the run besides answers. */
static void make_rest(struct prepare *prepare, struct str run_id)
{
    const struct route_table *table = prepare->services.routes;

    for (uint32_t i = 0; i < table->count && !is_stopping(prepare); i++) {
        if (table->items[i]->prepare == NULL)
            continue;
        table->items[i]->prepare(&prepare->services, run_id);
        memory_give_back();
    }
}

/* False: the first was not answered, so that no more were asked. */
static bool ask_all(struct prepare *prepare, struct str run_id)
{
    struct arena *arena = arena_create();
    struct offers questions;
    struct shared shared;
    uint32_t at = 0;
    bool answered = true;

    route_ahead(prepare->services.routes, &questions);
    shared_open(&shared, &prepare->services, run_id, arena);
    for (; at < questions.count && shares(&questions.items[at]) && answered; at++) {
        int status = ask(&prepare->services, run_id, &questions.items[at], &shared);

        answered = at > 0 || status == 200;
        if (is_stopping(prepare))
            break;
    }
    shared_close(&shared);
    arena_destroy(arena);
    for (; answered && at < questions.count && !is_stopping(prepare); at++)
        (void)ask(&prepare->services, run_id, &questions.items[at], NULL);
    if (answered)
        make_rest(prepare, run_id);
    return answered;
}

static uint64_t as_it_is(const struct run_record *run, struct arena *arena)
{
    struct str text = str_format(arena, "%.*s\n%.*s\n%.*s", STR_ARG(run->id),
                                 STR_ARG(run->content_id), STR_ARG(run->name));

    return hash64((struct bytes){.at = (const uint8_t *)text.at, .count = text.count});
}

/* What could not be kept, since it is too large or shares its slot, would be made again at each
 * change of the catalog. */
static bool was_asked(const struct prepare *prepare, uint64_t run)
{
    for (uint32_t i = 0; i < prepare->asked_count && i < ASKED_MAX; i++) {
        if (prepare->asked[i] == run)
            return true;
    }
    return false;
}

static void look(struct prepare *prepare)
{
    struct arena *arena = arena_create();
    const struct run_query newest = {.limit = RUNS_MAX};
    struct run_record *runs;
    struct error ignored = {0};
    uint32_t count = 0;
    uint64_t all;

    if (catalog_runs(prepare->services.catalog, &newest, arena, &runs, &count, &all, &ignored) !=
        OK)
        count = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool is_large = runs[i].state == RUN_READY && stored_is_large(&runs[i]);
        uint64_t run = as_it_is(&runs[i], arena);

        if (is_large && !was_asked(prepare, run) && ask_all(prepare, runs[i].id))
            prepare->asked[prepare->asked_count++ % ASKED_MAX] = run;
    }
    arena_destroy(arena);
}

/* What trends stand on, of every run, once. */
static void measure_all(struct prepare *prepare)
{
    struct unmeasured walk = {0};

    while (!is_stopping(prepare) && measure_next(&prepare->services, &walk) > 0)
        ;
}

bool pace_is_due(struct pace *pace, uint64_t replies, bool is_making)
{
    bool quiet = replies == pace->replies && !is_making;
    bool due = quiet || pace->waited == LOOKS_IN_VAIN_MAX;

    pace->replies = replies;
    pace->waited = due ? 0 : pace->waited + 1;
    return due;
}

static uint64_t replies_of(const struct server *server)
{
    uint64_t all = 0;

    for (size_t i = 0; server != NULL && i < COUNT(server->replies); i++)
        all += atomic_load(&server->replies[i]);
    return all;
}

static void *run(void *data)
{
    struct prepare *prepare = data;

    while (pause_until_next(prepare)) {
        sql_process_end_idle();
        uint64_t generation = catalog_generation(prepare->services.catalog);

        if (generation == prepare->seen ||
            !pace_is_due(&prepare->pace, replies_of(prepare->server), stored_is_making()))
            continue;
        prepare->seen = generation;
        look(prepare);
        measure_all(prepare);
    }
    return NULL;
}

struct prepare *prepare_start(const struct services *services, const struct server *server)
{
    struct prepare *prepare = memory_resize(NULL, 1, sizeof *prepare);

    *prepare = (struct prepare){.services = *services, .server = server, .seen = UINT64_MAX};
    prepare->services.wait = NULL;
    pthread_mutex_init(&prepare->lock, NULL);
    pthread_cond_init(&prepare->changed, NULL);
    if (pthread_create(&prepare->thread, NULL, run, prepare) == 0)
        return prepare;
    pthread_cond_destroy(&prepare->changed);
    pthread_mutex_destroy(&prepare->lock);
    free(prepare);
    return NULL; /* what nobody prepares is made when it is asked for */
}

void prepare_stop(struct prepare *prepare)
{
    if (prepare == NULL)
        return;
    pthread_mutex_lock(&prepare->lock);
    prepare->stopping = true;
    pthread_cond_signal(&prepare->changed);
    pthread_mutex_unlock(&prepare->lock);
    pthread_join(prepare->thread, NULL);
    pthread_cond_destroy(&prepare->changed);
    pthread_mutex_destroy(&prepare->lock);
    free(prepare);
}

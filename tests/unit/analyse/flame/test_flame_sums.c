/* SPDX-License-Identifier: Apache-2.0 */
/* Trees add up: over made runs of several thousand seeds, whatever is asked.
 *
 *   root = own + children, everywhere         root = the table's total of the same question
 *   parts of a partition of time = the whole, for every way to group and every weight
 */
#include "unit/analyse/made_run.h"

#include "analyse/flame/flame.h"
#include "analyse/ops/top.h"

enum { SEEDS = 3000, PARTS_MAX = 5 };

static const char *const instructions[] = {"while.1", "jit(f)/layer_0/while",
                                           "dot.2",   "jit(f)/layer_0/mlp/dot",
                                           "dot.3",   "jit(f)/layer_1/mlp/dot",
                                           "add.4",   "jit(f)/layer_12",
                                           "copy.5",  "",
                                           NULL};

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Loops with ops inside, some cut into by the next, on one to three devices. */
static void make_run(struct made_run *run, uint32_t seed)
{
    uint32_t devices = 1 + next_random(&seed) % 3, executions = 1 + next_random(&seed) % 4;
    track_id python;

    run_begin(run);
    run_program(run, 7, "jit_f", 99, instructions);
    python = run_thread(run, "python");
    run_slice(run, python, 0, 50000, "step", KIND_HOST);
    run_slice(run, python, 1000, 1 + next_random(&seed) % 30000, "f", KIND_HOST);
    for (uint32_t device = 0; device < devices; device++) {
        track_id pool = run_thread(run, "pool");
        int64_t at_ps = next_random(&seed) % 5000;

        for (uint32_t i = 0; i < executions; i++) {
            int64_t loop_ps = 2000 + next_random(&seed) % 8000, inside_ps = at_ps;

            run_cpu_op(run, pool, at_ps, loop_ps, "while.1", 7, i, device, 0);
            for (uint32_t k = 0; k < next_random(&seed) % 4; k++) {
                int64_t dur_ps = next_random(&seed) % 2500;

                if (inside_ps + dur_ps > at_ps + loop_ps)
                    break;
                run_cpu_op(run, pool, inside_ps, dur_ps,
                           instructions[2 * (1 + next_random(&seed) % 4)], 7, i, device, 0);
                inside_ps += dur_ps + next_random(&seed) % 500;
            }
            at_ps += loop_ps + next_random(&seed) % 3000;
        }
    }
    run_finish(run);
}

static struct flame ask(const struct made_run *run, const char *by, const char *weight,
                        struct restriction restriction)
{
    struct flame flame_;
    struct error err = {0};
    struct flame_question question = {
        .by = str_of(by), .weight = str_of(weight), .node_limit = 20000};

    CHECK_OK(by, flame(&run->run, &restriction, &question, run->made.arena, &flame_, &err), &err);
    return flame_;
}

static bool adds_up(const struct flame *flame_)
{
    for (uint32_t i = 0; i < flame_->node_count; i++) {
        const struct flame_node *node = &flame_->nodes[i];
        int64_t total_ps = node->self_ps;

        for (uint32_t j = 0; j < node->child_count; j++)
            total_ps += flame_->nodes[node->first_child + j].total_ps;
        if (total_ps != node->total_ps || node->self_ps < 0)
            return false;
    }
    return true;
}

static int64_t by_key(const struct flame *flame_, uint64_t key)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < flame_->node_count; i++)
        sum += flame_->nodes[i].key == key ? flame_->nodes[i].self_ps : 0;
    return sum;
}

/* A moment behind another: often one at which an op begins. */
static int64_t later(const struct made_run *run, int64_t from_ps, uint32_t *seed)
{
    const struct attributed *entry =
        &run->attribution.entries[next_random(seed) % run->attribution.entry_count];

    return entry->start_ps > from_ps ? entry->start_ps : from_ps + next_random(seed) % 30000;
}

/* Every node of the whole is what the parts have of it. */
static bool parts_are_whole(const struct made_run *run, const char *by, const char *weight,
                            uint32_t *seed)
{
    struct flame whole = ask(run, by, weight, (struct restriction){0}), parts[PARTS_MAX];
    uint32_t count = 1 + next_random(seed) % PARTS_MAX;
    int64_t from_ps = -1;

    for (uint32_t i = 0; i < count; i++) {
        int64_t to_ps = i + 1 == count ? 1000000 : later(run, from_ps, seed);

        parts[i] =
            ask(run, by, weight,
                (struct restriction){.has_window = true, .start_ps = from_ps, .end_ps = to_ps});
        if (!adds_up(&parts[i]))
            return false;
        from_ps = to_ps;
    }
    for (uint32_t node = 0; node < whole.node_count; node++) {
        int64_t sum = 0;

        for (uint32_t i = 0; i < count; i++)
            sum += by_key(&parts[i], whole.nodes[node].key);
        if (sum != whole.nodes[node].self_ps)
            return false;
    }
    return adds_up(&whole);
}

static int64_t table_total(const struct made_run *run, bool self)
{
    struct table table;
    struct error err = {0};

    CHECK_OK("table",
             top(&run->run, &(struct restriction){0}, &(struct top_question){.by = STR("op")},
                 &(struct page){.limit = 10000}, run->made.arena, &table, &err),
             &err);
    return self ? table.total_self_ps : table.total_ps;
}

static void sums(void **state)
{
    (void)state;
    static const char *const bys[] = {"scope", "source", "module", "host", "track"};
    static const char *const weights[] = {"self", "time", "count"};
    uint32_t wrong = 0;

    for (uint32_t seed = 1; seed <= SEEDS && wrong == 0; seed++) {
        struct made_run run;
        uint32_t random = seed;
        const char *by = bys[seed % COUNT(bys)], *weight = weights[seed / 5 % COUNT(weights)];

        make_run(&run, seed * 2654435761u);
        if (!parts_are_whole(&run, by, weight, &random)) {
            check_failed(__FILE__, __LINE__, by, "weight %s, seed %u", weight, seed);
            wrong++;
        }
        CHECK_INT("the table's self time",
                  ask(&run, "scope", "self", (struct restriction){0}).nodes[0].total_ps,
                  table_total(&run, true));
        CHECK_INT("the table's time",
                  ask(&run, "module", "time", (struct restriction){0}).nodes[0].total_ps,
                  table_total(&run, false));
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The sentence that opens the page: figures only, nothing that is not known, largest first.
 *
 *   A step takes 54.1 ms (± 0.8 ms; 11 steps, 1 warm-up excluded). 61 % is compute, 22 % waits for
 *   input, 9.4 % is exposed communication. 12 of 412 ops account for 80 % of device time. MFU is
 *   41 % of the bf16 peak; while ops run they reach 62 % of their roofline.
 */
#include "analyse/findings/overview.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/human.h"

static const double share_min = 0.05;  /* what a sentence mentions */
static const double beside_min = 0.03; /* from here on it makes a step's time another one */
enum { SHARES_MAX = 3, NAME_BYTES_MAX = 56 };
enum { PROFILER_PARTS = 100 }; /* a hundredth of the capture is worth a word */
enum { FAR = 3 };              /* a step so many medians long says more than a spread does */

static const char *const kind_clauses[KIND_COUNT + 1] = {
    "is compute",      "is exposed communication",
    "is copying",      "is host work",
    "waits for input", "is compiling",
    "is other work",   "is idle"};

static double share_of(int64_t part_ps, int64_t whole_ps)
{
    return whole_ps > 0 ? (double)part_ps / (double)whole_ps : 0;
}

/* The kinds of five percent or more, at most three, largest first. */
static uint32_t large_kinds(const struct overview *overview, int ret[SHARES_MAX])
{
    uint32_t count = 0;

    for (int kind = 0; kind <= KIND_COUNT; kind++) {
        int64_t ps = overview->time.kinds_ps[kind];
        uint32_t at = count;

        if (share_of(ps, overview->time_total_ps) < share_min)
            continue;
        while (at > 0 && overview->time.kinds_ps[ret[at - 1]] < ps)
            at--;
        if (at == SHARES_MAX)
            continue;
        count += count < SHARES_MAX;
        for (uint32_t i = count - 1; i > at; i--)
            ret[i] = ret[i - 1];
        ret[at] = kind;
    }
    return count;
}

bool overview_is_unrecorded(const struct overview *overview)
{
    return overview->time.doing_ps[DOING_NOTHING] * 2 > overview->time.kinds_ps[KIND_IDLE];
}

/* Where the rest of the time has a reason of its own. One thread speaks for its host: where others
 * recorded meanwhile, only that one did not. Without devices what is not recorded is not idle. */
static void put_idle(struct text *out, const struct overview *overview)
{
    bool others = overview->other_threads > 0;

    if (overview->time.doing_ps[DOING_WAIT] * 2 > overview->time.kinds_ps[KIND_IDLE])
        text_puts(out, "is idle while the host waits");
    else if (!overview_is_unrecorded(overview))
        text_puts(out, kind_clauses[KIND_IDLE]);
    else if (overview->device_count > 0)
        text_putf(out, "is idle while the host%s recorded nothing", others ? "'s thread" : "");
    else
        text_putf(out, "has nothing recorded%s", others ? " on its thread" : "");
}

/* Which thread that is, and that it is not all. */
static void put_others(struct text *out, const struct overview *overview, struct arena *arena)
{
    struct str name = str_both_ends(arena, overview->thread, NAME_BYTES_MAX);

    if (overview->other_threads == 0)
        return;
    if (name.count > 0)
        text_putf(out, " That thread is %.*s;", STR_ARG(name));
    else
        text_puts(out, " One thread of each host is examined;");
    text_putf(out, " %s other thread%s recorded something in the same time.",
              human_count(overview->other_threads).text, overview->other_threads == 1 ? "" : "s");
}

static void put_shares(struct text *out, const struct overview *overview, struct arena *arena)
{
    bool unrecorded = false;
    int kinds[SHARES_MAX];
    uint32_t count = large_kinds(overview, kinds);
    double hidden = share_of(overview->time.hidden_ps, overview->time_total_ps);
    double wait = share_of(overview->time.wait_ps, overview->time_total_ps);

    for (uint32_t i = 0; i < count; i++) {
        double share = share_of(overview->time.kinds_ps[kinds[i]], overview->time_total_ps);

        text_putf(out, "%s%s ", i > 0 ? ", " : " ", human_share(share).text);
        if (kinds[i] == KIND_IDLE)
            put_idle(out, overview);
        else
            text_puts(out, kind_clauses[kinds[i]]);
        unrecorded |= kinds[i] == KIND_IDLE && overview_is_unrecorded(overview);
    }
    text_puts(out, count > 0 ? "." : "");
    if (unrecorded)
        put_others(out, overview, arena);
    if (hidden >= 0.01)
        text_putf(out, " Another %s of communication overlaps with other work.",
                  human_share(hidden).text);
    if (wait >= share_min)
        text_putf(out, " For %s of it devices only wait for copies or collectives.",
                  human_share(wait).text);
}

static void put_most(struct text *out, const struct overview *overview, struct arena *arena)
{
    const struct most_of_time *most = &overview->most;
    const char *of = str_equal(overview->ops->of, STR("device")) ? "device" : "host";
    bool kernels = str_equal(overview->ops->by, STR("kernel"));
    struct str first = str_both_ends(arena, most->first, NAME_BYTES_MAX);

    /* Names of a host's slices lie inside each other and are no work. */
    if (!most->known || most->count == most->of ||
        (!kernels && !str_equal(overview->ops->by, STR("op"))))
        return;

    const char *noun = kernels ? "kernels and copies" : "ops";

    if (most->count == 1)
        text_putf(out, " One of %s %s, %.*s, accounts for 80 %% of %s time.",
                  human_count(most->of).text, noun, STR_ARG(first), of);
    else
        text_putf(out, " %s of %s %s account for 80 %% of %s time.", human_count(most->count).text,
                  human_count(most->of).text, noun, of);
}

static void put_efficiency(struct text *out, const struct overview_efficiency *efficiency)
{
    if (!efficiency->has_mfu)
        return;
    text_putf(out, " MFU is %s%s of the %.*s peak", efficiency->is_least ? "at least " : "",
              human_share(efficiency->mfu).text, STR_ARG(efficiency->peak));
    if (efficiency->has_roof_share)
        text_putf(out, "; while ops run they reach %s of their roofline",
                  human_share(efficiency->roof_share).text);
    text_puts(out, ".");
}

/* "11 steps", "11 inferred steps": how sure that is. */
static void put_counted(struct text *out, const struct overview *overview, const char *figure)
{
    const char *sure = overview->confidence == TRUST_HIGH     ? ""
                       : overview->confidence == TRUST_MEDIUM ? "inferred "
                                                              : "guessed ";
    uint32_t excluded = overview->step_count - overview->counted;
    bool on_each = overview->step_hosts > 1 && overview->even_hosts;
    uint32_t count = on_each ? overview->counted / overview->step_hosts : overview->counted;

    text_putf(out, "%s%s%s %sstep%s", figure != NULL ? figure : "", figure != NULL ? " of " : "",
              human_count(count).text, sure, count == 1 ? "" : "s");
    if (overview->step_hosts > 1)
        text_putf(out, " %s %s hosts", on_each ? "on each of" : "of",
                  human_count(overview->step_hosts).text);
    uint32_t warm = excluded > 0 ? excluded - overview->cut_count : 0;

    if (warm > 0)
        text_putf(out, ", %s warm-up%s", human_count(warm).text, warm == 1 ? "" : "s");
    if (excluded > warm)
        text_putf(out, "%s%s cut off by the end of the recording", warm > 0 ? " and " : ", ",
                  human_count(excluded - warm).text);
    text_puts(out, excluded > 0 ? " excluded" : "");
}

/* "10.0 ms" and "10 ms" are one figure. */
static bool reads_alike(int64_t a_ps, int64_t b_ps)
{
    struct human a = human_ps(a_ps), b = human_ps(b_ps);
    char *a_rest, *b_rest;

    return strtod(a.text, &a_rest) == strtod(b.text, &b_rest) &&
           str_equal(str_of(a_rest), str_of(b_rest));
}

/* "2nd", "11th", "23rd" */
static void put_ordinal(struct text *out, uint32_t number)
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};
    bool teen = number / 10 % 10 == 1;

    text_putf(out, "%" PRIu32 "%s", number,
              endings[teen || number % 10 >= COUNT(endings) ? 0 : number % 10]);
}

/* What the loop calls now and then between steps, and how much of it could not be told apart. */
static void put_apart(struct text *out, const struct overview *overview, struct arena *arena)
{
    struct str name = str_both_ends(arena, overview->apart, NAME_BYTES_MAX);

    if (overview->apart_count > 0 && overview->apart_every > 0) {
        text_puts(out, " After every ");
        put_ordinal(out, overview->apart_every);
        text_puts(out, " step");
    } else if (overview->apart_count > 0) {
        text_putf(out, " After %s of them", human_count(overview->apart_count).text);
    }
    if (overview->apart_count > 0)
        text_putf(out, " %.*s takes %s, which is not counted.", STR_ARG(name),
                  human_ps(overview->apart_ps).text);
    if (share_of(overview->beside_ps, overview->mean_ps) >= beside_min)
        text_putf(out, " The mean contains %s of %.*s, which no step called.",
                  human_ps(overview->beside_ps).text,
                  STR_ARG(str_both_ends(arena, overview->beside, NAME_BYTES_MAX)));
}

/* What repeats from work to work has a mean that the first and the last moment give, whatever
 * single steps do to each other; spans stand for themselves. A mean is called so where tables and
 * bars, which have the median, read otherwise. */
static void put_step(struct text *out, const struct overview *overview, struct arena *arena)
{
    bool from_work = overview->time_rule == STEP_TIME_WORK;
    bool far = overview->counted > 1 && overview->max_ps / FAR > overview->median_ps;
    bool is_mean = from_work && overview->counted > 1 &&
                   (far || !reads_alike(overview->mean_ps, overview->median_ps));
    int64_t step_ps = from_work ? overview->mean_ps : overview->median_ps;

    text_putf(out, "A step takes %s (", human_ps(step_ps).text);
    if (overview->counted > 1 && !far && overview->stdev_ps > 0)
        text_putf(out, "± %s; ", human_ps(overview->stdev_ps).text);
    put_counted(out, overview, is_mean ? "mean" : far ? "median" : NULL);
    if (is_mean)
        text_putf(out, "; median %s", human_ps(overview->median_ps).text);
    if (far)
        text_putf(out, "; the longest %s", human_ps(overview->max_ps).text);
    text_puts(out, ")");
    if (from_work && overview->ahead_max > 0)
        text_putf(out, " on its device; the host is up to %s step%s ahead",
                  human_count(overview->ahead_max).text, overview->ahead_max == 1 ? "" : "s");
    text_puts(out, ".");
    put_apart(out, overview, arena);
    if (far && overview->time_total_ps > 0)
        text_putf(out, " Of the time of all %s steps%s", human_count(overview->counted).text,
                  overview->step_hosts > 1 ? " of all hosts" : "");
}

/* A snapshot of memory alone has no time: what it holds, and who owns that. */
static void put_snapshot(struct text *out, const struct overview *overview, struct arena *arena)
{
    const struct snapshot_table *snapshot = &overview->snapshot;

    text_putf(out, "No timeline: this is a memory snapshot, %.*s, which holds %s",
              STR_ARG(str_utf8(arena, snapshot->snapshot->name)),
              human_bytes((uint64_t)snapshot->total).text);
    for (uint32_t i = 0; i < overview->owner_count; i++)
        text_putf(out, "%s%s of %.*s", i == 0 ? ": " : ", ",
                  human_bytes((uint64_t)overview->owners[i].bytes).text,
                  STR_ARG(str_both_ends(arena, overview->owners[i].name, NAME_BYTES_MAX)));
    text_puts(out, ".");
}

static void put_capture(struct text *out, const struct overview *overview, struct arena *arena)
{
    double busy = 0;

    if (overview->duration_ps <= 0 && overview->has_snapshot) {
        put_snapshot(out, overview, arena);
        return;
    }
    if (overview->duration_ps <= 0) {
        text_puts(out, "No steps were found: the profile holds no event that takes time.");
        return;
    }
    if (overview->doubt.count > 0)
        text_putf(out, "No step time is stated: %.*s. The capture lasts %s",
                  STR_ARG(overview->doubt), human_ps(overview->duration_ps).text);
    else
        text_putf(out, "No steps were found. The capture lasts %s",
                  human_ps(overview->duration_ps).text);

    bool apart = overview->time_total_ps > 0 &&
                 overview->profiler_ps > overview->duration_ps / PROFILER_PARTS;
    int64_t rest_ps = overview->duration_ps - (apart ? overview->profiler_ps : 0);

    if (apart)
        text_putf(out, ", of which the profiler's own start and stop take %s",
                  human_ps(overview->profiler_ps).text);
    for (uint32_t i = 0; i < overview->device_count; i++)
        busy += share_of(overview->devices[i].busy_ps, rest_ps) / overview->device_count;
    if (overview->device_count > 0)
        text_putf(out, "; %s busy %s of %s",
                  overview->device_count == 1 ? "the device is" : "devices are",
                  human_share(busy).text, apart ? "the rest" : "it");
    text_puts(out, apart ? ". Of the rest" : ".");
}

struct str overview_sentence(const struct overview *overview, struct arena *arena)
{
    struct text out = {0};

    if (overview->counted > 0)
        put_step(&out, overview, arena);
    else
        put_capture(&out, overview, arena);
    put_shares(&out, overview, arena);
    put_most(&out, overview, arena);
    put_efficiency(&out, &overview->efficiency);

    struct str ret = str_copy(arena, text_str(&out));

    text_free(&out);
    return ret;
}

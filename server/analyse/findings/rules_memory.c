/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about memory while the program ran: what the allocators' own events prove. */
#include "analyse/findings/findings.h"
#include "analyse/memory/memory_allocators.h"
#include "base/bisect.h"
#include "base/human.h"

#define NO_TIME STR("it saves memory; what more memory would save in time is not in the file")

static enum status make_allocators(struct memo *memo, const void **ret, struct error *err)
{
    struct allocators *all = arena_new(memo->arena, struct allocators);

    TRY(memory_allocators(memo->run, memo->restriction, memo->arena, all, err));
    *ret = all;
    return OK;
}

static enum status memo_allocators(struct memo *memo, const struct allocators **ret,
                                   struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_allocators, &made, err));
    *ret = made;
    return OK;
}

static struct evidence *prove_bytes(struct finding *finding, const char *name, int64_t bytes,
                                    const struct allocator *allocator)
{
    struct evidence *proof = finding_prove(
        finding, name, (struct cell){.kind = CELL_INTEGER, .of.integer = bytes}, UNIT_BYTES);

    proof->host = allocator->selection->index;
    proof->view = "memory";
    return proof;
}

/* The moment of the peak, as a place on the timeline. */
static void prove_peak(struct finding *finding, const struct allocator *allocator)
{
    int64_t at_ps = allocator->peak_at_ps + allocator->selection->host->offset_ps;
    struct evidence *proof = prove_bytes(finding, "peak", allocator->peak_bytes, allocator);

    evidence_at(proof, allocator->selection->index, at_ps, at_ps + 1);
    proof->slice = allocator_event(allocator, allocator->peak)->slice;
}

static struct human bytes_text(int64_t bytes)
{
    return human_bytes(bytes > 0 ? (uint64_t)bytes : 0);
}

enum { NEAR_PERCENT = 90, FULL_PERCENT = 97, LIMIT_BYTES_MIN = 64 << 20 };

static enum status find_near_limit(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct allocators *all;

    TRY(memo_allocators(memo, &all, err));
    for (uint32_t i = 0; i < all->count; i++) {
        const struct allocator *allocator = &all->items[i];
        struct memory_allocator told = allocator_told(allocator);

        if (told.capacity_bytes < LIMIT_BYTES_MIN ||
            told.peak_bytes / NEAR_PERCENT < told.capacity_bytes / 100)
            continue;

        bool is_full = told.peak_bytes / FULL_PERCENT >= told.capacity_bytes / 100;
        struct finding finding = {
            .severity = is_full ? SEVERITY_CRITICAL : SEVERITY_WARNING,
            .confidence = CONFIDENCE_HIGH,
            .text = text_on_host(
                memo, allocator->selection->index, "%.*s reached %s of %s, %s of its limit.",
                STR_ARG(told.name), bytes_text(told.peak_bytes).text,
                bytes_text(told.capacity_bytes).text,
                human_share((double)told.peak_bytes / (double)told.capacity_bytes).text),
            .remedy =
                STR("Look at who is alive at the peak; {jax:donate inputs with `donate_argnums`, "
                    "recompute with `jax.checkpoint`, }{torch:recompute with "
                    "`torch.utils.checkpoint`, }lower the batch, or shard further."),
            .win_reason = NO_TIME,
        };

        prove_peak(&finding, allocator);
        prove_bytes(&finding, "limit", told.capacity_bytes, allocator);
        findings_add(list, &finding);
    }
    return OK;
}

enum { FRAGMENTED_PERCENT = 30, FRAGMENTED_USE_PERCENT = 50, POOL_BYTES_MIN = 1 << 30 };

/* A hole between allocations hurts where little else is left; a pool that holds much more than it
 * gave out takes it from everybody else. */
static enum status find_fragmentation(struct memo *memo, struct finding_list *list,
                                      struct error *err)
{
    const struct allocators *all;

    TRY(memo_allocators(memo, &all, err));
    for (uint32_t i = 0; i < all->count; i++) {
        const struct allocator *allocator = &all->items[i];
        struct memory_allocator told = allocator_told(allocator);
        bool is_pool = told.pool_bytes >= POOL_BYTES_MIN;
        bool is_tight = told.capacity_bytes > 0 &&
                        told.peak_bytes / FRAGMENTED_USE_PERCENT >= told.capacity_bytes / 100;

        if (told.fragmentation * 100 < FRAGMENTED_PERCENT || (!is_pool && !is_tight))
            continue;

        struct finding finding = {
            .severity = is_tight ? SEVERITY_WARNING : SEVERITY_INFO,
            .confidence = is_pool ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
            .text = text_on_host(memo, allocator->selection->index,
                                 is_pool ? "At the peak of %.*s (%s), %s of its pool were held but "
                                           "not allocated."
                                         : "At the peak of %.*s (%s), fragmentation was %s.",
                                 STR_ARG(told.name), bytes_text(told.peak_bytes).text,
                                 human_share(told.fragmentation).text),
            .remedy = STR("Keep shapes constant from step to step; allocate long-lived arrays "
                          "first{torch:; set `expandable_segments:True`}."),
            .win_reason = NO_TIME,
        };

        prove_peak(&finding, allocator);
        finding_prove(&finding, "fragmentation",
                      (struct cell){.kind = CELL_REAL, .of.real = told.fragmentation}, UNIT_SHARE)
            ->view = "memory";
        if (is_pool)
            prove_bytes(&finding, "held by the pool", told.pool_bytes, allocator);
        findings_add(list, &finding);
    }
    return OK;
}

/* What is allocated after all events up to then (file time). */
static int64_t level_at(const struct allocator *allocator, int64_t at_ps)
{
    uint32_t low = BISECT(0, allocator->count, i, allocator_event(allocator, i)->at_ps <= at_ps);

    return low == 0 ? allocator->before_bytes : allocator->allocated[low - 1];
}

struct growth {
    uint32_t steps, grew;
    int64_t first_bytes, last_bytes, start_ps, end_ps;
};

/* The level at the end of each counted step of the allocator's host. */
static struct growth growth_of(const struct allocator *allocator, const struct steps *steps)
{
    int64_t offset_ps = allocator->selection->host->offset_ps, before = 0;
    struct growth ret = {0};

    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];

        if (step->host != allocator->selection->index || !counted_step(steps, step))
            continue;

        int64_t end_ps = step->start_ps + step->dur_ps;
        int64_t level = level_at(allocator, end_ps - offset_ps);

        if (ret.steps == 0 || level < before) /* what falls back begins anew */
            ret = (struct growth){.first_bytes = level, .start_ps = step->start_ps};
        else
            ret.grew += level > before;
        ret.steps++;
        before = ret.last_bytes = level;
        ret.end_ps = end_ps;
    }
    return ret;
}

enum { GROWTH_STEPS_MIN = 5, GROWTH_BYTES_MIN = 1 << 20, GROWTH_PERCENT_MIN = 2 };

static enum status find_growth(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct allocators *all;
    const struct steps *steps;

    TRY(memo_allocators(memo, &all, err));
    TRY(memo_steps(memo, &steps, err));
    for (uint32_t i = 0; i < all->count; i++) {
        const struct allocator *allocator = &all->items[i];
        struct growth growth = growth_of(allocator, steps);
        int64_t bytes = growth.last_bytes - growth.first_bytes;

        /* Never less, and more in most steps: what falls back is no growth. */
        if (growth.steps < GROWTH_STEPS_MIN || growth.grew * 4 < (growth.steps - 1) * 3 ||
            bytes < GROWTH_BYTES_MIN || bytes / GROWTH_PERCENT_MIN < allocator->peak_bytes / 100)
            continue;

        struct finding finding = {
            .severity = SEVERITY_WARNING,
            .confidence = CONFIDENCE_MEDIUM,
            .text = text_on_host(memo, allocator->selection->index,
                                 "%.*s held %s more after %u steps than after the first, %s per "
                                 "step, and never shrank.",
                                 STR_ARG(allocator->name), bytes_text(bytes).text, growth.steps,
                                 bytes_text(bytes / (growth.steps - 1)).text),
            .remedy =
                STR("Look for arrays kept over steps: metrics in a list, closures, caches{jax:; "
                    "convert to Python numbers with `float(...)` or `jax.device_get`}{torch:; keep "
                    "numbers (`.item()`), detach what is kept}."),
            .win_reason = NO_TIME,
        };

        evidence_at(prove_bytes(&finding, "growth", bytes, allocator), allocator->selection->index,
                    growth.start_ps, growth.end_ps);
        finding_prove_count(&finding, "steps", growth.steps)->view = "steps";
        findings_add(list, &finding);
    }
    return OK;
}

enum { LARGE_PERCENT = 40, PREALLOCATED_PERCENT = 70, LARGE_BYTES_MIN = 16 << 20 };

/* The largest single allocation alive at the peak. */
static bool largest_at_peak(struct memo *memo, const struct allocator *allocator,
                            struct memory_owner *ret)
{
    struct alives alives;

    memory_replay(allocator, allocator->peak + 1, memo->arena, &alives);

    struct memory_owner *owners = memory_owners(allocator, &alives, memo->arena);

    if (memory_join(owners, alives.count, 0) == 0)
        return false;
    *ret = owners[0];
    return true;
}

static enum status find_large(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct allocators *all;
    struct memory_owner owner;

    TRY(memo_allocators(memo, &all, err));
    for (uint32_t i = 0; i < all->count; i++) {
        const struct allocator *allocator = &all->items[i];

        if (allocator->is_summed || allocator->peak_bytes < LARGE_BYTES_MIN ||
            !largest_at_peak(memo, allocator, &owner) || owner.op.count == 0 ||
            owner.bytes / LARGE_PERCENT < allocator->peak_bytes / 100)
            continue;

        struct finding finding = {
            .severity = SEVERITY_INFO,
            .confidence = CONFIDENCE_HIGH,
            .text =
                text_on_host(memo, allocator->selection->index,
                             "One allocation is %s of the peak of %.*s (%s): %s of %.*s%s%.*s%s.",
                             human_share((double)owner.bytes / (double)allocator->peak_bytes).text,
                             STR_ARG(allocator->name), bytes_text(allocator->peak_bytes).text,
                             bytes_text(owner.bytes).text, STR_ARG(owner.op),
                             owner.category.count > 0 ? " (" : "", STR_ARG(owner.category),
                             owner.category.count > 0 ? ")" : ""),
            .remedy = STR("If memory is short, start here: a smaller workspace, a smaller tile or "
                          "batch for this op, or a lower precision."),
            .win_reason = NO_TIME,
        };

        prove_peak(&finding, allocator);
        prove_bytes(&finding, "allocation", owner.bytes, allocator)->slice = owner.slice;
        findings_add(list, &finding);
    }
    return OK;
}

/* The driver's calls show one block where the framework divides it among its arrays itself. */
static enum status find_preallocation(struct memo *memo, struct finding_list *list,
                                      struct error *err)
{
    const struct allocators *all;
    struct memory_owner owner;

    TRY(memo_allocators(memo, &all, err));
    for (uint32_t i = 0; i < all->count; i++) {
        const struct allocator *allocator = &all->items[i];

        if (!allocator->is_summed || allocator->is_pool || allocator->peak_bytes < POOL_BYTES_MIN ||
            !largest_at_peak(memo, allocator, &owner) ||
            owner.bytes / PREALLOCATED_PERCENT < allocator->peak_bytes / 100)
            continue;

        struct finding finding = {
            .severity = SEVERITY_INFO,
            .confidence = CONFIDENCE_MEDIUM,
            .text =
                text_on_host(memo, allocator->selection->index,
                             "One block of %s is %s of all memory that the driver allocated: the "
                             "framework reserves it in advance and divides it itself, so this line "
                             "is flat and does not show what the program needs.",
                             bytes_text(owner.bytes).text,
                             human_share((double)owner.bytes / (double)allocator->peak_bytes).text),
            .remedy = STR(
                "{jax:For the program's own need save a snapshot with "
                "`jax.profiler.save_device_memory_profile`, or record once with "
                "`XLA_PYTHON_CLIENT_PREALLOCATE=false`.}{torch:For the program's own need record "
                "with `profile_memory=True`.}{!jax+!torch:What the program itself needs its own "
                "allocator knows.}"),
            .win_reason = NO_TIME,
        };

        prove_bytes(&finding, "block", owner.bytes, allocator)->slice = owner.slice;
        findings_add(list, &finding);
    }
    return OK;
}

const struct rule rules_memory[] = {
    {.name = "memory-near-limit",
     .theme = "memory",
     .when = "an allocator's peak is 90 % of its limit or more",
     .find = find_near_limit},
    {.name = "memory-fragmentation",
     .theme = "memory",
     .when =
         "30 % or more of the memory held at the peak is holes, in a pool or where memory is short",
     .find = find_fragmentation},
    {.name = "memory-growth",
     .theme = "memory",
     .when = "the memory in use after each step never falls, and mostly rises",
     .find = find_growth},
    {.name = "memory-large-allocation",
     .theme = "memory",
     .when = "one allocation is 40 % of the peak or more",
     .find = find_large},
    {.name = "memory-preallocated",
     .theme = "memory",
     .when = "one block is 70 % or more of the memory that the driver allocated",
     .find = find_preallocation},
    {.name = NULL},
};

/* SPDX-License-Identifier: Apache-2.0 */
/* The sums before and after a change, and the options they make. */
#include "analyse/memory/heap_fit.h"

#include "analyse/memory/heap_fit_parts.h"
#include "base/human.h"

static int64_t add_bytes(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* The most that is alive at once of what is no parameter, and all parameters. */
static int64_t need_of(const struct fit_work *work, const struct fit_value *values,
                       uint32_t *ret_peak)
{
    int64_t *changes = arena_array(work->arena, int64_t, work->order.count + 2u);
    int64_t parameters = 0, level = 0, most = 0;

    *ret_peak = 0;

    for (uint32_t i = 0; i < work->value_count; i++) {
        const struct fit_value *value = &values[i];

        if (value->is_parameter) {
            parameters = add_bytes(parameters, value->bytes);
            continue;
        }
        changes[value->first] = add_bytes(changes[value->first], value->bytes);
        changes[value->last + 1] = add_bytes(changes[value->last + 1], -value->bytes);
    }
    for (uint32_t position = 0; position < work->order.count; position++) {
        level = add_bytes(level, changes[position]);
        if (level > most) {
            most = level;
            *ret_peak = position;
        }
    }
    return add_bytes(parameters, most);
}

static void sum_allocations(const struct hlo_module *module, struct fit *ret)
{
    for (uint32_t i = 0; i < module->allocation_count; i++) {
        const struct hlo_allocation *one = &module->allocations[i];
        int64_t bytes =
            one->size_bytes > (UINT64_C(1) << 50) ? INT64_C(1) << 50 : (int64_t)one->size_bytes;

        if (one->is_thread_local || one->color != 0 || one->is_constant)
            continue;
        ret->total = add_bytes(ret->total, bytes);
        if (one->is_parameter) {
            ret->arguments = add_bytes(ret->arguments, bytes);
            ret->donated = add_bytes(ret->donated, one->is_live_out ? bytes : 0);
        } else if (one->is_live_out) {
            ret->outputs = add_bytes(ret->outputs, bytes);
        } else {
            ret->temporaries = add_bytes(ret->temporaries, bytes);
        }
    }
}

static struct fit_option *add_option(struct fit *fit, const char *what, struct str text)
{
    struct fit_option *option = &fit->options[fit->option_count++];

    *option = (struct fit_option){.what = what, .text = text, .bytes = -1};
    return option;
}

static struct fit_value *copy_of(const struct fit_work *work)
{
    struct fit_value *copy = arena_array(work->arena, struct fit_value, work->value_count + 1u);

    memcpy(copy, work->values, work->value_count * sizeof *copy);
    return copy;
}

/* With what no sum explains now: gaps between buffers. Those lie in outputs' allocations, so where
 * outputs are donated they go. */
static void say_need(const struct fit_work *work, const struct fit *fit,
                     const struct fit_value *changed, bool with_gaps, struct fit_option *option)
{
    uint32_t peak;
    int64_t bytes = need_of(work, changed, &peak);

    if (with_gaps)
        bytes = add_bytes(bytes, add_bytes(fit->total, -need_of(work, work->values, &peak)));
    option->bytes = bytes > 0 ? bytes : 0;
    option->reason = STR("");
}

static void option_donate(const struct fit_work *work, struct fit *fit)
{
    struct fit_option *option = add_option(
        fit, "donate",
        STR("Donate the arguments that have the shape of an output, with donate_argnums."));
    struct fit_value *changed = copy_of(work);
    uint32_t count;

    if (fit_donate(work, changed, &count, &option->reason))
        say_need(work, fit, changed, false, option);
}

static void option_half(const struct fit_work *work, const struct fit_question *question,
                        struct fit *fit)
{
    struct fit_option *option = add_option(
        fit, "half-batch",
        question->batch > 1 ? str_format(work->arena, "Halve the batch, from %llu to %llu.",
                                         (unsigned long long)question->batch,
                                         (unsigned long long)(question->batch / 2))
                            : STR("Halve the batch."));
    struct fit_value *changed = copy_of(work);

    if (fit_half(work, changed, question->batch, &option->reason))
        say_need(work, fit, changed, true, option);
}

/* Measured on CPU: programs with jax.checkpoint around each layer needed more than before in three
 * of four, because the compiler computed again long before the backward pass asked. */
static void option_remat(const struct fit_work *work, const struct fit_question *question,
                         struct fit *fit)
{
    struct fit_option *option = add_option(
        fit, "remat", STR("Recompute scopes for their backward pass, with jax.checkpoint."));
    uint32_t peak;
    int64_t waiting;

    option->reason = STR("remat= names no scope yet");
    if (question->remat.count == 0)
        return;
    (void)need_of(work, work->values, &peak);
    waiting = fit_waiting(work, question->remat, peak);
    option->reason =
        waiting == 0
            ? STR("at the peak no value of such scopes is kept for their backward pass")
            : str_format(work->arena,
                         "at the peak %s of scopes that begin with \"%.*s\" are kept for their "
                         "backward pass. This is the most that could be saved; the compiler's "
                         "schedule decides how much is saved, and it may need more than before",
                         human_bytes((uint64_t)waiting).text, STR_ARG(question->remat));
}

/* The compiler may widen what it computes with again, so temporaries cannot be told. */
static void option_type(const struct fit_work *work, struct fit *fit)
{
    int64_t saved = 0;

    for (uint32_t i = 0; i < work->value_count; i++) {
        struct hlo_sizes sizes;

        if (!work->values[i].is_parameter)
            continue;
        hlo_sizes_read(work->module->form, work->values[i].shape, &sizes);
        if (sizes.type == HLO_F32)
            saved = add_bytes(saved, work->values[i].bytes / 2);
    }
    add_option(fit, "bf16-arguments", STR("Keep the arguments that are float32 as bfloat16."))
        ->reason = str_format(
        work->arena,
        "the arguments would need %s less; the compiler decides whether temporaries need less or "
        "more: it keeps float32 copies if the device has no bfloat16 arithmetic",
        human_bytes((uint64_t)saved).text);
}

enum status fit_of(const struct hlo_module *module, const struct fit_question *question,
                   struct arena *arena, struct fit *ret, struct error *err)
{
    struct fit_work work = {.module = module, .arena = arena};

    *ret = (struct fit){0};
    if (!module->has_buffers)
        return fail(
            err, ERR_NOT_FOUND,
            "the module has no buffer assignment: the file holds it uncompiled, or as text");
    sum_allocations(module, ret);
    fit_values(&work);
    option_donate(&work, ret);
    option_half(&work, question, ret);
    option_remat(&work, question, ret);
    option_type(&work, ret);
    return OK;
}

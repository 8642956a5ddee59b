/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what the names of changes mean in a run, and where they mean nothing, what is nearest. */
#include "analyse/critical/edits.h"
#include "analyse/hlo/scope.h"
#include "base/distance.h"
#include "trace/names/by_name.h"

static bool fits_element(struct str element, struct str asked)
{
    return str_equal(element, asked) || str_equal(scope_core(element), asked);
}

/* Do the asked elements stand in the scope, one after another? */
static bool holds_scope(struct str scope, struct str asked)
{
    struct str element, wanted;

    for (struct str from = scope; from.count > 0; (void)scope_next(&from, &element)) {
        struct str rest = from, left = asked;
        bool fits = true;

        while (fits && scope_next(&left, &wanted))
            fits = scope_next(&rest, &element) && fits_element(element, wanted);
        if (fits)
            return true;
    }
    return false;
}

static bool fits_op(const struct trace *trace, const struct op *op, const struct edit *edit)
{
    if (edit->of == EDIT_OP)
        return str_equal(trace_name(trace, op->name), edit->name) ||
               str_equal(trace_name(trace, op_called(op)), edit->name);
    return holds_scope(scope_of_op(trace, op), edit->name);
}

static void find_on_host(const struct host_trace *host, struct edit *edit, double *ops,
                         double *names)
{
    const struct attribution *of = host->attribution;
    name_id name;

    for (uint32_t i = 0; of != NULL && i < of->op_count; i++) {
        if (fits_op(host->trace, &of->ops[i], edit)) {
            ops[i] *= edit->factor;
            edit->op_count++;
        }
    }
    if (trace_find_name(host->trace, edit->name, &name) &&
        trace_stats_of(host->trace, name) != NULL) {
        names[name] *= edit->factor;
        edit->op_count++;
    }
}

enum { NEAREST_MAX = 3 };

struct nearest {
    struct str names[NEAREST_MAX];
    unsigned distances[NEAREST_MAX];
    uint32_t count;
};

static void look_at(struct nearest *nearest, struct str asked, struct str name)
{
    unsigned distance;
    uint32_t at;

    if (name.count == 0)
        return;
    for (uint32_t i = 0; i < nearest->count; i++) {
        if (str_equal(nearest->names[i], name))
            return;
    }
    distance = edit_distance(asked, name);
    for (at = nearest->count; at > 0 && nearest->distances[at - 1] > distance; at--) {
        if (at < NEAREST_MAX) {
            nearest->names[at] = nearest->names[at - 1];
            nearest->distances[at] = nearest->distances[at - 1];
        }
    }
    if (at == NEAREST_MAX)
        return;
    nearest->names[at] = name;
    nearest->distances[at] = distance;
    nearest->count += nearest->count < NEAREST_MAX;
}

/* As many elements of scopes as are asked for, without what JAX wraps around them. */
static void look_at_scope(struct nearest *nearest, struct str asked, struct str scope)
{
    struct str element;

    if (memchr(asked.at, '/', asked.count) != NULL)
        look_at(nearest, asked, scope);
    while (scope_next(&scope, &element))
        look_at(nearest, asked, scope_core(element));
}

static struct str nearest_of(const struct run_traces *run, const struct edit *edit,
                             struct arena *arena)
{
    struct nearest nearest = {0};
    struct text text = {0};

    for (uint32_t i = 0; i < run->host_count; i++) {
        const struct host_trace *host = &run->hosts[i];
        uint32_t count = host->attribution == NULL ? 0 : host->attribution->op_count;

        for (uint32_t k = 0; k < count; k++) {
            const struct op *op = &host->attribution->ops[k];

            if (edit->of == EDIT_OP)
                look_at(&nearest, edit->name, trace_name(host->trace, op_called(op)));
            else
                look_at_scope(&nearest, edit->name, scope_of_op(host->trace, op));
        }
    }
    for (uint32_t i = 0; i < nearest.count; i++)
        text_putf(&text, "%s\"%.*s\"", i > 0 ? ", " : "", STR_ARG(nearest.names[i]));

    struct str ret = str_copy(arena, text_str(&text));

    text_free(&text);
    return ret;
}

static enum status find_kind(struct edit *edit, struct edits *edits, struct error *err)
{
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        if (!str_equal(edit->name, str_of(kind_word((enum kind)kind))))
            continue;
        edits->kinds[kind] *= edit->factor;
        edit->op_count = 1;
        return OK;
    }
    return fail(err, ERR_INVALID,
                "there is no kind \"%.*s\": it is compute, communication, copy, host, input, "
                "compile or other",
                STR_ARG(edit->name));
}

static double *ones(struct arena *arena, size_t count)
{
    double *ret = arena_array(arena, double, count + 1);

    for (size_t i = 0; i <= count; i++)
        ret[i] = 1;
    return ret;
}

static void make_factors(const struct run_traces *run, struct arena *arena, struct edits *edits)
{
    edits->ops = arena_array(arena, double *, (size_t)run->host_count + 1);
    edits->names = arena_array(arena, double *, (size_t)run->host_count + 1);
    for (uint32_t i = 0; i < run->host_count; i++) {
        const struct host_trace *host = &run->hosts[i];

        edits->ops[i] = ones(arena, host->attribution == NULL ? 0 : host->attribution->op_count);
        edits->names[i] =
            ones(arena, (size_t)host->trace->name_count + host->trace->lent_name_count);
    }
}

enum status edits_find(const struct run_traces *run, struct arena *arena, struct edits *edits,
                       struct error *err)
{
    for (int kind = 0; kind < KIND_COUNT; kind++)
        edits->kinds[kind] = 1;
    make_factors(run, arena, edits);
    for (uint32_t i = 0; i < edits->count; i++) {
        struct edit *edit = &edits->items[i];

        if (edit->of == EDIT_KIND) {
            TRY(find_kind(edit, edits, err));
            continue;
        }
        for (uint32_t k = 0; k < run->host_count; k++)
            find_on_host(&run->hosts[k], edit, edits->ops[k], edits->names[k]);
        if (edit->op_count > 0)
            continue;

        struct str nearest = nearest_of(run, edit, arena);

        return fail(err, ERR_NOT_FOUND, "nothing in the run is called \"%.*s\"%s%.*s",
                    STR_ARG(edit->name), nearest.count > 0 ? "; the nearest are " : "",
                    STR_ARG(nearest));
    }
    return OK;
}

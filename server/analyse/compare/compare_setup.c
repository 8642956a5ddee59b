/* SPDX-License-Identifier: Apache-2.0 */
/* What runs were made with, where they differ: the properties that their files record. */
#include "analyse/compare/compare_parts.h"
#include "analyse/table.h"

enum { VALUE_BYTES_MAX = 2000 };

static struct str value_text(const struct trace *trace, const struct arg *arg, struct arena *arena)
{
    double real;

    switch (arg->type) {
    case ARG_INT64:
        return str_format(arena, "%lld", (long long)arg->bits);
    case ARG_UINT64:
    case ARG_DIGITS:
        return str_format(arena, "%llu", (unsigned long long)arg->bits);
    case ARG_DOUBLE:
        memcpy(&real, &arg->bits, sizeof real);
        return str_format(arena, "%.17g", real);
    case ARG_BOOL:
        return arg->bits != 0 ? STR("true") : STR("false");
    case ARG_STRING:
    case ARG_JSON: {
        struct str text = trace_name(trace, (name_id)arg->bits);

        text.count = text.count > VALUE_BYTES_MAX ? VALUE_BYTES_MAX : text.count;
        return text;
    }
    case ARG_BYTES:
        return str_format(arena, "(%zu bytes)", trace_name(trace, (name_id)arg->bits).count);
    case ARG_NONE:
    case ARG_NULL:
        break;
    }
    return STR("");
}

/* Sessions and times differ always and mean nothing here. */
static bool is_of_the_moment(struct str key)
{
    static const char *const parts[] = {"timestamp", "_time", "uuid",       "session",
                                        "_ns",       "pid",   "process_id", "host_id"};

    for (size_t i = 0; i < COUNT(parts); i++) {
        if (str_contains(key, str_of(parts[i])))
            return true;
    }
    return false;
}

/* The first value that the run records under the key, on the file or a device. */
static bool find_value(const struct run_traces *run, struct str key, struct arena *arena,
                       struct str *ret)
{
    for (uint32_t i = 0; i < run->host_count; i++) {
        const struct trace *trace = run->hosts[i].trace;

        for (uint32_t k = 0; k < trace->property_count; k++) {
            const struct arg *arg = &trace->properties[k].arg;

            if (!str_equal(trace_name(trace, arg->key), key))
                continue;
            *ret = value_text(trace, arg, arena);
            return true;
        }
    }
    return false;
}

static bool is_row(const struct comparing *all, struct str key)
{
    for (uint32_t i = 0; i < all->out->row_count; i++) {
        const struct compare_row *row = &all->out->rows[i];

        if (strcmp(row->group, "setup") == 0 && str_equal(row->key, key))
            return true;
    }
    return false;
}

static void take_key(struct comparing *all, struct str key)
{
    struct str first = STR("");
    bool differs = false, has_first = find_value(all->sides[0].run, key, all->arena, &first);
    struct cell *values = arena_array(all->arena, struct cell, all->count);

    for (uint32_t i = 0; i < all->count; i++) {
        struct str value = STR("");
        bool has = find_value(all->sides[i].run, key, all->arena, &value);

        values[i] = has ? cell_text(value) : cell_null(STR("the run does not record it"));
        differs = differs || has != has_first || !str_equal(value, first);
    }
    if (differs)
        compare_add(all, "setup", key, UNIT_TEXT)->values = values;
}

void compare_setup(struct comparing *all)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < all->count; i++) {
        const struct run_traces *run = all->sides[i].run;

        for (uint32_t host = 0; host < run->host_count; host++) {
            const struct trace *trace = run->hosts[host].trace;

            for (uint32_t k = 0; k < trace->property_count && count < COMPARE_SETUP_MAX; k++) {
                struct str key = trace_name(trace, trace->properties[k].arg.key);

                if (property_is_count(trace, &trace->properties[k]) || is_of_the_moment(key) ||
                    is_row(all, key))
                    continue;
                take_key(all, key);
                count++;
            }
        }
    }
}

void compare_setups(const struct diff_side *sides, uint32_t count, struct arena *arena,
                    struct comparison *ret)
{
    struct comparing all = {.sides = sides, .count = count, .arena = arena, .out = ret};

    *ret = (struct comparison){0};
    compare_setup(&all);
}

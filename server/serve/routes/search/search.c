/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/search?run=&q=: slices for which all terms of `q` hold; how many there are in all, on
 * each track, and over time.
 *
 *   names ----- an index ---------------------------------.
 *   args, scope, source ---- a bit a slice, and-ed ------- pick: window, duration, tracks, names
 *
 * A bare word that no name of the run holds is looked for in args, scopes and sources; each row
 * tells where it was found.
 */
#include <stdlib.h>

#include "analyse/scan/module_names.h"
#include "serve/routes.h"
#include "serve/routes/search/pick.h"
#include "serve/routes/search/search_args.h"
#include "serve/routes/search/search_within.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_WINDOW,
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = "q", .kind = PARAM_TEXT, .required = true, .min = 1, .max = 1024},
    {.name = "sort", .kind = PARAM_WORD, .words = "start_ps|-dur_ps|-self_ps"},
    {.name = "density", .kind = PARAM_WORD, .words = "run|track"},
    {.name = "host", .kind = PARAM_TEXTS},
    {.name = "device", .kind = PARAM_INTEGERS, .min = 0, .max = INT32_MAX},
    {.name = "track", .kind = PARAM_TEXTS},
    {.name = "step", .kind = PARAM_RANGES},
    {.name = "family", .kind = PARAM_TEXT},
    {.name = "step_regex", .kind = PARAM_TEXT, .max = 256},
    {.name = NULL},
};

/* Names that hold the text, and are the whole one; "" any. */
static const bool *names_that_hold(const struct trace *trace, struct str part, struct str whole,
                                   struct arena *arena)
{
    bool *names = arena_array(arena, bool, (size_t)trace->name_count + 1);
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats);

    for (uint32_t i = 0; i < count; i++) {
        struct str name = trace_name(trace, stats[i].name);

        names[stats[i].name] =
            str_contains_fold(name, part) && (whole.count == 0 || str_equal(name, whole));
    }
    return names;
}

/* Those whose name holds the text, or the name of one above: `track:gpu` is all of the device. */
static const bool *tracks_that_hold(const struct trace *trace, struct str part, struct arena *arena)
{
    bool *tracks = arena_array(arena, bool, (size_t)trace->track_count + 1);

    for (track_id i = 0; i < trace->track_count; i++) {
        track_id at = i;

        for (uint32_t up = 0; at < trace->track_count && !tracks[i] && up < 64; up++) {
            tracks[i] = str_contains_fold(trace_name(trace, trace->tracks[at].name), part);
            at = trace->tracks[at].parent;
        }
    }
    return tracks;
}

static bool any_name_holds(const struct run_traces *run, struct str part)
{
    for (uint32_t i = 0; i < run->host_count; i++) {
        const struct name_stats *stats;
        uint32_t count = trace_name_stats(run->hosts[i].trace, &stats);

        for (uint32_t k = 0; k < count; k++) {
            if (str_contains_fold(trace_name(run->hosts[i].trace, stats[k].name), part))
                return true;
        }
    }
    return false;
}

/* Ops are called as tables call them; what launched a kernel hides the kernel's own name there. */
static bool any_op_is_called(const struct host_trace *host, struct str name)
{
    for (uint32_t i = 0; i < host->attribution->op_count; i++) {
        if (str_equal(trace_name(host->trace, op_called(&host->attribution->ops[i])), name))
            return true;
    }
    return false;
}

/* By op: do its scope and source hold the texts, and is it the op, of the module, that is named? */
static const bool *ops_that_hold(const struct host_trace *host, const struct search_terms *terms,
                                 struct arena *arena)
{
    const struct attribution *of = host->attribution;
    const struct trace *trace = host->trace;
    bool *ops = arena_array(arena, bool, (size_t)of->op_count + 1);
    bool is_called = terms->op.count > 0 && any_op_is_called(host, terms->op);

    for (uint32_t i = 0; i < of->op_count; i++) {
        const struct op *op = &of->ops[i];
        name_id name = is_called ? op_called(op) : op->name;

        ops[i] = str_contains_fold(trace_name(trace, op->scope), terms->scope) &&
                 str_contains_fold(trace_name(trace, op->source), terms->source) &&
                 (terms->op.count == 0 || str_equal(trace_name(trace, name), terms->op)) &&
                 (terms->module.count == 0 || module_is(trace, op, terms->module));
    }
    return ops;
}

/* Sets the bit of every slice of such an op. */
static void mark_ops(const struct host_trace *host, const struct search_terms *terms,
                     uint64_t *slices, struct arena *arena)
{
    const struct attribution *of = host->attribution;

    if (of == NULL)
        return;

    const bool *ops = ops_that_hold(host, terms, arena);
    struct entry_reader reader;

    entry_reader_open(&reader, of, ENTRY_BIT(ENTRY_SLICE) | ENTRY_BIT(ENTRY_OP));
    for (uint32_t i = 0; i < of->entry_count; i++) {
        const struct attributed *entry = ENTRY_READ(&reader, i);

        if (entry->op < of->op_count && ops[entry->op] && entry->slice < host->trace->slice_count)
            slices[entry->slice / 64] |= UINT64_C(1) << entry->slice % 64;
    }
}

static void mark_elsewhere(const struct host_trace *host, struct str part, uint64_t *slices,
                           struct arena *arena)
{
    search_arg_texts(host->trace, part, slices, arena);
    mark_ops(host, &(struct search_terms){.scope = part}, slices, arena);
    mark_ops(host, &(struct search_terms){.source = part}, slices, arena);
}

static bool asks_for_ops(const struct search_terms *terms)
{
    return terms->scope.count + terms->source.count + terms->op.count + terms->module.count > 0;
}

static const uint64_t *bits_of_both(const uint64_t *one, const uint64_t *other, size_t words,
                                    struct arena *arena)
{
    uint64_t *both = arena_array(arena, uint64_t, words);

    for (size_t word = 0; word < words; word++)
        both[word] = one[word] & other[word];
    return both;
}

/* A bit a slice of the host: what the args, scope and source of the terms leave, and where names
 * hold it nowhere, the word; NULL: they ask for none of these. */
static const uint64_t *slices_by_facts(const struct host_trace *host,
                                       const struct search_terms *terms, bool elsewhere,
                                       struct arena *arena)
{
    size_t words = (size_t)host->trace->slice_count / 64 + 1;
    bool asks_ops = asks_for_ops(terms);
    uint32_t ops = terms->arg_count + asks_ops;
    uint32_t texts = ops + (terms->arg_text.count > 0);
    uint64_t *all = NULL;

    for (uint32_t i = 0; i < texts + elsewhere; i++) {
        uint64_t *some = arena_array(arena, uint64_t, words);

        if (i < terms->arg_count)
            search_args(host->trace, terms->args[i], some, arena);
        else if (i < ops)
            mark_ops(host, terms, some, arena);
        else if (i < texts)
            search_arg_texts(host->trace, terms->arg_text, some, arena);
        else
            mark_elsewhere(host, terms->name, some, arena);
        for (size_t word = 0; all != NULL && word < words; word++)
            some[word] &= all[word];
        all = some;
    }
    return all;
}

static void search_host(struct pick *pick, uint32_t host, const struct search_terms *terms,
                        const struct search_within *within, bool elsewhere)
{
    const struct host_trace *at = &pick->run->hosts[host];

    if (!str_contains_fold(at->name, terms->host))
        return;

    const uint64_t *slices = slices_by_facts(at, terms, elsewhere, pick->arena);

    if (within->narrowed) {
        const uint64_t *inside = search_within_bits(within, at, asks_for_ops(terms), pick->arena);

        slices = slices == NULL
                     ? inside
                     : bits_of_both(slices, inside, (size_t)at->trace->slice_count / 64 + 1,
                                    pick->arena);
    }

    struct str part = elsewhere ? STR("") : terms->name;
    const bool *names = part.count + terms->whole.count > 0
                            ? names_that_hold(at->trace, part, terms->whole, pick->arena)
                            : NULL;
    const bool *tracks =
        terms->track.count > 0 ? tracks_that_hold(at->trace, terms->track, pick->arena) : NULL;

    pick_only(pick, tracks, names);
    if (slices == NULL)
        pick_names(pick, host, names);
    else
        pick_bits(pick, host, slices);
}

static void put_counts(struct json *json, const uint32_t *counts)
{
    json_key(json, "counts");
    json_open(json, '[');
    for (uint32_t i = 0; i < PICK_DENSITY_BUCKETS; i++)
        json_add_unsigned(json, counts[i]);
    json_close(json, ']');
}

static void put_tracks(struct json *json, struct arena *arena, const struct pick *pick)
{
    size_t ordinal = 0;

    json_key(json, "tracks");
    json_open(json, '[');
    for (uint32_t i = 0; i < pick->run->host_count; i++) {
        const struct host_trace *host = &pick->run->hosts[i];

        for (track_id track = 0; track < host->trace->track_count; track++, ordinal++) {
            if (pick->track_counts[ordinal] == 0)
                continue;
            json_open(json, '{');
            json_put_text(json, "track", track_text(arena, host, track));
            json_put_unsigned(json, "count", pick->track_counts[ordinal]);
            if (pick->track_density != NULL)
                put_counts(json, pick->track_density + ordinal * PICK_DENSITY_BUCKETS);
            json_close(json, '}');
        }
    }
    json_close(json, ']');
}

static void put_density(struct json *json, const struct pick *pick)
{
    json_key(json, "density");
    json_open(json, '{');
    json_put_integer(json, "start_ps", pick->filter.start_ps);
    json_put_unsigned(json, "bucket_ps", pick_density_width_ps(&pick->filter));
    json_key(json, "counts");
    json_open(json, '[');
    for (uint32_t i = 0; i < PICK_DENSITY_BUCKETS; i++)
        json_add_unsigned(json, pick->density[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static void search_run(struct pick *pick, struct request *req, const struct search_terms *terms,
                       const struct search_within *within, bool elsewhere)
{
    size_t track_count = 0;

    for (uint32_t i = 0; i < pick->run->host_count; i++)
        track_count += pick->run->hosts[i].trace->track_count;
    pick->track_counts = arena_array(req->arena, uint64_t, track_count);
    pick->density = arena_array(req->arena, uint64_t, PICK_DENSITY_BUCKETS);
    if (request_is(req, "density", "track"))
        pick->track_density = arena_array(req->arena, uint32_t, track_count * PICK_DENSITY_BUCKETS);
    for (uint32_t i = 0; i < pick->run->host_count; i++)
        search_host(pick, i, terms, within, elsewhere);
}

/* Where the bare word was found. */
static struct str matched_in(const struct host_trace *host, slice_id slice, struct str part,
                             bool elsewhere)
{
    struct attributed room;
    const struct attributed *entry = host->attribution == NULL || !elsewhere
                                         ? NULL
                                         : attribution_of(host->attribution, slice, &room);

    if (!elsewhere)
        return STR("name");
    if (entry == NULL || entry->op >= host->attribution->op_count)
        return STR("arg");

    const struct op *op = &host->attribution->ops[entry->op];

    if (str_contains_fold(trace_name(host->trace, op->scope), part))
        return STR("scope");
    return str_contains_fold(trace_name(host->trace, op->source), part) ? STR("source")
                                                                        : STR("arg");
}

static void put_rows(struct json *json, struct arena *arena, const struct run_traces *run,
                     const struct slice_place *places, uint32_t count, struct str part,
                     bool elsewhere)
{
    json_key(json, "rows");
    json_open(json, '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct host_trace *host = &run->hosts[places[i].host];
        struct slice slice = trace_slice(host->trace, places[i].slice);

        json_open(json, '{');
        json_put_slice_members(json, arena, host, &slice);
        json_put_text_or_null(json, "matched",
                              part.count == 0 ? STR("")
                                              : matched_in(host, slice.id, part, elsewhere));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static enum status get_search(struct request *req, struct reply *reply, struct error *err)
{
    struct page page;
    struct pick pick;
    struct slice_place *places;
    struct search_terms terms;
    struct search_within within;

    TRY(search_terms_read(request_text(req, "q"), req->arena, &terms, err));
    TRY(request_page(req, &page, err));
    TRY(request_pick(req, &page, &pick, err));
    TRY(search_within_read(req, pick.run, &within, err));
    pick.filter.min_dur_ps = terms.min_dur_ps;
    pick.filter.max_dur_ps = terms.max_dur_ps;
    bool elsewhere = terms.name.count > 0 && !any_name_holds(pick.run, terms.name);

    search_run(&pick, req, &terms, &within, elsewhere);
    uint32_t count = pick_end(&pick, (uint32_t)page.offset, req->arena, &places);
    uint64_t next = page.offset + count < pick.total && count > 0 ? page.offset + count : 0;
    bool flat = request_is(req, "format", "csv") || request_is(req, "format", "md");
    struct table table = slice_table(req->arena, pick.run, places, flat ? count : 0);

    table.row_count_all = pick.total;
    table.next = next;
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, pick.run);
    json_put_text(&json, "q", request_text(req, "q"));
    json_put_unsigned(&json, "row_count", pick.total);
    json_put_next(&json, next);
    put_rows(&json, req->arena, pick.run, places, count, terms.name, elsewhere);
    put_tracks(&json, req->arena, &pick);
    put_density(&json, &pick);
    json_put_request_notes(&json, req);
    json_close(&json, '}');
    return OK;
}

static const struct verb verb = {.name = "search",
                                 .summary = "names and args that contain a text",
                                 .operands = "RUN QUERY",
                                 .needs = "q"};

const struct route route_search = {.method = "GET",
                                   .path = "/api/search",
                                   .handle = get_search,
                                   .params = params,
                                   .heavy = true,
                                   .verb = &verb};

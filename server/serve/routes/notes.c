/* SPDX-License-Identifier: Apache-2.0 */
/* GET, POST, DELETE /api/notes: what people wrote of runs and of windows of them, and tags.
 *
 *   {"run": "step_500", "text": "warm cache", "start_ps": 1000, "end_ps": 2000}   a note
 *   {"run": "step_500", "tag": "pinned"}                                           a tag
 *   {"run": "step_500", "import": "bundle"}    what came with the bundle becomes the user's own
 *
 * They hang on the run's content: a run that moved, or was copied to another machine that has this
 * user database, keeps them. Positions are those of the run's own time.
 *
 * What came with a bundle is shown beside them, and is nobody's here until it is imported.
 */
#include "analyse/table.h"
#include "serve/answer/body.h"
#include "serve/answer/run_out.h"
#include "serve/answer/table_out.h"
#include "serve/answer/user_out.h"
#include "serve/bundle/about.h"
#include "serve/bundle/bundled.h"
#include "serve/routes.h"
#include "store/user.h"

enum { TRACK_BYTES_MAX = 64 };

static const struct param list_params[] = {
    {.name = "run", .kind = PARAM_TEXT, .max = 1024},
    {.name = "wait_ms", .kind = PARAM_INTEGER, .min = 0, .max = 60000},
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = NULL}};
static const struct param put_params[] = {
    {.name = "wait_ms", .kind = PARAM_INTEGER, .min = 0, .max = 60000}, {.name = NULL}};
static const struct param remove_params[] = {
    {.name = "id", .kind = PARAM_INTEGER, .min = 1, .max = INT64_MAX},
    {.name = "run", .kind = PARAM_TEXT, .max = 1024},
    {.name = "tag", .kind = PARAM_TEXT, .max = USER_NAME_BYTES_MAX},
    {.name = "wait_ms", .kind = PARAM_INTEGER, .min = 0, .max = 60000},
    {.name = NULL}};

enum {
    NOTE_ID,
    NOTE_RUN,
    NOTE_START,
    NOTE_END,
    NOTE_TRACK,
    NOTE_TEXT,
    NOTE_CHANGED,
    NOTE_ORIGIN,
    NOTE_COLUMNS
};
static const struct column columns[NOTE_COLUMNS] = {
    [NOTE_ID] = {"id", "note", UNIT_TEXT, true},
    [NOTE_RUN] = {"run", "run", UNIT_TEXT, true},
    [NOTE_START] = {"start_ps", "from", UNIT_PS, true},
    [NOTE_END] = {"end_ps", "to", UNIT_PS, true},
    [NOTE_TRACK] = {"track", "track", UNIT_TEXT, false},
    [NOTE_TEXT] = {"text", "text", UNIT_TEXT, true},
    [NOTE_CHANGED] = {"changed_at", "changed", UNIT_TEXT, true},
    [NOTE_ORIGIN] = {"origin", "from", UNIT_TEXT, false},
};

struct shown {
    struct request *req;
    const struct user_note *notes;
};

static struct cell window_cell(const struct user_note *note, int64_t at_ps)
{
    return note->has_window ? cell_integer(at_ps)
                            : cell_null(STR("the note is about the whole run"));
}

static struct cell cell_at(const void *data, uint32_t row, uint32_t column)
{
    const struct shown *shown = data;
    const struct user_note *note = &shown->notes[row];
    struct arena *arena = shown->req->arena;

    switch (column) {
    case NOTE_ID:
        if (note->id == 0)
            return cell_null(STR("the note came with the bundle: import it before changing it"));
        return cell_text(str_format(arena, "%lld", (long long)note->id));
    case NOTE_RUN:
        return cell_text(note->run_name);
    case NOTE_START:
        return window_cell(note, note->start_ps);
    case NOTE_END:
        return window_cell(note, note->end_ps);
    case NOTE_TRACK:
        return note->track.count > 0 ? cell_text(note->track)
                                     : cell_null(STR("the note belongs to no track"));
    case NOTE_TEXT:
        return cell_text(note->text);
    case NOTE_ORIGIN:
        return cell_text(note->id == 0 ? STR("bundle") : STR("here"));
    default:
        return cell_text(unix_ns_iso(arena, note->changed_ns));
    }
}

/* A page of them, in their order: by run, then by time. */
static enum status table_of(struct request *req, const struct user_note *notes, uint32_t count,
                            struct table *ret, struct error *err)
{
    const struct shown shown = {req, notes};
    const struct table_source source = {.columns = columns,
                                        .column_count = NOTE_COLUMNS,
                                        .row_count = count,
                                        .cell = cell_at,
                                        .data = &shown};
    uint32_t *order = arena_array(req->arena, uint32_t, count);
    struct page page;

    TRY(request_page(req, &page, err));
    if (!request_has(req, "limit"))
        page.limit = PAGE_LIMIT_MAX;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    *ret = (struct table){.columns = columns, .column_count = NOTE_COLUMNS, .row_count_all = count};
    ret->notes = user_answer_notes(req, &ret->note_count);
    table_fill(&source, order, &page, req->arena, ret);
    return OK;
}

/* Those after the first `here` came with the bundle. */
static void put_tags(struct json *json, const struct user_tag *tags, uint32_t count, uint32_t here)
{
    json_key(json, "tags");
    json_open(json, '[');
    for (uint32_t i = 0; i < count; i++) {
        json_open(json, '{');
        json_put_text(json, "tag", tags[i].tag);
        json_put_text(json, "content_id", tags[i].content_id);
        json_put_text(json, "origin", i < here ? STR("here") : STR("bundle"));
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* A run that will be read has no content yet. */
static bool is_to_be_read(const struct run_record *run)
{
    return run->content_id.count == 0 && (run->state == RUN_QUEUED || run->state == RUN_INDEXING);
}

/* "" all; a run without a content has no notes. Whoever rather waits is told none before. */
static enum status asked_content(struct request *req, struct str *ret, struct error *err)
{
    const struct run_record *run;

    *ret = STR("");
    if (!request_has(req, "run"))
        return OK;
    TRY(request_run(req, &run, err));
    if (req->whole && is_to_be_read(run))
        return fail(err, ERR_NOT_READY, "run \"%.*s\" has files that have not been read yet",
                    STR_ARG(run->name));
    *ret = run->content_id.count > 0 ? run->content_id : STR("none");
    return OK;
}

/* What the program says, and why that is not used; null without a run. */
static enum status read_about(struct request *req, struct about *ret, struct table *table,
                              struct error *err)
{
    const struct run_record *run;

    *ret = (struct about){.path = STR(""), .problem = STR("")};
    if (!request_has(req, "run"))
        return OK;
    TRY(request_run(req, &run, err));
    bundled_about(req->services->catalog, run, req->arena, ret);
    if (ret->problem.count == 0)
        return OK;
    struct answer_note *notes = arena_array(req->arena, struct answer_note, table->note_count + 1);
    for (uint32_t i = 0; i < table->note_count; i++)
        notes[i] = table->notes[i];
    notes[table->note_count++] =
        (struct answer_note){.kind = "jview-json",
                             .severity = NOTE_WARNING,
                             .message = str_format(req->arena, "%.*s is not used: %.*s.",
                                                   STR_ARG(ret->path), STR_ARG(ret->problem)),
                             .count = 1};
    table->notes = notes;
    return OK;
}

struct written { /* notes and tags of a run, or of all; what a bundle brought stands last */
    struct user_note *notes;
    struct user_tag *tags;
    uint32_t note_count, tag_count, tags_here;
};

static bool is_noted(const struct written *written, const struct user_note *note)
{
    for (uint32_t i = 0; i < written->note_count; i++)
        if (bundled_same_note(&written->notes[i], note))
            return true;
    return false;
}

static bool is_tagged(const struct written *written, struct str tag)
{
    for (uint32_t i = 0; i < written->tag_count; i++)
        if (str_equal(written->tags[i].tag, tag))
            return true;
    return false;
}

/* What the run's bundle says and nobody has said here. */
static void add_brought(const struct run_record *run, const struct bundle_said *said,
                        struct arena *arena, struct written *written)
{
    struct user_note *notes =
        arena_array(arena, struct user_note, written->note_count + said->note_count + 1);
    struct user_tag *tags =
        arena_array(arena, struct user_tag, written->tag_count + said->tag_count + 1);
    uint32_t note_count = written->note_count, tag_count = written->tag_count;

    for (uint32_t i = 0; i < note_count; i++)
        notes[i] = written->notes[i];
    for (uint32_t i = 0; i < tag_count; i++)
        tags[i] = written->tags[i];
    for (uint32_t i = 0; i < said->note_count; i++) {
        if (is_noted(written, &said->notes[i]))
            continue;
        notes[note_count] = said->notes[i];
        notes[note_count].content_id = run->content_id;
        notes[note_count++].run_name = run->name;
    }
    for (uint32_t i = 0; i < said->tag_count; i++)
        if (!is_tagged(written, said->tags[i]))
            tags[tag_count++] = (struct user_tag){run->content_id, said->tags[i]};
    *written = (struct written){notes, tags, note_count, tag_count, written->tags_here};
}

static enum status read_written(struct request *req, struct written *ret, struct error *err)
{
    const struct run_record *run;
    struct bundle_said said;
    struct str content;

    TRY(asked_content(req, &content, err));
    TRY(user_notes(req->services->user, content, req->arena, &ret->notes, &ret->note_count, err));
    TRY(user_tags(req->services->user, content, req->arena, &ret->tags, &ret->tag_count, err));
    ret->tags_here = ret->tag_count;
    if (!request_has(req, "run"))
        return OK;
    TRY(request_run(req, &run, err));
    if (bundled_said(req->services->catalog, run, req->arena, &said))
        add_brought(run, &said, req->arena, ret);
    return OK;
}

static enum status get_notes(struct request *req, struct reply *reply, struct error *err)
{
    struct about *about = arena_new(req->arena, struct about);
    struct written written = {0};
    struct table table;

    TRY(read_written(req, &written, err));
    TRY(table_of(req, written.notes, written.note_count, &table, err));
    TRY(read_about(req, about, &table, err));
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_about(&json, about);
    put_tags(&json, written.tags, written.tag_count, written.tags_here);
    json_put_table(&json, req, &table);
    json_close(&json, '}');
    return OK;
}

struct posted {
    struct user_note note;
    struct str run, tag, import;
    bool has_start, has_end, has_text;
};

static enum status read_posted(struct request *req, struct posted *ret, struct error *err)
{
    *ret = (struct posted){.run = STR(""), .tag = STR(""), .import = STR("")};
    ret->note.text = ret->note.track = STR("");
    const struct body_member members[] = {
        {.name = "run", .required = true, .text = &ret->run},
        {.name = "text", .text = &ret->note.text, .given = &ret->has_text},
        {.name = "tag", .text = &ret->tag},
        {.name = "import", .text = &ret->import},
        {.name = "id", .integer = &ret->note.id},
        {.name = "start_ps", .integer = &ret->note.start_ps, .given = &ret->has_start},
        {.name = "end_ps", .integer = &ret->note.end_ps, .given = &ret->has_end},
        {.name = "track", .text = &ret->note.track}};

    TRY(body_read(req, members, COUNT(members), err));
    if (str_equal(ret->import, STR("bundle")) && !ret->has_text && ret->tag.count == 0)
        return OK;
    if (ret->import.count > 0)
        return fail(err, ERR_INVALID,
                    "\"import\" must be \"bundle\", and no other member may be given");
    if (ret->has_text == (ret->tag.count > 0))
        return fail(err, ERR_INVALID, "either \"text\", for a note, or \"tag\"");
    if (ret->has_start != ret->has_end)
        return fail(err, ERR_INVALID, "a window has start_ps and end_ps");
    if (ret->note.track.count > TRACK_BYTES_MAX || ret->note.id < 0)
        return fail(err, ERR_INVALID, "there is no such track or note");
    ret->note.has_window = ret->has_start;
    return OK;
}

/* All that the bundle brought and is not here yet. */
static enum status import_said(struct request *req, const struct run_record *run, struct error *err)
{
    struct user *user = req->services->user;
    struct written written = {0};
    struct bundle_said said;

    if (!bundled_said(req->services->catalog, run, req->arena, &said))
        return fail(err, ERR_INVALID, "run \"%.*s\" did not come as a bundle", STR_ARG(run->name));
    TRY(user_notes(user, run->content_id, req->arena, &written.notes, &written.note_count, err));
    TRY(user_tags(user, run->content_id, req->arena, &written.tags, &written.tag_count, err));
    const uint32_t notes_here = written.note_count, tags_here = written.tag_count;
    add_brought(run, &said, req->arena, &written);
    for (uint32_t i = notes_here; i < written.note_count; i++) {
        int64_t id;

        TRY(user_put_note(user, &written.notes[i], &id, err));
    }
    for (uint32_t i = tags_here; i < written.tag_count; i++)
        TRY(user_add_tag(user, run->content_id, written.tags[i].tag, err));
    return OK;
}

static enum status post_note(struct request *req, struct reply *reply, struct error *err)
{
    struct user *user = req->services->user;
    const struct run_record *run;
    struct posted posted;
    int64_t id = 0;

    TRY(read_posted(req, &posted, err));
    TRY(request_content(req, posted.run, &run, err));
    posted.note.content_id = run->content_id;
    posted.note.run_name = run->name;
    if (posted.import.count > 0)
        TRY(import_said(req, run, err));
    else if (posted.tag.count > 0)
        TRY(user_add_tag(user, run->content_id, posted.tag, err));
    else
        TRY(user_put_note(user, &posted.note, &id, err));
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_text_or_null(&json, "id",
                          id > 0 ? str_format(req->arena, "%lld", (long long)id) : STR(""));
    json_put_text_or_null(&json, "tag", posted.tag);
    json_put_text(&json, "content_id", run->content_id);
    json_close(&json, '}');
    return OK;
}

static enum status delete_note(struct request *req, struct reply *reply, struct error *err)
{
    struct user *user = req->services->user;
    struct str tag = request_text(req, "tag"), id = request_text(req, "id");
    const struct run_record *run;

    if ((id.count > 0) == (tag.count > 0))
        return fail(err, ERR_INVALID, "either id=, of a note, or run= and tag=");
    if (id.count > 0) {
        TRY(user_remove_note(user, request_integer(req, "id", 0), err));
    } else {
        TRY(request_content(req, request_text(req, "run"), &run, err));
        TRY(user_remove_tag(user, run->content_id, tag, err));
    }
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_text_or_null(&json, "id", id);
    json_put_text_or_null(&json, "tag", tag);
    json_close(&json, '}');
    return OK;
}

static const struct in_bundle in_bundle[] = {
    {.params = "", .limit = 200, .what = "notes", .rank = 5}, {.params = NULL}};

static const struct verb verb = {.name = "notes",
                                 .summary = "notes on a run, and what is missing or odd in it",
                                 .operands = "RUN"};

const struct route route_notes = {.method = "GET",
                                  .path = "/api/notes",
                                  .handle = get_notes,
                                  .params = list_params,
                                  .age = AGE_CATALOG,
                                  .in_bundle = in_bundle,
                                  .verb = &verb};
static const struct verb_action actions[] = {
    {"list", ""},       {"show", "RUN"},      {"add", "RUN TEXT"}, {"remove", "ID"},
    {"tag", "RUN TAG"}, {"untag", "RUN TAG"}, {"import", "RUN"},   {NULL, NULL}};
static const struct verb note_verb = {
    .name = "note",
    .summary = "notes and tags on runs",
    .operands = "list | show RUN | add RUN TEXT | remove ID | tag RUN TAG | untag RUN TAG | "
                "import RUN",
    .actions = actions,
    .note = "`add` takes a time range, --start 1ms --end 2ms, and a track, --track ID: the page "
            "shows\nthe note there."};

const struct route route_note_put = {.method = "POST",
                                     .path = "/api/notes",
                                     .handle = post_note,
                                     .params = put_params,
                                     .verb = &note_verb};
/* An address that asks for no run as long as it removes a note by its number. */
const struct route route_note_remove = {.method = "DELETE",
                                        .path = "/api/notes",
                                        .handle = delete_note,
                                        .params = remove_params,
                                        .age = AGE_CATALOG};

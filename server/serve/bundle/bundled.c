/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what a bundle's maker said of a run, and takes it over when asked. */
#include "serve/bundle/bundled.h"

#include <jansson.h>
#include <stdlib.h>

bool run_is_bundle(const struct run_record *run)
{
    return run->run_file_count > 0 && str_equal(run->files[0].format, STR(BUNDLE_FORMAT));
}

/* The line of a content as an object; NULL: nothing is known. */
static json_t *facts_of(struct catalog *catalog, const char content[33], struct arena *arena,
                        struct error *err)
{
    struct str line = STR("");

    if (catalog_facts(catalog, content, arena, &line, err) != OK)
        return NULL;
    json_t *facts = json_loadb(line.at, line.count, 0, NULL);
    if (facts == NULL)
        fail(err, ERR_NOT_FOUND, "content %s is not known", content);
    return facts;
}

bool bundled_said(struct catalog *catalog, const struct run_record *run, struct arena *arena,
                  struct bundle_said *ret)
{
    struct error ignored = {0};

    if (!run_is_bundle(run) || run->files[0].content[0] == '\0')
        return false;
    json_t *facts = facts_of(catalog, run->files[0].content, arena, &ignored);
    char *text = json_dumps(json_object_get(facts, "said"), JSON_COMPACT);
    bool read = text != NULL && bundle_said_read(str_of(text), arena, ret, &ignored) == OK;
    free(text);
    json_decref(facts);
    return read;
}

/* Of a run in a bucket: true where its text is kept. */
static bool kept_about(struct catalog *catalog, const struct run_record *run, struct arena *arena,
                       struct about *ret)
{
    struct error err = {0};
    struct str text;
    char key[33];

    about_key(run->about.stamp, key);
    if (run->about.stamp == 0 || catalog_facts(catalog, key, arena, &text, &err) != OK ||
        text.count == 0)
        return false;
    struct str path =
        str_format(arena, "%.*s%sjview.json", STR_ARG(run->dir), run->dir.count > 0 ? "/" : "");

    if (about_parse((struct bytes){(const uint8_t *)text.at, text.count}, arena, ret, &err) == OK)
        ret->text = text;
    else
        *ret = (struct about){.problem = str_copy(arena, str_of(err.message))};
    ret->path = path;
    return true;
}

void bundled_about(struct catalog *catalog, const struct run_record *run, struct arena *arena,
                   struct about *ret)
{
    struct error ignored = {0};
    struct bundle_said said;

    if (!run_is_bundle(run)) {
        if (!kept_about(catalog, run, arena, ret))
            about_read(run, arena, ret);
        return;
    }
    *ret = (struct about){.path = STR(""), .problem = STR("")};
    if (!bundled_said(catalog, run, arena, &said) || said.about.count == 0)
        return;
    struct bytes bytes = {(const uint8_t *)said.about.at, said.about.count};
    if (about_parse(bytes, arena, ret, &ignored) == OK)
        ret->path = str_format(arena, "%.*s/jview.json", STR_ARG(run->files[0].path));
}

struct str bundled_about_text(struct catalog *catalog, const struct run_record *run,
                              struct arena *arena)
{
    struct about about;

    if (!kept_about(catalog, run, arena, &about))
        about_read(run, arena, &about);
    return about.is_there ? about.text : STR("");
}

bool bundled_same_note(const struct user_note *a, const struct user_note *b)
{
    return str_equal(a->text, b->text) && str_equal(a->track, b->track) &&
           a->has_window == b->has_window &&
           (!a->has_window || (a->start_ps == b->start_ps && a->end_ps == b->end_ps));
}

static bool has_note(const struct bundle_said *said, const struct user_note *note)
{
    for (uint32_t i = 0; i < said->note_count; i++)
        if (bundled_same_note(&said->notes[i], note))
            return true;
    return false;
}

static bool has_tag(const struct bundle_said *said, struct str tag)
{
    for (uint32_t i = 0; i < said->tag_count; i++)
        if (str_equal(said->tags[i], tag))
            return true;
    return false;
}

void bundled_add(struct catalog *catalog, const struct run_record *run, struct arena *arena,
                 struct bundle_said *said)
{
    struct bundle_said brought;

    if (!bundled_said(catalog, run, arena, &brought))
        return;
    if (said->about.count == 0)
        said->about = brought.about;
    struct user_note *notes =
        arena_array(arena, struct user_note, said->note_count + brought.note_count + 1);
    struct str *tags = arena_array(arena, struct str, said->tag_count + brought.tag_count + 1);
    uint32_t note_count = said->note_count, tag_count = said->tag_count;

    for (uint32_t i = 0; i < note_count; i++)
        notes[i] = said->notes[i];
    for (uint32_t i = 0; i < tag_count; i++)
        tags[i] = said->tags[i];
    for (uint32_t i = 0; i < brought.note_count; i++)
        if (!has_note(said, &brought.notes[i]))
            notes[note_count++] = brought.notes[i];
    for (uint32_t i = 0; i < brought.tag_count; i++)
        if (!has_tag(said, brought.tags[i]))
            tags[tag_count++] = brought.tags[i];
    said->notes = notes;
    said->note_count = note_count;
    said->tags = tags;
    said->tag_count = tag_count;
}

enum status bundled_file(struct catalog *catalog, const char content[33], struct arena *arena,
                         struct bundled_file *ret, struct error *err)
{
    json_t *facts = facts_of(catalog, content, arena, err);

    if (facts == NULL)
        return err->code;
    const json_t *host = json_object_get(facts, "host");
    const char *origin = json_string_value(json_object_get(facts, "origin"));
    *ret = (struct bundled_file){
        .host = str_copy(arena, str_of(json_string_value(host))),
        .bytes = (uint64_t)json_integer_value(json_object_get(facts, "bytes")),
    };
    snprintf(ret->origin, sizeof ret->origin, "%s", origin != NULL ? origin : content);
    json_decref(facts);
    return OK;
}

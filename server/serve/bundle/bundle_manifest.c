/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the manifest of a bundle as JSON. */
#include "serve/bundle/bundle_manifest.h"

#include <jansson.h>
#include <stdlib.h>

#include "serve/answer/json_out.h"

/* The first entry's head, 30 bytes of which the last four are the lengths of name and extra. */
bool bundle_is(struct bytes head)
{
    static const char name[] = BUNDLE_MANIFEST;
    enum { HEAD = 30, NAME = sizeof name - 1 };

    return head.count >= HEAD + NAME && memcmp(head.at, "PK\x03\x04", 4) == 0 &&
           head.at[26] == NAME && head.at[27] == 0 && memcmp(head.at + HEAD, name, NAME) == 0;
}

static struct str taken(struct text *text, struct arena *arena)
{
    struct str ret = str_copy(arena, text_str(text));

    text_free(text);
    return ret;
}

static void put_blob(struct json *json, const char *key, const struct bundle_blob *blob)
{
    json_key(json, key);
    if (blob->name.count == 0) {
        json_add_null(json);
        return;
    }
    json_open(json, '{');
    json_put_text(json, "name", blob->name);
    json_put_unsigned(json, "bytes", blob->bytes);
    json_put_text(json, "hash", str_of(blob->hash));
    json_close(json, '}');
}

static void put_member(struct json *json, const struct bundle_member *member)
{
    json_open(json, '{');
    json_put_text(json, "host", member->host);
    json_put_text(json, "path", member->path);
    json_put_text(json, "part", str_of(decode_part_word(member->part)));
    json_put_unsigned(json, "bytes", member->bytes);
    json_put_text(json, "content", str_of(member->content));
    put_blob(json, "segment", &member->segment);
    put_blob(json, "raw", &member->raw);
    json_close(json, '}');
}

struct str bundle_write(const struct bundle *bundle, struct arena *arena)
{
    struct text text = {0};
    struct json json = json_into(&text);

    json_open(&json, '{');
    json_put_integer(&json, "bundle", BUNDLE_VERSION);
    json_put_text(&json, "program", bundle->program);
    json_put_integer(&json, "segment_version", bundle->segment_version);
    json_put_integer(&json, "kind_rules_version", bundle->kind_rules_version);
    json_key(&json, "said");
    json_add_raw(&json, bundle->said);
    json_key(&json, "members");
    json_open(&json, '[');
    for (uint32_t i = 0; i < bundle->member_count; i++)
        put_member(&json, &bundle->members[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    return taken(&text, arena);
}

static void put_note(struct json *json, const struct user_note *note)
{
    json_open(json, '{');
    json_put_text(json, "text", note->text);
    if (note->track.count > 0)
        json_put_text(json, "track", note->track);
    if (note->has_window) {
        json_put_integer(json, "start_ps", note->start_ps);
        json_put_integer(json, "end_ps", note->end_ps);
    }
    json_put_integer(json, "changed_ns", note->changed_ns);
    json_close(json, '}');
}

enum status bundle_said_write(const struct bundle_said *said, struct arena *arena, struct str *ret,
                              struct error *err)
{
    struct text text = {0};
    struct json json = json_into(&text);

    json_open(&json, '{');
    json_put_text(&json, "run", said->run);
    json_put_text(&json, "content_id", said->content_id);
    json_put_text(&json, "program", said->program);
    json_key(&json, "about");
    if (said->about.count > 0)
        json_add_raw(&json, said->about);
    else
        json_add_null(&json);
    json_key(&json, "tags");
    json_open(&json, '[');
    for (uint32_t i = 0; i < said->tag_count; i++)
        json_add_text(&json, said->tags[i]);
    json_close(&json, ']');
    json_key(&json, "notes");
    json_open(&json, '[');
    for (uint32_t i = 0; i < said->note_count; i++)
        put_note(&json, &said->notes[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    *ret = taken(&text, arena);
    return ret->count <= BUNDLE_SAID_BYTES_MAX
               ? OK
               : fail(err, ERR_LIMIT,
                      "the run's notes take %zu bytes; a bundle may hold %d: remove some",
                      ret->count, BUNDLE_SAID_BYTES_MAX);
}

/* Reading is sticky: the first member that is not as it should be makes all of it wrong. */
struct reading {
    struct arena *arena;
    const char *wrong; /* the member's name; NULL: all is well */
};

static struct str text_of(struct reading *reading, const json_t *value, const char *key,
                          size_t most)
{
    size_t count = json_is_string(value) ? json_string_length(value) : most + 1;

    if (count <= most)
        return str_copy(reading->arena, (struct str){json_string_value(value), count});
    reading->wrong = key;
    return STR("");
}

static struct str text_at(struct reading *reading, const json_t *object, const char *key,
                          size_t most)
{
    return text_of(reading, json_object_get(object, key), key, most);
}

static int64_t integer_at(struct reading *reading, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_integer(value))
        reading->wrong = key;
    return json_integer_value(value);
}

static uint64_t size_at(struct reading *reading, const json_t *object, const char *key)
{
    int64_t value = integer_at(reading, object, key);

    if (value < 0)
        reading->wrong = key;
    return (uint64_t)value;
}

static void hash_at(struct reading *reading, const json_t *object, const char *key, char ret[33])
{
    struct str text = text_at(reading, object, key, 32);

    memset(ret, 0, 33);
    if (text.count == 32)
        memcpy(ret, text.at, 32);
    if (strspn(ret, "0123456789abcdef") != 32)
        reading->wrong = key;
}

static enum decode_part part_at(struct reading *reading, const json_t *object)
{
    struct str word = text_at(reading, object, "part", 32);

    for (enum decode_part part = 0; part < PART_COUNT; part++)
        if (str_equal(word, str_of(decode_part_word(part))))
            return part;
    reading->wrong = "part";
    return PART_TIMELINE;
}

static void read_blob(struct reading *reading, const json_t *member, const char *key,
                      struct bundle_blob *ret)
{
    const json_t *blob = json_object_get(member, key);

    *ret = (struct bundle_blob){.name = STR("")};
    if (json_is_null(blob))
        return;
    ret->name = text_at(reading, blob, "name", BUNDLE_TEXT_BYTES_MAX);
    ret->bytes = size_at(reading, blob, "bytes");
    hash_at(reading, blob, "hash", ret->hash);
    if (ret->name.count == 0)
        reading->wrong = key;
}

static void read_member(struct reading *reading, const json_t *member, struct bundle_member *ret)
{
    *ret = (struct bundle_member){
        .host = text_at(reading, member, "host", BUNDLE_TEXT_BYTES_MAX),
        .path = text_at(reading, member, "path", BUNDLE_TEXT_BYTES_MAX),
        .part = part_at(reading, member),
        .bytes = size_at(reading, member, "bytes"),
    };
    hash_at(reading, member, "content", ret->content);
    read_blob(reading, member, "segment", &ret->segment);
    read_blob(reading, member, "raw", &ret->raw);
}

static struct str dump(const json_t *value, struct arena *arena)
{
    char *text = json_dumps(value, JSON_COMPACT);
    struct str ret = str_copy(arena, str_of(text));

    free(text);
    return ret;
}

static void read_all(struct reading *reading, const json_t *object, struct bundle *ret)
{
    const json_t *members = json_object_get(object, "members");
    size_t count = json_array_size(members);

    *ret = (struct bundle){
        .program = text_at(reading, object, "program", 64),
        .segment_version = integer_at(reading, object, "segment_version"),
        .kind_rules_version = integer_at(reading, object, "kind_rules_version"),
        .said = dump(json_object_get(object, "said"), reading->arena),
    };
    if (ret->said.count == 0 || ret->said.count > BUNDLE_SAID_BYTES_MAX)
        reading->wrong = "said";
    if (count == 0 || count > BUNDLE_MEMBERS_MAX) {
        reading->wrong = "members";
        return;
    }
    struct bundle_member *read = arena_array(reading->arena, struct bundle_member, count);
    for (size_t i = 0; i < count && reading->wrong == NULL; i++)
        read_member(reading, json_array_get(members, i), &read[i]);
    ret->members = read;
    ret->member_count = (uint32_t)count;
}

static enum status read_object(const json_t *object, struct arena *arena, struct bundle *ret,
                               struct error *err)
{
    struct reading reading = {.arena = arena};
    struct bundle_said said;
    int64_t version = integer_at(&reading, object, "bundle");

    if (reading.wrong == NULL && version != BUNDLE_VERSION)
        return fail(err, ERR_UNSUPPORTED,
                    "the bundle has version %lld, and this program reads version %d: open it with "
                    "a newer jviewd",
                    (long long)version, BUNDLE_VERSION);
    if (reading.wrong == NULL)
        read_all(&reading, object, ret);
    if (reading.wrong != NULL)
        return fail(err, ERR_FORMAT, "\"%s\" in the bundle's manifest is invalid", reading.wrong);
    return bundle_said_read(ret->said, arena, &said, err);
}

enum status bundle_read(struct str text, struct arena *arena, struct bundle *ret, struct error *err)
{
    json_error_t why;
    json_t *object = json_loadb(text.at, text.count, JSON_REJECT_DUPLICATES, &why);

    *ret = (struct bundle){0};
    if (object == NULL)
        return fail(err, ERR_FORMAT, "the bundle's manifest is not valid JSON: %s", why.text);
    enum status status = read_object(object, arena, ret, err);
    json_decref(object);
    return status;
}

static void read_note(struct reading *reading, const json_t *note, struct user_note *ret)
{
    bool has_window = json_object_get(note, "start_ps") != NULL;
    bool has_track = json_object_get(note, "track") != NULL;

    *ret = (struct user_note){
        .text = text_at(reading, note, "text", USER_TEXT_BYTES_MAX),
        .track = has_track ? text_at(reading, note, "track", USER_NAME_BYTES_MAX) : STR(""),
        .has_window = has_window,
        .start_ps = has_window ? integer_at(reading, note, "start_ps") : 0,
        .end_ps = has_window ? integer_at(reading, note, "end_ps") : 0,
        .changed_ns = integer_at(reading, note, "changed_ns"),
    };
    if (ret->text.count == 0 || ret->end_ps < ret->start_ps)
        reading->wrong = "notes";
}

static void read_said(struct reading *reading, const json_t *object, struct bundle_said *ret)
{
    const json_t *about = json_object_get(object, "about");
    const json_t *tags = json_object_get(object, "tags"), *notes = json_object_get(object, "notes");
    const uint32_t tag_count = (uint32_t)json_array_size(tags);
    const uint32_t note_count = (uint32_t)json_array_size(notes);
    struct str *tag = arena_array(reading->arena, struct str, tag_count + 1);
    struct user_note *note = arena_array(reading->arena, struct user_note, note_count + 1);

    *ret = (struct bundle_said){
        .run = text_at(reading, object, "run", BUNDLE_TEXT_BYTES_MAX),
        .content_id = text_at(reading, object, "content_id", 64),
        .program = text_at(reading, object, "program", 64),
        .about = json_is_object(about) ? dump(about, reading->arena) : STR(""),
        .tags = tag,
        .tag_count = tag_count,
        .notes = note,
        .note_count = note_count,
    };
    for (uint32_t i = 0; i < tag_count && reading->wrong == NULL; i++)
        tag[i] = text_of(reading, json_array_get(tags, i), "tags", USER_NAME_BYTES_MAX);
    for (uint32_t i = 0; i < note_count && reading->wrong == NULL; i++)
        read_note(reading, json_array_get(notes, i), &note[i]);
}

enum status bundle_said_read(struct str text, struct arena *arena, struct bundle_said *ret,
                             struct error *err)
{
    struct reading reading = {.arena = arena};
    json_t *object = json_loadb(text.at, text.count, JSON_REJECT_DUPLICATES, NULL);

    *ret = (struct bundle_said){0};
    if (json_is_object(object))
        read_said(&reading, object, ret);
    else
        reading.wrong = "said";
    json_decref(object);
    return reading.wrong == NULL
               ? OK
               : fail(err, ERR_FORMAT, "\"%s\" in the bundle's manifest is invalid", reading.wrong);
}

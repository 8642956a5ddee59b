/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest reads back as it was written; a stranger's is refused with a sentence, or read. */
#include <stdlib.h>

#include "check.h"

#include "serve/bundle/bundle_manifest.h"

static const char hash[] = "0123456789abcdef0123456789abcdef";

static struct str make(struct arena *arena)
{
    const struct user_note notes[] = {{.text = STR("cold </script>"), .track = STR("01234567.3")},
                                      {.text = STR("warm"),
                                       .track = STR(""),
                                       .has_window = true,
                                       .start_ps = -5,
                                       .end_ps = INT64_C(9000000000000001)}};
    const struct str tags[] = {STR("pinned")};
    const struct bundle_said said = {.run = STR("a/step_500"),
                                     .content_id = STR("c0"),
                                     .program = STR("jviewd 0"),
                                     .about = STR("{\"step\":7}"),
                                     .notes = notes,
                                     .note_count = COUNT(notes),
                                     .tags = tags,
                                     .tag_count = 1};
    struct bundle_member member = {.host = STR("hostA"),
                                   .path = STR("hostA.xplane.pb"),
                                   .part = PART_TIMELINE,
                                   .bytes = 17,
                                   .segment = {.name = STR("segments/0"), .bytes = 5},
                                   .raw = {.name = STR("")}};
    struct bundle bundle = {.program = STR("jviewd 0"),
                            .segment_version = 2,
                            .kind_rules_version = 7,
                            .members = &member,
                            .member_count = 1};
    struct error err = {0};

    memcpy(member.content, hash, sizeof hash);
    memcpy(member.segment.hash, hash, sizeof hash);
    CHECK_OK("said", bundle_said_write(&said, arena, &bundle.said, &err), &err);
    return bundle_write(&bundle, arena);
}

static void reads_back(void **state)
{
    struct arena *arena = arena_create();
    struct error err = {0};
    struct bundle bundle;
    struct bundle_said said;

    (void)state;
    CHECK_OK("manifest", bundle_read(make(arena), arena, &bundle, &err), &err);
    CHECK_INT("versions", bundle.segment_version * 10 + bundle.kind_rules_version, 27);
    CHECK_INT("members", bundle.member_count, 1);
    CHECK_STR("host", bundle.members[0].host, "hostA");
    CHECK_STR("segment", bundle.members[0].segment.name, "segments/0");
    CHECK_STR("its hash", str_of(bundle.members[0].segment.hash), hash);
    CHECK_INT("no raw file", bundle.members[0].raw.name.count, 0);
    CHECK_OK("said", bundle_said_read(bundle.said, arena, &said, &err), &err);
    CHECK_STR("about", said.about, "{\"step\":7}");
    CHECK_STR("tag", said.tags[0], "pinned");
    CHECK_STR("note", said.notes[0].text, "cold </script>");
    CHECK("its window", !said.notes[0].has_window && said.notes[1].has_window);
    CHECK_INT("long times stay exact", said.notes[1].end_ps, INT64_C(9000000000000001));
    arena_destroy(arena);
}

static void is_read_or_refused(struct str text)
{
    struct arena *arena = arena_create();
    struct error err = {0};
    struct bundle bundle;
    enum status status = bundle_read(text, arena, &bundle, &err);

    if (status != OK)
        CHECK("a sentence", err.message[0] != '\0');
    else
        CHECK("bounded", bundle.member_count > 0 && bundle.member_count <= BUNDLE_MEMBERS_MAX);
    arena_destroy(arena);
}

static void damage_is_refused(void **state)
{
    struct arena *arena = arena_create();
    struct str whole = make(arena);

    (void)state;
    for (size_t count = 0; count < whole.count; count++) {
        struct error err = {0};
        struct bundle bundle;

        CHECK("prefix", bundle_read((struct str){whole.at, count}, arena, &bundle, &err) != OK);
    }
    char *damaged = str_c(arena, whole);
    for (size_t bit = 0; bit < 8 * whole.count; bit++) {
        damaged[bit / 8] ^= (char)(1 << bit % 8);
        is_read_or_refused((struct str){damaged, whole.count});
        damaged[bit / 8] ^= (char)(1 << bit % 8);
    }
    arena_destroy(arena);
}

static void is_known_by_its_first_entry(void **state)
{
    static const char head[] = "PK\x03\x04 26 bytes of any kind,\x12\0\0\0" BUNDLE_MANIFEST;
    struct bytes bytes = {(const uint8_t *)head, sizeof head - 1};

    (void)state;
    CHECK("a bundle", bundle_is(bytes));
    for (size_t count = 0; count < bytes.count; count++)
        CHECK("cut off", !bundle_is((struct bytes){bytes.at, count}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(is_known_by_its_first_entry),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

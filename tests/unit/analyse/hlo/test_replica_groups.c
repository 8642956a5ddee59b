/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of devices from HLO text, whole, cut anywhere, and hostile. */
#include "check.h"

#include "analyse/hlo/replica_groups.h"

static const struct {
    const char *what, *text;
    enum groups_form form;
    uint32_t count, size;
    const char *members, *name;
} rows[] = {
    {"lists", "{{0,1},{2,3}}", GROUPS_LISTED, 2, 2, "{0,1} {2,3}", "2 devices, stride 1"},
    {"members in any order", "{{6,0,4,2},{1,3,5,7}}", GROUPS_LISTED, 2, 4, "{0,2,4,6} {1,3,5,7}",
     "4 devices, stride 2"},
    {"blanks", "{ { 0 , 1 } }", GROUPS_LISTED, 1, 2, "{0,1}", "all 2 devices"},
    {"uneven lists", "{{0,1,2},{3}}", GROUPS_LISTED, 2, 3, "{0,1,2} {3}", "2 groups of up to 3"},
    {"no stride", "{{0,1,3},{2,4,5}}", GROUPS_LISTED, 2, 3, "{0,1,3} {2,4,5}", "3 devices"},
    {"each alone", "{{0},{1}}", GROUPS_LISTED, 2, 1, "{0} {1}", "1 device"},
    {"everybody", "{}", GROUPS_EVERYBODY, 1, 0, "", "all devices"},
    {"numbered", "[2,4]<=[8]", GROUPS_IOTA, 2, 4, "{0,1,2,3} {4,5,6,7}", "4 devices, stride 1"},
    {"turned", "[4,2]<=[2,4]T(1,0), use_global_device_ids=true", GROUPS_IOTA, 4, 2,
     "{0,4} {1,5} {2,6} {3,7}", "2 devices, stride 4"},
    {"three dimensions", "[4,2]<=[2,2,2]T(0,2,1)", GROUPS_IOTA, 4, 2, "{0,2} {1,3} {4,6} {5,7}",
     "2 devices, stride 2"},
    {"one group", "[1,4]<=[4]", GROUPS_IOTA, 1, 4, "{0,1,2,3}", "all 4 devices"},
    {"a mesh", "mesh['data'=4,'model'=2] {'data'}, x=1", GROUPS_MESH, 2, 4, "{0,2,4,6} {1,3,5,7}",
     "data"},
    {"two axes of it", "mesh['a'=2,'b'=2,'c'=2] {'a','c'}", GROUPS_MESH, 2, 4,
     "{0,1,4,5} {2,3,6,7}", "a+c"},
    {"axes that XLA named itself", "mesh['axis_0'=4,'axis_1'=2] {'axis_1'}", GROUPS_MESH, 4, 2,
     "{0,1} {2,3} {4,5} {6,7}", "2 devices, stride 1"},
    {"a mesh of devices in another order",
     "mesh['x'=2,'y'=1,'z'=4], device_ids=([4,2]T(1,0)) {'x'}", GROUPS_MESH, 4, 2,
     "{0,1} {2,3} {4,5} {6,7}", "x"},
    {"... one by one", "mesh['x'=2,'y'=2], device_ids=(3,1,2,0) {'y'}", GROUPS_MESH, 2, 2,
     "{1,3} {0,2}", "y"},
    {"nothing", "", GROUPS_UNKNOWN, 0, 0, "", ""},
    {"no number", "{{0,x}}", GROUPS_UNKNOWN, 0, 0, "", ""},
    {"a negative number", "{{0,-1}}", GROUPS_UNKNOWN, 0, 0, "", ""},
    {"a number that does not fit", "{{0,99999999999999999999}}", GROUPS_UNKNOWN, 0, 0, "", ""},
    {"sizes that do not fit each other", "[2,4]<=[9]", GROUPS_UNKNOWN, 0, 0, "", ""},
    {"more than anyone has", "[1048576,1048576]<=[1048576,1048576]", GROUPS_UNKNOWN, 0, 0, "", ""},
    {"a size of nothing", "[0,4]<=[0]", GROUPS_UNKNOWN, 0, 0, "", ""},
    {"no order", "[2,4]<=[2,4]T(1,1)", GROUPS_UNKNOWN, 0, 0, "", ""},
    {"an order of too few", "[2,4]<=[2,4]T(0)", GROUPS_UNKNOWN, 0, 0, "", ""},
    {"groups of three dimensions", "[2,2,2]<=[8]", GROUPS_UNKNOWN, 0, 0, "", ""},
    {"too many dimensions", "[2,4]<=[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,8]", GROUPS_UNKNOWN, 0, 0, "",
     ""},
    {"an axis that is not there", "mesh['a'=2] {'b'}", GROUPS_UNKNOWN, 0, 0, "", ""},
    {"along no axis", "mesh['a'=2] {}", GROUPS_UNKNOWN, 0, 0, "", ""},
    {"an axis of nothing", "mesh['a'=0] {'a'}", GROUPS_UNKNOWN, 0, 0, "", ""},
    {"as many devices as the mesh does not hold", "mesh['a'=2], device_ids=([3]) {'a'}",
     GROUPS_UNKNOWN, 0, 0, "", ""},
    {"part of an axis", "mesh['a'=4] {'a':(1)2}", GROUPS_UNKNOWN, 0, 0, "", ""},
};

static void groups(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct replica_groups got = replica_groups_read(str_of(rows[i].text), arena);

        CHECK_INT(rows[i].what, got.form, rows[i].form);
        CHECK_INT(rows[i].what, got.group_count, rows[i].count);
        CHECK_INT(rows[i].what, got.size, rows[i].size);
        CHECK_STR(rows[i].what, replica_groups_members(&got, arena), rows[i].members);
        CHECK_STR(rows[i].what, replica_groups_name(&got, arena), rows[i].name);
        arena_destroy(arena);
    }
}

static void pairs(void **state)
{
    (void)state;
    static const struct {
        const char *what, *text;
        enum groups_form form;
        uint32_t count, size;
        const char *members;
    } made[] = {
        {"a ring", "{{0,1},{1,2},{2,0}}", GROUPS_PAIRS, 1, 3, "{0,1,2}"},
        {"two rings", "{{0,2},{2,4},{4,6},{6,0},{1,3},{3,5},{5,7},{7,1}}", GROUPS_PAIRS, 2, 4,
         "{0,2,4,6} {1,3,5,7}"},
        {"a chain that is joined late", "{{4,5},{0,1},{1,4}}", GROUPS_PAIRS, 1, 4, "{0,1,4,5}"},
        {"to itself", "{{3,3}}", GROUPS_PAIRS, 1, 1, "{3}"},
        {"one way", "{{0,1}}", GROUPS_PAIRS, 1, 2, "{0,1}"},
        {"no pairs", "{}", GROUPS_UNKNOWN, 0, 0, ""},
        {"three of one", "{{0,1,2}}", GROUPS_UNKNOWN, 0, 0, ""},
        {"one of a pair", "{{0,1},{2}}", GROUPS_UNKNOWN, 0, 0, ""},
        {"cut", "{{0,1},{2,", GROUPS_UNKNOWN, 0, 0, ""},
    };

    for (size_t i = 0; i < COUNT(made); i++) {
        struct arena *arena = arena_create();
        struct replica_groups got = replica_pairs_read(str_of(made[i].text), arena);

        CHECK_INT(made[i].what, got.form, made[i].form);
        CHECK_INT(made[i].what, got.group_count, made[i].count);
        CHECK_INT(made[i].what, got.size, made[i].size);
        CHECK_STR(made[i].what, replica_groups_members(&got, arena), made[i].members);
        arena_destroy(arena);
    }
}

static void of_device(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct replica_groups turned = replica_groups_read(STR("[2,4]<=[4,2]T(1,0)"), arena);
    struct replica_groups all = replica_groups_read(STR("{}"), arena);

    CHECK_INT("in the first", replica_group_of(&turned, 4), 0);
    CHECK_INT("in the second", replica_group_of(&turned, 5), 1);
    CHECK_INT("in none", replica_group_of(&turned, 8), REPLICA_NO_GROUP);
    CHECK_INT("a number of more than 32 bits", replica_group_of(&turned, UINT64_C(1) << 32),
              REPLICA_NO_GROUP);
    CHECK_INT("everybody's", replica_group_of(&all, 12345), 0);
    arena_destroy(arena);
}

static void meshes(void **state)
{
    (void)state;
    static const struct {
        const char *what, *module, *groups, *axes; /* groups or pairs=... */
    } made[] = {
        {"rings along an axis", "#sdy.mesh<[\"data\"=4, \"model\"=2]>",
         "pairs={{0,2},{2,4},{4,6},{6,0},{1,3},{3,5},{5,7},{7,1}}", "data"},
        {"a chain of all", "#sdy.mesh<[\"data\"=2, \"model\"=2]>", "pairs={{0,1},{1,2},{2,3}}",
         "data+model"},
        {"a pair of many", "#sdy.mesh<[\"data\"=4, \"model\"=2]>", "pairs={{0,2}}", ""},
        {"the first axis", "x #sdy.mesh<[\"data\"=4, \"model\"=2]> y", "[2,4]<=[4,2]T(1,0)",
         "data"},
        {"the last axis", "#sdy.mesh<[\"data\"=4, \"model\"=2]>", "{{0,1},{2,3},{4,5},{6,7}}",
         "model"},
        {"groups in another order", "#sdy.mesh<[\"data\"=4, \"model\"=2]>",
         "{{6,7},{0,1},{2,3},{4,5}}", "model"},
        {"all of it", "#sdy.mesh<[\"data\"=4, \"model\"=2]>", "[1,8]<=[8]", "data+model"},
        {"along none", "#sdy.mesh<[\"data\"=4, \"model\"=2]>", "{{0,3},{1,2},{4,7},{5,6}}", ""},
        {"of other devices", "#sdy.mesh<[\"data\"=4]>", "[2,4]<=[8]", ""},
        {"two meshes", "#sdy.mesh<[\"a\"=8]> #sdy.mesh<[\"b\"=8]>", "[1,8]<=[8]", ""},
        {"no mesh", "sdy.mesh", "[1,8]<=[8]", ""},
        {"a mesh that is cut", "#sdy.mesh<[\"a\"=", "[1,8]<=[8]", ""},
    };

    for (size_t i = 0; i < COUNT(made); i++) {
        struct arena *arena = arena_create();
        struct str module = str_of(made[i].module);
        struct str text = str_of(made[i].groups), mark = STR("pairs=");
        struct replica_groups groups = str_starts(text, mark)
                                           ? replica_pairs_read(str_skip(text, mark.count), arena)
                                           : replica_groups_read(text, arena);
        struct mesh mesh;
        struct bytes bytes = {(const uint8_t *)module.at, module.count};
        struct str axes = mesh_read(bytes, &mesh) ? mesh_axes_of(&mesh, &groups, arena) : STR("");

        CHECK_STR(made[i].what, axes, made[i].axes);
        arena_destroy(arena);
    }
}

/* Every prefix, and every byte replaced by what means something: memory is the sanitizer's. */
static void damaged(void **state)
{
    (void)state;
    static const char letters[] = "{}[]<=,T()0129'\"@m \\";

    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t count = strlen(rows[i].text);

        for (size_t cut = 0; cut <= count; cut++) {
            struct arena *arena = arena_create();
            char *text = arena_alloc(arena, 1, count + 1); /* a copy, so that its end is guarded */
            struct str whole = {text, cut};

            memcpy(text, rows[i].text, count);
            (void)replica_groups_read(whole, arena);
            (void)replica_pairs_read(whole, arena);
            for (size_t k = 0; cut < count && k < sizeof letters - 1; k++) {
                text[cut] = letters[k];
                struct replica_groups got = replica_groups_read((struct str){text, count}, arena);

                CHECK("ids belong to groups",
                      got.first == NULL || got.first[got.group_count] == got.id_count);
                (void)replica_groups_name(&got, arena);
                (void)replica_groups_members(&got, arena);
                (void)replica_pairs_read((struct str){text, count}, arena);
            }
            arena_destroy(arena);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups), cmocka_unit_test(pairs),   cmocka_unit_test(of_device),
        cmocka_unit_test(meshes), cmocka_unit_test(damaged),
    };

    return cmocka_run_group_tests_name("replica_groups", tests, NULL, NULL);
}

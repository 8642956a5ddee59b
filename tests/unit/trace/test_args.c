/* SPDX-License-Identifier: Apache-2.0 */
/* Args against a plain list of what was written. */
#include "trace/args/args_walk.h"

#include <stdlib.h>

#include "check.h"
#include "trace/args/args_block.h"
#include "trace/readers.h"

enum { NAME_COUNT = 100000, TYPE_COUNT = 5000 };

struct model { /* what was written */
    struct arg *args;
    uint32_t *first_arg; /* per event, and the end */
    type_id *types;
    uint32_t event_count, arg_count;
};

struct world {
    struct arena *arena;
    struct memory_blocks *blocks;
    struct error err;
    struct trace_parts parts;
    struct trace trace;
};

static uint64_t random_state;

static uint32_t random_below(uint32_t end)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)((random_state >> 33) % end);
}

typedef uint32_t make_args(uint32_t event, struct arg *ret, type_id *ret_type);

static uint32_t no_args(uint32_t event, struct arg *ret, type_id *ret_type)
{
    (void)event, (void)ret, (void)ret_type;
    return 0;
}

static uint32_t only_types(uint32_t event, struct arg *ret, type_id *ret_type)
{
    (void)ret;
    *ret_type = event % 7 == 0 ? 0 : random_below(TYPE_COUNT);
    return 0;
}

static uint32_t like_xla(uint32_t event, struct arg *ret, type_id *ret_type)
{
    *ret_type = 3;
    ret[0] = (struct arg){.key = 1, .type = ARG_INT64, .bits = 7};
    ret[1] = (struct arg){.key = 2, .type = ARG_UINT64, .bits = 1000 + 3 * (uint64_t)event};
    ret[2] = (struct arg){.key = 3, .type = ARG_STRING, .bits = random_below(500)};
    ret[3] = (struct arg){.key = 4, .type = ARG_UINT64, .bits = random_below(UINT32_MAX)};
    return event % 5 == 0 ? 0 : 2 + event % 3;
}

static uint32_t extremes(uint32_t event, struct arg *ret, type_id *ret_type)
{
    static const uint64_t edges[] = {
        0,   1,     UINT64_MAX, (uint64_t)INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX - 1, 255,
        256, 65535, 65536};

    *ret_type = 0;
    ret[0] = (struct arg){.key = 1, .type = ARG_INT64, .bits = edges[random_below(COUNT(edges))]};
    ret[1] = (struct arg){.key = 2, .type = ARG_UINT64, .bits = edges[event % COUNT(edges)]};
    ret[2] = (struct arg){.key = 3, .type = ARG_DOUBLE, .bits = (uint64_t)random_below(9) << 50};
    ret[3] = (struct arg){.key = 4, .type = ARG_INT64, .bits = (uint64_t) - (int64_t)event};
    return 4;
}

static uint32_t every_type_and_twice(uint32_t event, struct arg *ret, type_id *ret_type)
{
    uint32_t count = random_below(12);

    *ret_type = event % 2;
    for (uint32_t i = 0; i < count; i++)
        ret[i] = (struct arg){.key = random_below(3),
                              .type = (enum arg_type)(1 + random_below(ARG_JSON)),
                              .bits = random_below(NAME_COUNT)};
    return count;
}

static uint32_t a_hundred(uint32_t event, struct arg *ret, type_id *ret_type)
{
    *ret_type = 1;
    for (uint32_t i = 0; i < 100; i++)
        ret[i] = (struct arg){.key = i + event % 3, .type = ARG_INT64, .bits = i * event};
    return 100;
}

static uint32_t never_the_same_key(uint32_t event, struct arg *ret, type_id *ret_type)
{
    *ret_type = 0;
    for (uint32_t i = 0; i < 5; i++)
        ret[i] = (struct arg){.key = (event * 5 + i) % NAME_COUNT, .type = ARG_BOOL, .bits = i};
    return 5;
}

static struct model make_model(struct arena *arena, uint32_t event_count, make_args *make)
{
    struct model model = {.args = arena_array(arena, struct arg, event_count * 100),
                          .first_arg = arena_array(arena, uint32_t, event_count + 1),
                          .types = arena_array(arena, type_id, event_count),
                          .event_count = event_count};

    random_state = 1;
    for (uint32_t event = 0; event < event_count; event++) {
        model.arg_count += make(event, model.args + model.arg_count, &model.types[event]);
        model.first_arg[event + 1] = model.arg_count;
    }
    return model;
}

static void open_world(struct world *world)
{
    *world = (struct world){.arena = arena_create()};
    world->blocks = memory_blocks_create(world->arena);
    world->parts.in = memory_blocks_in(world->blocks);
    world->trace =
        (struct trace){.name_count = NAME_COUNT, .type_count = TYPE_COUNT, .parts = &world->parts};
}

static void write_model(struct world *world, const struct model *model)
{
    struct args_writer *writer = args_writer_create(memory_blocks_out(world->blocks), &world->err);

    for (uint32_t event = 0; event < model->event_count; event++) {
        args_writer_event(writer, model->types[event]);
        for (uint32_t i = model->first_arg[event]; i < model->first_arg[event + 1]; i++)
            args_writer_args(writer, &model->args[i], 1);
    }
    CHECK_OK("finish", args_writer_finish(writer, &world->err), &world->err);
    args_writer_destroy(writer);
    CHECK_OK("open", args_open(world->parts.in, world->arena, &world->parts.args, &world->err),
             &world->err);
}

static void check_args(const char *what, const struct arg *got, uint32_t got_count,
                       const struct model *model, uint32_t event)
{
    const struct arg *want = model->args + model->first_arg[event];
    uint32_t want_count = model->first_arg[event + 1] - model->first_arg[event];

    CHECK_INT(what, got_count, want_count);
    for (uint32_t i = 0; i < want_count; i++) {
        CHECK_INT(what, got[i].key, want[i].key);
        CHECK_INT(what, got[i].type, want[i].type);
        CHECK_INT(what, got[i].bits, want[i].bits);
    }
}

static void check_events(const char *what, const struct world *world, const struct model *model)
{
    struct arena *arena = arena_create();
    uint32_t step = 1 + model->event_count / 50;

    for (uint32_t event = 0; event < model->event_count; event += step) {
        struct arg *args;
        uint32_t count = trace_args(&world->trace, event, arena, &args);

        check_args(what, args, count, model, event);
        CHECK_INT(what, trace_type(&world->trace, event), model->types[event]);
    }
    arena_destroy(arena);
}

static void check_rows(const char *what, const struct world *world, const struct model *model)
{
    struct arena *arena = arena_create();
    struct arg_rows rows = {0};

    for (uint32_t event = 0; event < model->event_count; event++) {
        if (event == rows.first_event + rows.count) {
            arena_reset(arena);
            CHECK(what, trace_arg_rows(&world->trace, event, arena, &rows));
        }

        uint32_t index = event - rows.first_event;

        check_args(what, rows.args + rows.first_arg[index],
                   rows.first_arg[index + 1] - rows.first_arg[index], model, event);
    }
    CHECK(what, !trace_arg_rows(&world->trace, model->event_count, arena, &rows));
    arena_destroy(arena);
}

static struct arg first_of_key(const struct model *model, uint32_t event, name_id key)
{
    for (uint32_t i = model->first_arg[event]; i < model->first_arg[event + 1]; i++)
        if (model->args[i].key == key)
            return model->args[i];
    return (struct arg){.type = ARG_NONE};
}

static void check_column(const char *what, const struct world *world, const struct model *model,
                         name_id key)
{
    struct arg_column *column = malloc(sizeof(*column));
    uint32_t event = 0;

    for (uint32_t block = 0; block < trace_arg_block_count(&world->trace); block++) {
        type_id *types = malloc(ARGS_BLOCK_EVENTS * sizeof(*types));
        event_id first;
        uint32_t count = trace_arg_types(&world->trace, block, &first, types);
        bool found = trace_arg_column(&world->trace, block, key, column);

        CHECK_INT(what, first, event);
        for (uint32_t i = 0; i < count; i++, event++) {
            struct arg want = first_of_key(model, event, key);

            CHECK_INT(what, types[i], model->types[event]);
            CHECK_INT(what, found ? column->type[i] : ARG_NONE, want.type);
            CHECK_INT(what, found ? column->bits[i] : 0, want.bits);
            if (want.type != ARG_NONE)
                CHECK(what, trace_arg_block_may(&world->trace, block, key, want.type, want.bits));
        }
        free(types);
    }
    CHECK_INT(what, event, model->event_count);
    free(column);
}

/* Keys in another order than the events have them, one that none has, and one that is not asked. */
static void check_walk(const char *what, const struct world *world, const struct model *model,
                       uint32_t asked)
{
    const name_id keys[] = {4, 1, NO_KEY, 0, 3, 2};
    struct arg_walk *walk = arg_walk_create(&world->trace, keys, COUNT(keys));
    uint32_t event = 0;

    for (uint32_t block = 0; block < trace_arg_block_count(&world->trace); block++) {
        uint32_t found = arg_walk_open(walk, block, asked), seen = 0;

        CHECK_INT(what, walk->first_event, event);
        for (uint32_t i = 0; i < walk->count; i++, event++) {
            arg_walk_step(walk, i);
            CHECK_INT(what, walk->types[i], model->types[event]);
            for (uint32_t key = 0; key < COUNT(keys); key++) {
                struct arg want = first_of_key(model, event, keys[key]);
                bool has = arg_walk_has(walk, key);

                CHECK_INT(what, has, want.type != ARG_NONE && (asked >> key & 1) != 0);
                if (has) {
                    CHECK_INT(what, walk->type[key], want.type);
                    CHECK_INT(what, walk->bits[key], want.bits);
                }
            }
            seen |= walk->present;
        }
        CHECK_INT(what, found, seen);
    }
    CHECK_INT(what, event, model->event_count);
    arg_walk_destroy(walk);
}

static const struct {
    const char *what;
    uint32_t event_count;
    make_args *make;
} shapes[] = {
    {"no event at all", 0, no_args},
    {"one event without args", 1, no_args},
    {"no args, two blocks", 20000, no_args},
    {"only types", 20000, only_types},
    {"like xla", 50000, like_xla},
    {"exactly one block", 16384, like_xla},
    {"one event more", 16385, like_xla},
    {"extremes", 3000, extremes},
    {"every type, keys twice", 3000, every_type_and_twice},
    {"a hundred args", 3000, a_hundred},
    {"never the same key", 3000, never_the_same_key},
    {"values fill a block early", 16384, a_hundred},
};

static void what_was_written_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct world world;

        open_world(&world);
        struct model model = make_model(world.arena, shapes[i].event_count, shapes[i].make);

        write_model(&world, &model);
        check_events(shapes[i].what, &world, &model);
        check_rows(shapes[i].what, &world, &model);
        for (name_id key = 0; key < 5; key++)
            check_column(shapes[i].what, &world, &model, key);
        check_walk(shapes[i].what, &world, &model, UINT32_MAX);
        check_walk(shapes[i].what, &world, &model, 0x12);
        arena_destroy(world.arena);
    }
}

static uint64_t bytes_stored(const struct world *world)
{
    struct bytes table = world->parts.in.table(world->parts.in.from, TABLE_ARG_BLOCKS);
    const struct args_block_record *records = (const void *)table.at;
    uint64_t bytes = 0;

    for (size_t i = 0; i < table.count / sizeof(*records); i++)
        bytes += records[i].bytes;
    return bytes;
}

static void columns_are_narrow(void **state)
{
    (void)state;
    const struct {
        const char *what;
        make_args *make;
        uint64_t bytes_max; /* of 16,384 events */
    } rows[] = {
        {"no args: two heads", no_args, 2 * sizeof(struct args_column_head)},
        /* a constant, a steady step, 500 texts in 9 bits, random 32 bits in a third */
        {"like xla", like_xla, 16384 * 4},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world world;

        open_world(&world);
        struct model model = make_model(world.arena, 16384, rows[i].make);

        write_model(&world, &model);
        if (bytes_stored(&world) > rows[i].bytes_max)
            CHECK_INT(rows[i].what, bytes_stored(&world), rows[i].bytes_max);
        arena_destroy(world.arena);
    }
}

static void equal_input_has_equal_bytes(void **state)
{
    (void)state;
    struct world worlds[2];
    struct bytes tables[2];

    for (int i = 0; i < 2; i++) {
        open_world(&worlds[i]);
        struct model model = make_model(worlds[i].arena, 40000, every_type_and_twice);

        write_model(&worlds[i], &model);
        tables[i] = worlds[i].parts.in.table(worlds[i].parts.in.from, TABLE_ARG_BLOCKS);
    }
    CHECK_INT("bytes of the directory", tables[0].count, tables[1].count);
    CHECK("the directory", memcmp(tables[0].at, tables[1].at, tables[0].count) == 0);

    const struct args_block_record *records = (const void *)tables[0].at;

    for (size_t i = 0; i < tables[0].count / sizeof(*records); i++) {
        struct bytes blocks[2];

        for (int j = 0; j < 2; j++)
            blocks[j] = worlds[j].parts.in.data(worlds[j].parts.in.from, records[i].offset,
                                                records[i].bytes);
        CHECK("a block", memcmp(blocks[0].at, blocks[1].at, records[i].bytes) == 0);
    }
    for (int i = 0; i < 2; i++)
        arena_destroy(worlds[i].arena);
}

static void the_filter_says_no(void **state)
{
    (void)state;
    struct world world;

    open_world(&world);
    struct model model = make_model(world.arena, 16384, like_xla);

    write_model(&world, &model);
    const struct {
        const char *what;
        name_id key;
        enum arg_type type;
        uint64_t bits;
        bool may;
    } rows[] = {
        {"the constant", 1, ARG_INT64, 7, true},
        {"another value", 1, ARG_INT64, 8, false},
        {"a negative value", 1, ARG_INT64, (uint64_t)-7, false},
        {"another type", 1, ARG_UINT64, 7, false},
        {"another key", 77, ARG_INT64, 7, false},
        {"below the least", 2, ARG_UINT64, 999, false},
        {"between", 2, ARG_UINT64, 5001, true},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(rows[i].what,
                  trace_arg_block_may(&world.trace, 0, rows[i].key, rows[i].type, rows[i].bits),
                  rows[i].may);
    arena_destroy(world.arena);
}

static void too_many_args_are_refused(void **state)
{
    (void)state;
    struct world world;

    open_world(&world);
    struct args_writer *writer = args_writer_create(memory_blocks_out(world.blocks), &world.err);

    for (int event = 0; event < 3; event++) {
        args_writer_event(writer, 0);
        for (uint32_t i = 0; i < 40000; i++)
            args_writer_args(writer, &(struct arg){.key = i, .type = ARG_NULL}, 1);
    }
    CHECK_INT("status", args_writer_finish(writer, &world.err), ERR_LIMIT);
    CHECK_HAS("message", world.err.message, "more than 32768 args");
    args_writer_destroy(writer);
    arena_destroy(world.arena);
}

/* Every byte of a small block is changed in turn: reading stays within its memory. */
static void damage_is_survived(void **state)
{
    (void)state;
    struct world world;

    open_world(&world);
    struct model model = make_model(world.arena, 200, every_type_and_twice);

    write_model(&world, &model);
    struct bytes table = world.parts.in.table(world.parts.in.from, TABLE_ARG_BLOCKS);
    const struct args_block_record *record = (const void *)table.at;
    struct bytes data = world.parts.in.data(world.parts.in.from, record->offset, record->bytes);
    uint8_t *bytes = (uint8_t *)(uintptr_t)data.at;

    check_events("before, when the block is found whole", &world, &model);
    struct arg_column *column = malloc(sizeof(*column));

    for (size_t i = 0; i < data.count; i += 1 + data.count / 6000) {
        struct arena *arena = arena_create();
        struct arg *args;
        struct arg_rows rows;
        uint8_t flip = (uint8_t)(1 + random_below(255));

        bytes[i] ^= flip;
        trace_args(&world.trace, random_below(200), arena, &args);
        trace_arg_rows(&world.trace, 0, arena, &rows);
        trace_arg_column(&world.trace, 0, random_below(3), column);
        bytes[i] ^= flip;
        arena_destroy(arena);
    }
    check_events("after the damage is undone", &world, &model);
    free(column);
    arena_destroy(world.arena);
}

/* What is damaged before it is first read has no args, and the trace says so. */
static void damage_is_told(void **state)
{
    (void)state;
    struct world world;

    open_world(&world);
    struct model model = make_model(world.arena, 200, every_type_and_twice);

    write_model(&world, &model);
    struct bytes table = world.parts.in.table(world.parts.in.from, TABLE_ARG_BLOCKS);
    const struct args_block_record *record = (const void *)table.at;
    struct bytes data = world.parts.in.data(world.parts.in.from, record->offset, record->bytes);
    struct arg *args;

    ((uint8_t *)(uintptr_t)data.at)[data.count - 1] ^= 1;
    CHECK("nothing was read", !trace_damaged(&world.trace));
    CHECK_INT("args", trace_args(&world.trace, 0, world.arena, &args), 0);
    CHECK("damaged", trace_damaged(&world.trace));
    arena_destroy(world.arena);
}

static void a_broken_directory_is_refused(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct args_block_record record;
        enum status status;
    } rows[] = {
        {"sound", {.bytes = 112, .column_count = 2, .event_count = 5}, OK},
        {"no events", {.bytes = 112, .column_count = 2}, ERR_FORMAT},
        {"too many events", {.bytes = 112, .column_count = 2, .event_count = 99999}, ERR_FORMAT},
        {"a gap before",
         {.bytes = 112, .column_count = 2, .first_event = 1, .event_count = 5},
         ERR_FORMAT},
        {"one column", {.bytes = 112, .column_count = 1, .event_count = 5}, ERR_FORMAT},
        {"no room for the heads", {.bytes = 111, .column_count = 2, .event_count = 5}, ERR_FORMAT},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world world;
        struct bytes table = {.at = (const uint8_t *)&rows[i].record,
                              .count = sizeof(rows[i].record)};

        open_world(&world);
        struct block_out out = memory_blocks_out(world.blocks);

        CHECK_OK(rows[i].what, out.table(out.to, TABLE_ARG_BLOCKS, table, &world.err), &world.err);
        CHECK_INT(rows[i].what,
                  args_open(world.parts.in, world.arena, &world.parts.args, &world.err),
                  rows[i].status);
        arena_destroy(world.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(columns_are_narrow),
        cmocka_unit_test(equal_input_has_equal_bytes),
        cmocka_unit_test(the_filter_says_no),
        cmocka_unit_test(too_many_args_are_refused),
        cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(a_broken_directory_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

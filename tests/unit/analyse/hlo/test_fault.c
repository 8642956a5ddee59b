/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of modules as XLA compiles them: each kind with a module that has it, and one without. */
#include "check.h"

#include <math.h>

#include "analyse/hlo/fault.h"

/* What stands before the entry in all of them. */
#define INSIDES                                                                                    \
    "HloModule jit_f\n\n%sum (p: f32[], q: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n"         \
    "  %q = f32[] parameter(1)\n  ROOT %s = f32[] add(%p, %q)\n}\n\n"                              \
    "%sum_promoted (p: f32[], q: f32[]) -> f32[] {\n  %p.1 = f32[] parameter(0)\n"                 \
    "  %q.1 = f32[] parameter(1)\n  ROOT %s.1 = f32[] add(%p.1, %q.1)\n}\n\n"                      \
    "%widen (p: bf16[256,512]) -> f32[256,512] {\n  %p.2 = bf16[256,512]{1,0} parameter(0)\n"      \
    "  ROOT %c.2 = f32[256,512]{1,0} convert(%p.2)\n}\n\n"                                         \
    "%narrow (p: f32[256,512]) -> bf16[256,512] {\n  %p.3 = f32[256,512]{1,0} parameter(0)\n"      \
    "  ROOT %c.3 = bf16[256,512]{1,0} convert(%p.3)\n}\n\n"                                        \
    "%update (p: f32[256,512], q: f32[1,512], r: s32[]) -> f32[256,512] {\n"                       \
    "  %p.4 = f32[256,512]{1,0} parameter(0)\n  %q.4 = f32[1,512]{1,0} parameter(1)\n"             \
    "  %r.4 = s32[] parameter(2)\n"                                                                \
    "  ROOT %d.4 = f32[256,512]{1,0} dynamic-update-slice(%p.4, %q.4, %r.4, %r.4)\n}\n\n"          \
    "%part (p: f32[1024,512], q: s32[]) -> f32[256,512] {\n"                                       \
    "  %p.5 = f32[1024,512]{1,0} parameter(0)\n  %q.5 = s32[] parameter(1)\n"                      \
    "  ROOT %d.5 = f32[256,512]{1,0} dynamic-slice(%p.5, %q.5, %q.5), "                            \
    "dynamic_slice_sizes={256,512}\n}\n\n"                                                         \
    "%hot (p: s32[1024]) -> f32[1024,256] {\n  %p.6 = s32[1024]{0} parameter(0)\n"                 \
    "  %b.6 = s32[1024,256]{1,0} broadcast(%p.6), dimensions={0}\n"                                \
    "  %i.6 = s32[1024,256]{1,0} iota(), iota_dimension=1\n"                                       \
    "  %e.6 = pred[1024,256]{1,0} compare(%b.6, %i.6), direction=EQ\n"                             \
    "  ROOT %h.6 = f32[1024,256]{1,0} convert(%e.6)\n}\n\n"                                        \
    "%below (p: s32[1024]) -> f32[1024,256] {\n  %p.7 = s32[1024]{0} parameter(0)\n"               \
    "  %b.7 = s32[1024,256]{1,0} broadcast(%p.7), dimensions={0}\n"                                \
    "  %i.7 = s32[1024,256]{1,0} iota(), iota_dimension=1\n"                                       \
    "  %e.7 = pred[1024,256]{1,0} compare(%i.7, %b.7), direction=LT\n"                             \
    "  ROOT %h.7 = f32[1024,256]{1,0} convert(%e.7)\n}\n\n"                                        \
    "%again (p: f32[], q: f32[256,512]) -> f8e4m3fn[256,512] {\n  %p.8 = f32[] parameter(0)\n"     \
    "  %q.8 = f32[256,512]{1,0} parameter(1)\n"                                                    \
    "  %f.8 = f8e4m3fn[256,512]{1,0} convert(%q.8)\n"                                              \
    "  %w.8 = f32[256,512]{1,0} convert(%f.8)\n"                                                   \
    "  %b.8 = f32[256,512]{1,0} broadcast(%p.8), dimensions={}\n"                                  \
    "  %m.8 = f32[256,512]{1,0} multiply(%w.8, %b.8)\n"                                            \
    "  ROOT %l.8 = f8e4m3fn[256,512]{1,0} convert(%m.8)\n}\n\n"                                    \
    "%unlike (q: f32[256,512]) -> f8e4m3fn[256,512] {\n"                                           \
    "  %q.9 = f32[256,512]{1,0} parameter(0)\n"                                                    \
    "  %f.9 = f8e4m3fn[256,512]{1,0} convert(%q.9)\n"                                              \
    "  %w.9 = f32[256,512]{1,0} convert(%f.9)\n"                                                   \
    "  %m.9 = f32[256,512]{1,0} exponential(%w.9)\n"                                               \
    "  ROOT %l.9 = f8e4m3fn[256,512]{1,0} convert(%m.9)\n}\n\n"                                    \
    "%wide (p: f64[256,512]) -> f64[256] {\n  %p.a = f64[256,512]{1,0} parameter(0)\n"             \
    "  %t.a = f64[256,512]{1,0} tanh(%p.a)\n  %z.a = f64[] constant(0)\n"                          \
    "  ROOT %r.a = f64[256]{0} reduce(%t.a, %z.a), dimensions={1}, to_apply=%sum\n}\n\n"           \
    "%turn (t: (s32[], f32[256,512])) -> (s32[], f32[256,512]) {\n"                                \
    "  %t.b = (s32[], f32[256,512]{1,0}) parameter(0)\n"                                           \
    "  %n.b = s32[] get-tuple-element(%t.b), index=0\n"                                            \
    "  %v.b = f32[256,512]{1,0} get-tuple-element(%t.b), index=1\n"                                \
    "  %w.b = f32[256,512]{1,0} negate(%v.b)\n"                                                    \
    "  ROOT %o.b = (s32[], f32[256,512]{1,0}) tuple(%n.b, %w.b)\n}\n\n"                            \
    "%stay (t: (s32[], f32[256,512])) -> (s32[], f32[256,512]) {\n"                                \
    "  %t.c = (s32[], f32[256,512]{1,0}) parameter(0)\n"                                           \
    "  %n.c = s32[] get-tuple-element(%t.c), index=0\n"                                            \
    "  %v.c = f32[256,512]{1,0} get-tuple-element(%t.c), index=1\n"                                \
    "  ROOT %o.c = (s32[], f32[256,512]{1,0}) tuple(%n.c, %v.c)\n}\n\n"                            \
    "%more (t: (s32[], f32[256,512])) -> pred[] {\n"                                               \
    "  %t.d = (s32[], f32[256,512]{1,0}) parameter(0)\n"                                           \
    "  %n.d = s32[] get-tuple-element(%t.d), index=0\n"                                            \
    "  ROOT %l.d = pred[] compare(%n.d, %n.d), direction=LT\n}\n\n"                                \
    "ENTRY %main (x: f32[256,512]) -> f32[256,512] {\n"                                            \
    "  %x = f32[256,512]{1,0} parameter(0)\n  %y = f32[1,512]{1,0} parameter(1)\n"                 \
    "  %n = s32[] parameter(2)\n  %z = f32[] constant(0)\n"                                        \
    "  %h = bf16[256,512]{1,0} parameter(3)\n  %ids = s32[1024]{0} parameter(4)\n"                 \
    "  %table = f32[256,64]{1,0} parameter(5)\n  %m = f32[256,256]{1,0} parameter(6)\n"

#define COPY "  %copy.1 = f32[256,512]{1,0} copy(%x)\n"
#define WRITE(name, of) "f32[256,512]{1,0} dynamic-update-slice(" of ", %y, %n, %n)\n"
#define GATHER "f32[1024,512]{1,0} all-gather("
#define GROUPS "), replica_groups={{0,1,2,3}}, dimensions={0}\n"
#define SVD                                                                                        \
    "  %svd = (f32[256,256]{0,1}, f32[256]{0}, f32[256,256]{0,1}, f32[256,256]{0,1}, s32[]) "      \
    "custom-call(%m), custom_call_target=\"lapack_sgesdd_ffi\", backend_config={mode = "
#define VALUES "  ROOT %s.x = f32[256]{0} get-tuple-element(%svd), index=1\n"
#define LOOP                                                                                       \
    "  %tuple.1 = (s32[], f32[256,512]{1,0}) tuple(%n, %copy.1)\n"                                 \
    "  %while.1 = (s32[], f32[256,512]{1,0}) while(%tuple.1), condition=%more, body="
#define OUT "  ROOT %out = f32[256,512]{1,0} get-tuple-element(%while.1), index=1\n"

struct asked {
    const char *what, *entry;
    enum fault_kind kind;
    const char *instruction; /* "" no fault of that kind */
    double won;              /* NAN unknown */
};

static const struct asked rows[] = {
    {"an argument is written over", COPY "  ROOT %d = " WRITE("d", "%copy.1"), FAULT_UNDONATED_COPY,
     "copy.1", 1},
    {"in a fusion",
     COPY "  ROOT %d = f32[256,512]{1,0} fusion(%copy.1, %y, %n), kind=kLoop, calls=%update\n",
     FAULT_UNDONATED_COPY, "copy.1", 1},
    {"by a loop", COPY LOOP "%turn\n" OUT, FAULT_UNDONATED_COPY, "copy.1", 1},
    {"a loop gives it on", COPY LOOP "%stay\n" OUT, FAULT_UNDONATED_COPY, "", 0},
    {"nothing of its shape is returned",
     COPY "  %d = " WRITE("d", "%copy.1") "  ROOT %r = f32[256]{0} reduce(%d, %z), "
                                          "dimensions={1}, to_apply=%sum\n",
     FAULT_UNDONATED_COPY, "", 0},
    {"another layout", "  %copy.1 = f32[256,512]{0,1} copy(%x)\n  ROOT %d = " WRITE("d", "%copy.1"),
     FAULT_UNDONATED_COPY, "", 0},
    {"read as it was",
     "  %v = f32[256,512]{1,0} negate(%x)\n  %copy.2 = f32[256,512]{1,0} copy(%v)\n"
     "  %d = " WRITE("d", "%copy.2") "  ROOT %a = f32[256,512]{1,0} add(%d, %v)\n",
     FAULT_OVERWRITE_COPY, "copy.2", 1},
    {"nobody reads it",
     "  %v = f32[256,512]{1,0} negate(%x)\n  %copy.2 = f32[256,512]{1,0} copy(%v)\n"
     "  ROOT %d = " WRITE("d", "%copy.2"),
     FAULT_OVERWRITE_COPY, "", 0},
    {"returned twice",
     "  %v = f32[256,512]{1,0} negate(%x)\n  %copy.3 = f32[256,512]{1,0} copy(%v)\n"
     "  ROOT %t = (f32[256,512]{1,0}, f32[256,512]{1,0}) tuple(%v, %copy.3)\n",
     FAULT_RETURNED_COPY, "copy.3", 1},
    {"an argument returned", "  ROOT %copy.3 = f32[256,512]{1,0} copy(%x)\n", FAULT_RETURNED_COPY,
     "copy.3", 1},
    {"a result returned once",
     "  %v = f32[256,512]{1,0} negate(%x)\n  ROOT %copy.3 = f32[256,512]{1,0} copy(%v)\n",
     FAULT_RETURNED_COPY, "", 0},
    {"rows by a product",
     "  %one_hot = f32[1024,256]{1,0} fusion(%ids), kind=kLoop, calls=%hot\n"
     "  ROOT %dot = f32[1024,64]{1,0} dot(%one_hot, %table), lhs_contracting_dims={1}, "
     "rhs_contracting_dims={0}\n",
     FAULT_ONE_HOT_PRODUCT, "one_hot", 1},
    {"a mask",
     "  %mask = f32[1024,256]{1,0} fusion(%ids), kind=kLoop, calls=%below\n"
     "  ROOT %dot = f32[1024,64]{1,0} dot(%mask, %table), lhs_contracting_dims={1}, "
     "rhs_contracting_dims={0}\n",
     FAULT_ONE_HOT_PRODUCT, "", 0},
    {"a table", "  ROOT %c = f32[512,512]{1,0} constant({...})\n", FAULT_LARGE_CONSTANT, "c", NAN},
    {"a row", "  ROOT %c = f32[512]{0} constant({...})\n", FAULT_LARGE_CONSTANT, "", 0},
    {"singular values of all", SVD "65 : ui8}\n" VALUES, FAULT_UNUSED_VECTORS, "svd", NAN},
    {"of values alone", SVD "78 : ui8}\n" VALUES, FAULT_UNUSED_VECTORS, "", 0},
    {"vectors are read",
     SVD "65 : ui8}\n  ROOT %u.x = f32[256,256]{0,1} get-tuple-element(%svd), index=2\n",
     FAULT_UNUSED_VECTORS, "", 0},
    {"a loop", COPY LOOP "%turn\n" OUT, FAULT_LOOP, "while.1", 1},
    {"packed twice",
     "  ROOT %f = f8e4m3fn[256,512]{1,0} fusion(%z, %x), kind=kLoop, calls=%again\n",
     FAULT_DOUBLE_CAST, "f", NAN},
    {"packed twice, in two ops",
     "  %f.1 = f8e4m3fn[256,512]{1,0} convert(%x)\n  %w = bf16[256,512]{1,0} convert(%f.1)\n"
     "  ROOT %f.2 = f8e5m2[256,512]{1,0} convert(%w)\n",
     FAULT_DOUBLE_CAST, "f.2", 1},
    {"packed after exp",
     "  ROOT %f = f8e4m3fn[256,512]{1,0} fusion(%x), kind=kLoop, calls=%unlike\n",
     FAULT_DOUBLE_CAST, "", 0},
    {"f64",
     "  %w = f64[256,512]{1,0} convert(%x)\n"
     "  ROOT %r = f64[256]{0} fusion(%w), kind=kLoop, calls=%wide\n",
     FAULT_WIDENED_TO_F64, "w", 0.5},
    {"f64 from f64",
     "  %w = f64[256,512]{1,0} parameter(7)\n"
     "  ROOT %r = f64[256]{0} fusion(%w), kind=kLoop, calls=%wide\n",
     FAULT_WIDENED_TO_F64, "", 0},
    {"gathered twice",
     "  %g.1 = " GATHER "%x" GROUPS
     "  %nar = bf16[256,512]{1,0} fusion(%x), kind=kLoop, calls=%narrow\n"
     "  %g.2 = bf16[1024,512]{1,0} all-gather(%nar" GROUPS
     "  ROOT %t = (f32[1024,512]{1,0}, bf16[1024,512]{1,0}) tuple(%g.1, %g.2)\n",
     FAULT_REPEATED_GATHER, "g.2", 1},
    {"the one before is of the backward pass",
     "  %g.1 = " GATHER "%x), replica_groups={{0,1,2,3}}, dimensions={0}, "
     "metadata={op_name=\"jit(f)/rematted_computation/all_gather\"}\n  %g.2 = " GATHER "%x" GROUPS
     "  ROOT %t = (f32[1024,512]{1,0}, f32[1024,512]{1,0}) tuple(%g.1, %g.2)\n",
     FAULT_REPEATED_GATHER, "", 0},
    {"once more for the backward pass",
     "  %g.1 = " GATHER "%x" GROUPS "  %g.2 = " GATHER
     "%x), replica_groups={{0,1,2,3}}, dimensions={0}, "
     "metadata={op_name=\"jit(f)/rematted_computation/all_gather\"}\n"
     "  ROOT %t = (f32[1024,512]{1,0}, f32[1024,512]{1,0}) tuple(%g.1, %g.2)\n",
     FAULT_REPEATED_GATHER, "", 0},
    {"gathers what was bf16",
     "  %w = f32[256,512]{1,0} fusion(%h), kind=kLoop, calls=%widen\n  ROOT %g = " GATHER
     "%w" GROUPS,
     FAULT_WIDE_COLLECTIVE, "g", 0.5},
    {"takes its part",
     "  %g = " GATHER "%x" GROUPS
     "  ROOT %f = f32[256,512]{1,0} fusion(%g, %n), kind=kLoop, calls=%part\n",
     FAULT_WIDE_COLLECTIVE, "g", 0.75},
    {"takes its part of what was awaited",
     "  %g.s = (f32[256,512]{1,0}, f32[1024,512]{1,0}) all-gather-start(%x" GROUPS
     "  %g = f32[1024,512]{1,0} all-gather-done(%g.s)\n"
     "  ROOT %f = f32[256,512]{1,0} fusion(%g, %n), kind=kLoop, calls=%part\n",
     FAULT_WIDE_COLLECTIVE, "g.s", 0.75},
    {"sums it",
     "  %g = " GATHER "%x" GROUPS "  ROOT %r = f32[512]{0} reduce(%g, %z), "
     "dimensions={0}, to_apply=%sum\n",
     FAULT_WIDE_COLLECTIVE, "g", 1 - 1.0 / 1024},
    {"takes it all, and a part",
     "  %g = " GATHER "%x" GROUPS
     "  %f = f32[256,512]{1,0} fusion(%g, %n), kind=kLoop, calls=%part\n"
     "  ROOT %t = (f32[1024,512]{1,0}, f32[256,512]{1,0}) tuple(%g, %f)\n",
     FAULT_WIDE_COLLECTIVE, "", 0},
    {"sums, then takes its part",
     "  %a = f32[1024,512]{1,0} all-reduce(%big), replica_groups={{0,1,2,3}}, to_apply=%sum\n"
     "  ROOT %f = f32[256,512]{1,0} fusion(%a, %n), kind=kLoop, calls=%part\n",
     FAULT_WIDE_COLLECTIVE, "a", 0.5},
    {"sums in f32 between bf16",
     "  %w = f32[256,512]{1,0} fusion(%h), kind=kLoop, calls=%widen\n"
     "  %a = f32[256,512]{1,0} all-reduce(%w), replica_groups={{0,1,2,3}}, to_apply=%sum\n"
     "  ROOT %f = bf16[256,512]{1,0} fusion(%a), kind=kLoop, calls=%narrow\n",
     FAULT_WIDE_COLLECTIVE, "a", 0.5},
    {"the compiler widened it",
     "  %w = f32[256,512]{1,0} fusion(%h), kind=kLoop, calls=%widen\n"
     "  %a = f32[256,512]{1,0} all-reduce(%w), replica_groups={{0,1,2,3}}, "
     "to_apply=%sum_promoted\n"
     "  ROOT %f = bf16[256,512]{1,0} fusion(%a), kind=kLoop, calls=%narrow\n",
     FAULT_WIDE_COLLECTIVE, "", 0},
};

/* The first fault of that kind. */
static void look(const struct asked *row)
{
    struct arena *arena = arena_create();
    struct error err = {0};
    struct hlo_module module;
    struct faults faults;
    const struct fault *found = NULL;
    struct text text = {0};

    text_puts(&text, INSIDES "  %big = f32[1024,512]{1,0} parameter(8)\n");
    text_puts(&text, row->entry);
    text_puts(&text, "}\n");
    struct bytes blob = {.at = (const uint8_t *)text.at, .count = strlen(text.at)};
    CHECK_OK(row->what, hlo_module_read(blob, PROGRAM_TEXT, arena, &module, &err), &err);
    faults_find(&module, arena, &faults);
    for (uint32_t i = 0; i < faults.count && found == NULL; i++)
        if (faults.items[i].kind == row->kind)
            found = &faults.items[i];
    CHECK_STR(row->what, found == NULL ? STR("") : module.instructions[found->instruction].name,
              row->instruction);
    if (found != NULL)
        CHECK(row->what, isnan(row->won) ? isnan(found->won) : found->won == row->won);
    arena_destroy(arena);
    text_free(&text);
}

static void kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        look(&rows[i]);
}

/* Both the product and what makes its matrix. */
static void one_hot_and_product(void **state)
{
    (void)state;
    const struct asked row = {
        "product",
        "  %one_hot = f32[1024,256]{1,0} fusion(%ids), kind=kLoop, calls=%hot\n"
        "  ROOT %dot = f32[1024,64]{1,0} dot(%one_hot, %table), lhs_contracting_dims={1}, "
        "rhs_contracting_dims={0}\n",
        FAULT_ONE_HOT_PRODUCT, "", 0};
    struct arena *arena = arena_create();
    struct error err = {0};
    struct hlo_module module;
    struct faults faults;
    struct text text = {0};
    uint32_t count = 0;

    text_puts(&text, INSIDES);
    text_puts(&text, row.entry);
    text_puts(&text, "}\n");
    struct bytes blob = {.at = (const uint8_t *)text.at, .count = strlen(text.at)};
    CHECK_OK(row.what, hlo_module_read(blob, PROGRAM_TEXT, arena, &module, &err), &err);
    faults_find(&module, arena, &faults);
    for (uint32_t i = 0; i < faults.count; i++)
        count += faults.items[i].kind == FAULT_ONE_HOT_PRODUCT;
    CHECK_INT("two ops", count, 2);
    arena_destroy(arena);
    text_free(&text);
}

/* A module whose fusions hold themselves, and instructions that use themselves. */
static void hostile(void **state)
{
    (void)state;
    static const char text[] =
        "HloModule m\n\n%a (p: f32[256,512]) -> f32[256,512] {\n"
        "  %p = f32[256,512]{1,0} parameter(0)\n"
        "  ROOT %f = f32[256,512]{1,0} fusion(%f), kind=kLoop, calls=%a\n}\n\n"
        "ENTRY %main () -> f32[256,512] {\n"
        "  %c = f32[256,512]{1,0} copy(%c)\n"
        "  %g = f32[256,512]{1,0} all-gather(%g), dimensions={0}\n"
        "  %v = f8e4m3fn[256,512]{1,0} convert(%v)\n  %w = f64[256,512]{1,0} convert(%q)\n"
        "  %d = f32[256,512]{1,0} dot(%d), lhs_contracting_dims={9}\n"
        "  ROOT %t = f32[256,512]{1,0} tuple(%t, %c, %f)\n}\n";
    struct arena *arena = arena_create();
    struct error err = {0};
    struct hlo_module module;
    struct faults faults;
    struct bytes blob = BYTES(text);

    CHECK_OK("read", hlo_module_read(blob, PROGRAM_TEXT, arena, &module, &err), &err);
    faults_find(&module, arena, &faults);
    for (uint32_t i = 0; i < module.instruction_count; i++)
        CHECK("ends", fault_is_written_over(&module, i, arena) || true);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(one_hot_and_product),
        cmocka_unit_test(hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

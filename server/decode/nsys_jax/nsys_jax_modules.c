/* SPDX-License-Identifier: Apache-2.0 */
/* Modules of an archive of nsys-jax, also of one that several processes were combined into.
 *
 *   dump/module_0040.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb.xz          all have the same
 *   dump/module_0003.jit_g.sm_8.0_gpu_after_optimizations.hlo.pb.xz/proc0    each has its own
 *                                                                  /proc1
 *
 * The number is that of the process: 3 of one may be 5 of another, or another module altogether. A
 * module is told by what its computations hold. The first of a content keeps its number as the
 * program's id, unless another content has it already; the same content again is the same program.
 */
#include "base/hash.h"
#include "decode/hlo/hlo_name.h"
#include "decode/nsys_jax/nsys_jax.h"
#include "decode/protobuf.h"

enum { OTHER_IDS = 48 }; /* ids of programs whose number is taken lie above 2^48 */

/* Text behind the name, where it ends in it or names its directory. */
static bool cut_at(struct str name, struct str end, struct str *ret_before, struct str *ret_part)
{
    const char *slash = memrchr(name.at, '/', name.count);

    *ret_part = STR("");
    *ret_before = name;
    if (str_ends(name, end))
        return true;
    if (slash == NULL)
        return false;
    *ret_part = str_skip(name, (size_t)(slash + 1 - name.at));
    ret_before->count = (size_t)(slash - name.at);
    return str_ends(*ret_before, end);
}

static uint32_t part_of(struct nsys_jax *jax, struct str name)
{
    uint32_t part = 0;

    while (part < jax->part_count && !str_equal(jax->parts[part].name, name))
        part++;
    if (part == jax->part_count) {
        jax->parts = scratch_resize(jax->scratch, jax->parts, part + 1, sizeof *jax->parts);
        jax->parts[jax->part_count++] =
            (struct jax_part){.name = str_copy(jax->arena, name), .device = -1};
    }
    return part;
}

bool jax_is_named(struct nsys_jax *jax, struct str name, struct str end, uint32_t *ret_part)
{
    struct str before, part;

    if (!cut_at(name, end, &before, &part))
        return false;
    *ret_part = part_of(jax, part);
    return true;
}

/* Of its name and computations: what else differs between processes is numbers and devices. */
static uint64_t content_of(struct bytes proto)
{
    struct hlo_parts parts = hlo_parts_of(proto);
    struct hasher *hasher = hasher_create();
    struct error err = {0};
    struct pb pb = pb_open(parts.module, &err);

    pb.lenient = true;
    for (struct pb_field field; parts.module.at != NULL && pb_next(&pb, &field);)
        if (field.wire == PB_BYTES && (field.number == 1 || field.number == 3))
            hasher_put(hasher, field.bytes);
    return hasher_end(hasher).low;
}

/* The ordinal of the module's id; *ret_is_new: its content was not met before. */
static uint32_t ordinal_of(struct nsys_jax *jax, uint64_t content, uint64_t number,
                           bool *ret_is_new)
{
    uint32_t *known = pair_table_at(&jax->contents, content, 0);
    uint64_t id = number;

    *ret_is_new = *known == PAIR_NONE;
    if (!*ret_is_new)
        return *known;
    uint32_t ordinal = *known = jax->program_count++;
    for (uint64_t turn = 1; pair_table_find(&jax->ids, id, 0) != PAIR_NONE; turn++)
        id = (turn << OTHER_IDS) + number;
    *pair_table_at(&jax->ids, id, 0) = ordinal;
    jax->program_ids = scratch_resize(jax->scratch, jax->program_ids, jax->program_count,
                                      sizeof *jax->program_ids);
    jax->program_ids[ordinal] = id;
    return ordinal;
}

uint64_t jax_program_id(const struct nsys_jax *jax, uint32_t part, uint64_t number)
{
    uint32_t ordinal = pair_table_find(&jax->programs, part, number);

    if (ordinal == PAIR_NONE)
        ordinal = pair_table_find(&jax->programs, 0, number);
    return ordinal == PAIR_NONE ? number : jax->program_ids[ordinal];
}

struct module_entry {
    const struct archive_entry *entry;
    struct hlo_name name;
    uint32_t part;
    bool is_after;
};

static void note_limit(struct nsys_jax *jax)
{
    sink_note(jax->sink, "limit", NOTE_WARNING, 1,
              "A module of the archive is left out: it, or all modules together, exceed the size "
              "limit when unpacked.");
}

/* False: it is damaged. */
static bool read_proto(struct nsys_jax *jax, struct hlo_index *index,
                       const struct module_entry *module, struct bytes proto)
{
    uint64_t content = content_of(proto);
    uint64_t number = module->name.has_number ? module->name.number : content;
    struct hlo_source source = {.name = module->name.module, .stage = module->name.stage};
    bool is_new = true;

    if (module->is_after) {
        uint32_t ordinal = ordinal_of(jax, content, number, &is_new);
        *pair_table_at(&jax->programs, module->part, number) = ordinal;
    }
    source.id = jax_program_id(jax, module->part, number);
    return !is_new || hlo_decode(index, jax->sink, &source, proto);
}

/* What was unpacked of a module is given back before the next: the sink keeps what it needs. */
static void read_module(struct nsys_jax *jax, struct hlo_index *index, struct archive *archive,
                        const struct module_entry *module)
{
    struct arena *arena = arena_create();
    struct error err = {0};
    struct bytes proto;
    enum status status =
        archive_read(archive, module->entry, JAX_ENTRY_BYTES_MAX, arena, &proto, &err);

    if (status == ERR_LIMIT)
        note_limit(jax);
    else if (status != OK || !read_proto(jax, index, module, proto))
        sink_note(jax->sink, "corrupt", NOTE_WARNING, 1, "A module of the archive is damaged.");
    arena_destroy(arena);
}

static bool is_module(struct nsys_jax *jax, const struct archive_entry *entry,
                      struct module_entry *ret)
{
    struct str before, part;

    if (!cut_at(entry->name, STR(".hlo.pb.xz"), &before, &part) &&
        !cut_at(entry->name, STR(".hlo.pb"), &before, &part))
        return false;
    struct str base = path_base(before);
    *ret = (struct module_entry){
        .entry = entry,
        .name = hlo_name_of(base, STR("")),
        .part = part_of(jax, part),
        .is_after = str_contains(base, STR("after_optimizations")),
    };
    return true;
}

/* As they run first: what a thunk names is looked up in the first module of its number. Other
 * stages have the same number, and an index that nobody asks. */
void jax_read_modules(struct nsys_jax *jax, struct archive *archive)
{
    struct hlo_index unasked = {0};
    struct module_entry module;

    for (int after = 1; after >= 0; after--)
        for (uint32_t at = 0; at < archive->count && !sink_failed(jax->sink); at++)
            if (is_module(jax, &archive->entries[at], &module) && module.is_after == (after == 1))
                read_module(jax, after == 1 ? &jax->hlo : &unasked, archive, &module);
    hlo_index_free(&unasked);
}

void jax_modules_free(struct nsys_jax *jax)
{
    hlo_index_free(&jax->hlo);
    pair_table_free(&jax->programs);
    pair_table_free(&jax->ids);
    pair_table_free(&jax->contents);
    for (uint32_t part = 0; part < jax->part_count; part++)
        pair_table_free(&jax->parts[part].thread_rows);
}

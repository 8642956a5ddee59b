/* SPDX-License-Identifier: Apache-2.0 */
/* Groups along the axes of a mesh, and what groups are called. */
#include "analyse/hlo/replica_parts.h"

/* 'data' or "data" or data. */
static struct str take_axis(struct replica_cursor *cursor)
{
    size_t count = 0;

    replica_skip_blanks(cursor);
    char quote = cursor->left.count > 0 ? cursor->left.at[0] : 0;
    if (quote == '\'' || quote == '"')
        cursor->left = str_skip(cursor->left, 1);
    else
        quote = 0;
    while (count < cursor->left.count &&
           (quote != 0 ? cursor->left.at[count] != quote
                       : memchr(",=]}:\">) ", cursor->left.at[count], 9) == NULL))
        count++;
    struct str name = {cursor->left.at, count};
    cursor->failed |= count == 0 || count == cursor->left.count;
    cursor->left = str_skip(cursor->left, count + (quote != 0));
    return name;
}

/* 'data'=4,'model'=2] */
static void take_axes(struct replica_cursor *cursor, struct mesh *ret)
{
    *ret = (struct mesh){0};
    while (!cursor->failed && !replica_take(cursor, STR("]"))) {
        if (ret->axis_count == COUNT(ret->axes)) {
            cursor->failed = true;
            break;
        }
        if (ret->axis_count > 0)
            replica_expect(cursor, STR(","));
        struct mesh_axis *axis = &ret->axes[ret->axis_count++];
        axis->name = take_axis(cursor);
        replica_expect(cursor, STR("="));
        axis->size = replica_take_number(cursor);
        cursor->failed |= axis->size == 0;
    }
    cursor->failed |= ret->axis_count == 0;
}

/* Which axes: bits. A part of an axis ("data":(1)2) is not read. */
static uint32_t take_chosen(struct replica_cursor *cursor, const struct mesh *mesh)
{
    uint32_t chosen = 0;

    replica_expect(cursor, STR("{"));
    for (bool any = false; !cursor->failed && !replica_take(cursor, STR("}")); any = true) {
        if (any)
            replica_expect(cursor, STR(","));
        struct str name = take_axis(cursor);
        uint32_t at = 0;
        while (at < mesh->axis_count && !str_equal(mesh->axes[at].name, name))
            at++;
        if (at == mesh->axis_count)
            cursor->failed = true;
        else
            chosen |= 1u << at;
    }
    return chosen;
}

static struct str chosen_name(const struct mesh *mesh, uint32_t chosen, struct arena *arena)
{
    struct str name = {0};

    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        struct str digits = mesh->axes[i].name;
        uint64_t number;

        /* "axis_0" is XLA's own: it says nothing. */
        if ((chosen >> i & 1) != 0 && str_starts(digits, STR("axis_")) &&
            str_to_u64(str_skip(digits, 5), &number))
            return (struct str){0};
    }
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        if ((chosen >> i & 1) != 0)
            name = name.count == 0
                       ? str_copy(arena, mesh->axes[i].name)
                       : str_format(arena, "%.*s+%.*s", STR_ARG(name), STR_ARG(mesh->axes[i].name));
    return name;
}

static bool mesh_size(const struct mesh *mesh, uint32_t sizes[COUNT(mesh->axes)], uint32_t *ret)
{
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        sizes[i] = mesh->axes[i].size;
    return replica_product(sizes, mesh->axis_count, ret);
}

/* Groups along the chosen axes; `devices` stand in the mesh in that order, NULL: 0, 1, 2 ... */
static struct replica_groups along_axes(const struct mesh *mesh, uint32_t chosen,
                                        const uint32_t *devices, struct arena *arena)
{
    uint32_t sizes[COUNT(mesh->axes)], order[COUNT(mesh->axes)], rank = 0, count, columns = 1;

    if (!mesh_size(mesh, sizes, &count))
        return (struct replica_groups){0};
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        if ((chosen >> i & 1) == 0)
            order[rank++] = i;
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        if ((chosen >> i & 1) != 0) {
            order[rank++] = i;
            columns *= sizes[i];
        }
    uint32_t *ids = arena_array(arena, uint32_t, count);
    replica_number_turned(sizes, order, rank, count, ids);
    for (uint32_t i = 0; devices != NULL && i < count; i++)
        ids[i] = devices[ids[i]];
    return replica_cut_into_rows(ids, count / columns, columns, GROUPS_MESH, arena);
}

/* ", device_ids=([4,2]T(1,0))": how many stand there has to be how many the mesh holds. */
static const uint32_t *take_devices(struct replica_cursor *cursor, const struct mesh *mesh,
                                    struct arena *arena)
{
    uint32_t sizes[COUNT(mesh->axes)], wanted, count = 0, *ids = NULL;

    if (!replica_take(cursor, STR(",")))
        return NULL;
    replica_expect(cursor, STR("device_ids=("));
    cursor->failed |= !mesh_size(mesh, sizes, &wanted);
    if (cursor->failed)
        return NULL;
    if (replica_sees(cursor, STR("["))) {
        ids = replica_take_array(cursor, arena, &count);
    } else {
        ids = arena_array(arena, uint32_t, wanted);
        for (; count < wanted && !cursor->failed; count++) {
            if (count > 0)
                replica_expect(cursor, STR(","));
            ids[count] = replica_take_number(cursor);
        }
    }
    replica_expect(cursor, STR(")"));
    cursor->failed |= count != wanted;
    return ids;
}

struct replica_groups replica_read_mesh(struct replica_cursor *cursor, struct arena *arena)
{
    struct mesh mesh;

    take_axes(cursor, &mesh);
    const uint32_t *devices = take_devices(cursor, &mesh, arena);
    uint32_t chosen = take_chosen(cursor, &mesh);
    if (cursor->failed || chosen == 0)
        return (struct replica_groups){0};
    struct replica_groups ret = along_axes(&mesh, chosen, devices, arena);
    if (ret.form != GROUPS_UNKNOWN)
        ret.axes = chosen_name(&mesh, chosen, arena);
    return ret;
}

bool mesh_read(struct bytes module, struct mesh *ret)
{
    static const char mark[] = "#sdy.mesh<[";
    uint32_t found = 0;

    *ret = (struct mesh){0};
    for (const uint8_t *at = module.at, *end = module.at + module.count; at < end;) {
        const uint8_t *next = memmem(at, (size_t)(end - at), mark, sizeof mark - 1);
        struct mesh mesh;

        if (next == NULL)
            break;
        at = next + sizeof mark - 1;
        struct replica_cursor cursor = {.left = {(const char *)at, (size_t)(end - at)}};
        take_axes(&cursor, &mesh);
        if (!cursor.failed && found++ == 0)
            *ret = mesh;
    }
    return found == 1;
}

static bool same_groups(const struct replica_groups *one, const struct replica_groups *other)
{
    if (one->group_count != other->group_count || one->id_count != other->id_count ||
        one->first == NULL || other->first == NULL)
        return false;
    for (uint32_t i = 0; i < one->group_count; i++) { /* groups may stand in another order */
        uint32_t size = one->first[i + 1] - one->first[i];
        uint32_t at =
            size == 0 ? REPLICA_NO_GROUP : replica_group_of(other, one->ids[one->first[i]]);

        if (at == REPLICA_NO_GROUP || other->first[at + 1] - other->first[at] != size ||
            memcmp(&one->ids[one->first[i]], &other->ids[other->first[at]],
                   size * sizeof(*one->ids)) != 0)
            return false;
    }
    return true;
}

struct str mesh_axes_of(const struct mesh *mesh, const struct replica_groups *groups,
                        struct arena *arena)
{
    enum { COMPARED_MAX = 4096 }; /* groups of a larger program keep their numbers */

    if (groups->axes.count > 0 || groups->size < 2 || groups->first == NULL ||
        groups->id_count > COMPARED_MAX)
        return groups->axes;
    uint32_t sizes[COUNT(mesh->axes)], count;
    if (!mesh_size(mesh, sizes, &count) || count != groups->id_count)
        return (struct str){0};
    for (uint32_t chosen = 1; chosen < 1u << mesh->axis_count; chosen++) {
        struct replica_groups along = along_axes(mesh, chosen, NULL, arena);

        if (same_groups(groups, &along))
            return chosen_name(mesh, chosen, arena);
    }
    return (struct str){0};
}

/* What neighbours of every group are apart by; 0 where it differs. */
static uint32_t stride_of(const struct replica_groups *groups)
{
    uint32_t stride = 0;

    for (uint32_t i = 0; groups->first != NULL && i < groups->group_count; i++)
        for (uint32_t k = groups->first[i] + 1; k < groups->first[i + 1]; k++) {
            uint32_t apart = groups->ids[k] - groups->ids[k - 1];

            if (stride != 0 && apart != stride)
                return 0;
            stride = apart;
        }
    return stride;
}

struct str replica_groups_name(const struct replica_groups *groups, struct arena *arena)
{
    if (groups->axes.count > 0)
        return groups->axes;
    if (groups->form == GROUPS_EVERYBODY)
        return STR("all devices");
    if (groups->form == GROUPS_UNKNOWN)
        return (struct str){0};
    const char *word = groups->size == 1 ? "device" : "devices";
    if (groups->group_count == 1 && groups->form != GROUPS_PAIRS)
        return str_format(arena, "all %u %s", groups->size, word);
    if (groups->first != NULL && groups->id_count != groups->group_count * groups->size)
        return str_format(arena, "%u groups of up to %u", groups->group_count, groups->size);
    uint32_t stride = stride_of(groups);
    if (stride == 0)
        return str_format(arena, "%u %s", groups->size, word);
    return str_format(arena, "%u %s, stride %u", groups->size, word, stride);
}

struct str replica_groups_members(const struct replica_groups *groups, struct arena *arena)
{
    enum { LETTERS_MAX = 400 };
    struct text out = {0};

    for (uint32_t i = 0; groups->first != NULL && i < groups->group_count; i++) {
        if (out.count > LETTERS_MAX) {
            text_putf(&out, " ... %u groups in all", groups->group_count);
            break;
        }
        text_puts(&out, i > 0 ? " {" : "{");
        for (uint32_t k = groups->first[i]; k < groups->first[i + 1]; k++) {
            if (out.count > LETTERS_MAX) {
                text_putf(&out, ", ... %u", groups->ids[groups->first[i + 1] - 1]);
                break;
            }
            text_putf(&out, "%s%u", k > groups->first[i] ? "," : "", groups->ids[k]);
        }
        text_puts(&out, "}");
    }
    struct str ret = str_copy(arena, text_str(&out));
    text_free(&out);
    return ret;
}

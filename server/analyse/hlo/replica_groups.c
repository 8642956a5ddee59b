/* SPDX-License-Identifier: Apache-2.0 */
/* A parser of replica_groups and source_target_pairs, in all forms that XLA prints. Facts: XLA's
 * HLO printer and parser. */
#include "analyse/hlo/replica_parts.h"

#include <stdlib.h>

void replica_skip_blanks(struct replica_cursor *cursor)
{
    while (cursor->left.count > 0 && cursor->left.at[0] == ' ')
        cursor->left = str_skip(cursor->left, 1);
}

bool replica_sees(struct replica_cursor *cursor, struct str word)
{
    replica_skip_blanks(cursor);
    return !cursor->failed && str_starts(cursor->left, word);
}

bool replica_take(struct replica_cursor *cursor, struct str word)
{
    if (!replica_sees(cursor, word))
        return false;
    cursor->left = str_skip(cursor->left, word.count);
    return true;
}

void replica_expect(struct replica_cursor *cursor, struct str word)
{
    if (!replica_take(cursor, word))
        cursor->failed = true;
}

uint32_t replica_take_number(struct replica_cursor *cursor)
{
    uint32_t value = 0, digits = 0;

    replica_skip_blanks(cursor);
    for (; digits < cursor->left.count; digits++) {
        char letter = cursor->left.at[digits];

        if (letter < '0' || letter > '9')
            break;
        value = value * 10 + (uint32_t)(letter - '0');
        if (value >= REPLICA_IDS_MAX) {
            cursor->failed = true;
            return 0;
        }
    }
    cursor->failed |= digits == 0;
    cursor->left = str_skip(cursor->left, digits);
    return value;
}

/* "1,2,3" up to `close`; how many. */
static uint32_t take_numbers(struct replica_cursor *cursor, struct str close,
                             uint32_t ret[REPLICA_RANK_MAX])
{
    uint32_t count = 0;

    while (!cursor->failed && !replica_take(cursor, close)) {
        if (count > 0)
            replica_expect(cursor, STR(","));
        if (count == REPLICA_RANK_MAX) {
            cursor->failed = true;
            break;
        }
        ret[count++] = replica_take_number(cursor);
    }
    return cursor->failed ? 0 : count;
}

struct gathered { /* on the heap while it grows */
    uint32_t *ids, *first;
    uint32_t id_count, group_count, id_capacity, group_capacity;
};

static void add_id(struct gathered *gathered, uint32_t id, struct replica_cursor *cursor)
{
    if (gathered->id_count == REPLICA_IDS_MAX) {
        cursor->failed = true;
        return;
    }
    if (gathered->id_count == gathered->id_capacity) {
        gathered->id_capacity = gathered->id_capacity == 0 ? 16 : 2 * gathered->id_capacity;
        gathered->ids = memory_resize(gathered->ids, gathered->id_capacity, sizeof(*gathered->ids));
    }
    gathered->ids[gathered->id_count++] = id;
}

static void begin_group(struct gathered *gathered, struct replica_cursor *cursor)
{
    if (gathered->group_count == REPLICA_IDS_MAX) {
        cursor->failed = true;
        return;
    }
    if (gathered->group_count + 1 >= gathered->group_capacity) {
        gathered->group_capacity =
            gathered->group_capacity == 0 ? 16 : 2 * gathered->group_capacity;
        gathered->first =
            memory_resize(gathered->first, gathered->group_capacity, sizeof(*gathered->first));
    }
    gathered->first[gathered->group_count++] = gathered->id_count;
    gathered->first[gathered->group_count] = gathered->id_count;
}

/* "{{0,1},{2,3}}": groups of any size. */
static void take_groups(struct replica_cursor *cursor, struct gathered *ret)
{
    replica_expect(cursor, STR("{"));
    while (!cursor->failed && !replica_take(cursor, STR("}"))) {
        if (ret->group_count > 0)
            replica_expect(cursor, STR(","));
        replica_expect(cursor, STR("{"));
        begin_group(ret, cursor);
        for (bool any = false; !cursor->failed && !replica_take(cursor, STR("}")); any = true) {
            if (any)
                replica_expect(cursor, STR(","));
            uint32_t id = replica_take_number(cursor);
            if (!cursor->failed)
                add_id(ret, id, cursor);
        }
        if (!cursor->failed)
            ret->first[ret->group_count] = ret->id_count;
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* Moves what was gathered into the arena, members in order. */
static struct replica_groups settle(struct gathered *gathered, enum groups_form form, bool failed,
                                    struct arena *arena)
{
    struct replica_groups ret = {.form = form, .group_count = gathered->group_count};

    if (failed) {
        ret = (struct replica_groups){0};
    } else if (gathered->group_count > 0) {
        uint32_t *ids = arena_array(arena, uint32_t, (size_t)gathered->id_count + 1);
        uint32_t *first = arena_array(arena, uint32_t, (size_t)gathered->group_count + 1);

        if (gathered->id_count > 0)
            memcpy(ids, gathered->ids, gathered->id_count * sizeof(*ids));
        memcpy(first, gathered->first, ((size_t)gathered->group_count + 1) * sizeof(*first));
        for (uint32_t i = 0; i < gathered->group_count; i++) {
            uint32_t size = first[i + 1] - first[i];

            qsort(ids + first[i], size, sizeof(*ids), by_number);
            ret.size = size > ret.size ? size : ret.size;
        }
        ret.ids = ids;
        ret.first = first;
        ret.id_count = gathered->id_count;
    }
    free(gathered->ids);
    free(gathered->first);
    return ret;
}

static struct replica_groups read_list(struct replica_cursor *cursor, struct arena *arena)
{
    struct gathered gathered = {0};

    take_groups(cursor, &gathered);
    if (!cursor->failed && gathered.group_count == 0)
        return (struct replica_groups){.form = GROUPS_EVERYBODY, .group_count = 1};
    return settle(&gathered, GROUPS_LISTED, cursor->failed, arena);
}

bool replica_product(const uint32_t *sizes, uint32_t count, uint32_t *ret)
{
    uint64_t product = 1;

    for (uint32_t i = 0; i < count; i++) {
        product *= sizes[i];
        if (product == 0 || product > REPLICA_IDS_MAX)
            return false;
    }
    *ret = (uint32_t)product;
    return true;
}

static bool is_permutation(const uint32_t *order, uint32_t count)
{
    uint32_t seen = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (order[i] >= count || (seen >> order[i] & 1) != 0)
            return false;
        seen |= 1u << order[i];
    }
    return true;
}

void replica_number_turned(const uint32_t *sizes, const uint32_t *order, uint32_t rank,
                           uint32_t count, uint32_t *ret)
{
    uint32_t strides[REPLICA_RANK_MAX], at[REPLICA_RANK_MAX] = {0}, stride = 1;

    for (uint32_t i = rank; i > 0; i--) {
        strides[i - 1] = stride;
        stride *= sizes[i - 1];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = 0;

        for (uint32_t k = 0; k < rank; k++)
            id += at[k] * strides[order[k]];
        ret[i] = id;
        for (uint32_t k = rank; k > 0; k--) {
            if (++at[k - 1] < sizes[order[k - 1]])
                break;
            at[k - 1] = 0;
        }
    }
}

struct replica_groups replica_cut_into_rows(uint32_t *ids, uint32_t rows, uint32_t columns,
                                            enum groups_form form, struct arena *arena)
{
    uint32_t *first = arena_array(arena, uint32_t, (size_t)rows + 1);

    for (uint32_t i = 0; i < rows; i++) {
        first[i + 1] = (i + 1) * columns;
        qsort(ids + first[i], columns, sizeof(*ids), by_number);
    }
    return (struct replica_groups){.form = form,
                                   .group_count = rows,
                                   .size = columns,
                                   .first = first,
                                   .ids = ids,
                                   .id_count = rows * columns};
}

uint32_t *replica_take_array(struct replica_cursor *cursor, struct arena *arena,
                             uint32_t *ret_count)
{
    uint32_t sizes[REPLICA_RANK_MAX], order[REPLICA_RANK_MAX];

    replica_expect(cursor, STR("["));
    uint32_t rank = take_numbers(cursor, STR("]"), sizes);
    for (uint32_t i = 0; i < rank; i++)
        order[i] = i;
    if (replica_take(cursor, STR("T"))) {
        replica_expect(cursor, STR("("));
        cursor->failed |= take_numbers(cursor, STR(")"), order) != rank;
    }
    cursor->failed |=
        rank == 0 || !is_permutation(order, rank) || !replica_product(sizes, rank, ret_count);
    if (cursor->failed)
        return NULL;
    uint32_t *ids = arena_array(arena, uint32_t, *ret_count);
    replica_number_turned(sizes, order, rank, *ret_count, ids);
    return ids;
}

static struct replica_groups read_iota(struct replica_cursor *cursor, struct arena *arena)
{
    uint32_t shape[REPLICA_RANK_MAX], count = 0, shaped = 0;

    replica_expect(cursor, STR("["));
    uint32_t rank = take_numbers(cursor, STR("]"), shape);
    replica_expect(cursor, STR("<="));
    uint32_t *ids = replica_take_array(cursor, arena, &count);
    if (ids == NULL || rank != 2 || !replica_product(shape, 2, &shaped) || shaped != count)
        return (struct replica_groups){0};
    return replica_cut_into_rows(ids, shape[0], shape[1], GROUPS_IOTA, arena);
}

struct replica_groups replica_groups_read(struct str text, struct arena *arena)
{
    struct replica_cursor cursor = {.left = text};

    if (replica_take(&cursor, STR("@mesh[")) || replica_take(&cursor, STR("mesh[")))
        return replica_read_mesh(&cursor, arena);
    return replica_sees(&cursor, STR("[")) ? read_iota(&cursor, arena) : read_list(&cursor, arena);
}

static uint32_t root_of(uint32_t *parents, uint32_t at)
{
    while (parents[at] != at) {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    return at;
}

/* Distinct ids of the pairs, and for each the smallest place that it is connected to. */
static void connect(const struct gathered *pairs, uint32_t *ids, uint32_t *count, uint32_t *parents)
{
    uint32_t distinct = 0;

    memcpy(ids, pairs->ids, pairs->id_count * sizeof(*ids));
    qsort(ids, pairs->id_count, sizeof(*ids), by_number);
    for (uint32_t i = 0; i < pairs->id_count; i++)
        if (distinct == 0 || ids[distinct - 1] != ids[i])
            ids[distinct++] = ids[i];
    for (uint32_t i = 0; i < distinct; i++)
        parents[i] = i;
    for (uint32_t i = 0; i + 1 < pairs->id_count; i += 2) {
        uint32_t *one = bsearch(&pairs->ids[i], ids, distinct, sizeof(*ids), by_number);
        uint32_t *other = bsearch(&pairs->ids[i + 1], ids, distinct, sizeof(*ids), by_number);
        uint32_t a = root_of(parents, (uint32_t)(one - ids));
        uint32_t b = root_of(parents, (uint32_t)(other - ids));

        parents[a > b ? a : b] = a > b ? b : a;
    }
    *count = distinct;
}

/* Who is connected is a group: nobody of it can be done before its neighbours came. */
static void group_connected(const struct gathered *pairs, struct gathered *ret,
                            struct replica_cursor *cursor)
{
    uint32_t count, *ids = memory_resize(NULL, pairs->id_count, sizeof(*ids));
    uint32_t *parents = memory_resize(NULL, pairs->id_count, sizeof(*parents));
    uint32_t *sizes, *place;

    connect(pairs, ids, &count, parents);
    sizes = memory_zeroed((size_t)count + 1, sizeof(*sizes));
    place = memory_resize(NULL, count, sizeof(*place));
    for (uint32_t i = 0; i < count; i++)
        sizes[root_of(parents, i)]++;
    for (uint32_t i = 0; i < count; i++) {
        if (root_of(parents, i) != i)
            continue;
        begin_group(ret, cursor);
        place[i] = ret->id_count;
        for (uint32_t k = 0; k < sizes[i]; k++)
            add_id(ret, 0, cursor);
        ret->first[ret->group_count] = ret->id_count;
    }
    for (uint32_t i = 0; i < count; i++)
        ret->ids[place[root_of(parents, i)]++] = ids[i];
    free(ids);
    free(parents);
    free(sizes);
    free(place);
}

struct replica_groups replica_pairs_read(struct str text, struct arena *arena)
{
    struct replica_cursor cursor = {.left = text};
    struct gathered pairs = {0}, groups = {0};

    take_groups(&cursor, &pairs);
    for (uint32_t i = 0; i < pairs.group_count && !cursor.failed; i++)
        cursor.failed |= pairs.first[i + 1] - pairs.first[i] != 2;
    if (!cursor.failed && pairs.id_count > 0)
        group_connected(&pairs, &groups, &cursor);
    free(pairs.ids);
    free(pairs.first);
    return settle(&groups, GROUPS_PAIRS, cursor.failed || groups.group_count == 0, arena);
}

uint32_t replica_group_of(const struct replica_groups *groups, uint64_t id)
{
    if (groups->form == GROUPS_EVERYBODY)
        return 0;
    for (uint32_t i = 0; groups->first != NULL && i < groups->group_count; i++) {
        uint32_t wanted = (uint32_t)id;

        if (id < REPLICA_IDS_MAX &&
            bsearch(&wanted, groups->ids + groups->first[i],
                    groups->first[i + 1] - groups->first[i], sizeof(wanted), by_number) != NULL)
            return i;
    }
    return REPLICA_NO_GROUP;
}

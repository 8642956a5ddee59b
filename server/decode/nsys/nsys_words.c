/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of an export, by their numbers.
 *
 *   StringIds   id  value          names of kernels, calls, threads, ranges; also what the program
 *                                  printed and paths of its files, so that only what an event
 *                                  refers to is ever read
 *   ENUM_...    id  name  label    words for codes; exports before 2021 have none
 */
#include "decode/nsys/nsys.h"

enum { LABELS_MAX = 4096 };

void nsys_words_open(struct nsys *nsys)
{
    struct nsys_table *table = nsys_table_find(&nsys->db, STR("StringIds"));

    if (table == NULL || !nsys_table_has(table, STR("value")) || !nsys_table_has(table, STR("id")))
        return;
    if (str_equal(table->row_number, STR("id")))
        nsys->words.by_id = nsys_rows_open(&nsys->db, table, "\"value\"", "WHERE \"id\" = ?");
    else
        sink_note(nsys->sink, "unnamed-events", NOTE_WARNING, 1,
                  "The table of strings is not in the order that Nsight Systems writes; names are "
                  "missing.");
}

void nsys_words_close(struct nsys *nsys)
{
    nsys_rows_close(&nsys->words.by_id);
    id_map_free(&nsys->words.names);
    id_map_free(&nsys->words.paths);
    id_map_free(&nsys->words.label_tables);
    pair_table_free(&nsys->words.labels);
}

name_id nsys_word(struct nsys *nsys, int64_t id)
{
    struct nsys_words *words = &nsys->words;
    uint32_t name = 0;
    bool is_new;

    if (id_map_find(&words->names, (uint64_t)id, &name))
        return name;
    if (nsys_rows_seek(&words->by_id, id)) {
        struct str text = nsys_text(&words->by_id, 0);

        name = text.count > 0 ? sink_name(nsys->sink, text) : 0;
    } else {
        words->missing++;
    }
    return id_map_add(&words->names, (uint64_t)id, name, &is_new);
}

struct str nsys_without_user(struct arena *arena, struct str text)
{
    static const char *const homes[] = {"/home/", "/Users/", "C:\\Users\\"};
    char *plain = arena_array(arena, char, text.count + 1);
    size_t count = 0;

    for (size_t index = 0; index < text.count;) {
        struct str rest = str_skip(text, index);
        size_t home = 0;

        for (size_t at = 0; at < COUNT(homes) && home == 0; at++)
            home = str_starts(rest, str_of(homes[at])) ? strlen(homes[at]) : 0;
        if (home == 0) {
            bool is_blank = rest.at[0] == '\n' || rest.at[0] == '\t';
            plain[count++] = is_blank ? ' ' : rest.at[0];
            index++;
            continue;
        }
        memcpy(plain + count, rest.at, home);
        count += home;
        index += home;
        while (index < text.count && memchr("/\\ \t\n", text.at[index], 5) == NULL)
            index++;
    }
    return (struct str){.at = plain, .count = count};
}

name_id nsys_path_word(struct nsys *nsys, int64_t id)
{
    name_id name = 0;

    if (id_map_find(&nsys->words.paths, (uint64_t)id, &name))
        return name;
    if (nsys_rows_seek(&nsys->words.by_id, id)) {
        struct str text = nsys_text(&nsys->words.by_id, 0);
        if (text.count > 0)
            name = sink_name(nsys->sink, nsys_without_user(nsys->arena, text));
    }
    bool is_new;
    return id_map_add(&nsys->words.paths, (uint64_t)id, name, &is_new);
}

static void read_labels(struct nsys *nsys, const char *table, name_id key)
{
    static const char *const newer[] = {"id", "label"}, *const older[] = {"id", "name"};
    struct nsys_rows rows = nsys_rows_of(&nsys->db, table, newer, 2, "");
    uint32_t count = 0;
    int64_t value;

    if (rows.statement == NULL)
        rows = nsys_rows_of(&nsys->db, table, older, 2, "");
    while (count++ < LABELS_MAX && nsys_rows_next(&rows)) {
        struct str label = nsys_text(&rows, 1);

        if (nsys_integer(&rows, 0, &value) && label.count > 0)
            *pair_table_at(&nsys->words.labels, key, (uint64_t)value) =
                sink_name(nsys->sink, label);
    }
    nsys_rows_close(&rows);
}

/* The word at `value` in "a|b|c". */
static struct str nth_word(const char *words, int64_t value)
{
    for (; value > 0; value--) {
        words = strchr(words, '|');
        if (words == NULL)
            return STR("");
        words++;
    }
    return (struct str){.at = words, .count = strcspn(words, "|")};
}

name_id nsys_label(struct nsys *nsys, const char *table, int64_t value, const char *fallback)
{
    name_id key = sink_name(nsys->sink, str_of(table));
    bool is_new;

    id_map_add(&nsys->words.label_tables, key, 0, &is_new);
    if (is_new)
        read_labels(nsys, table, key);
    uint32_t found = pair_table_find(&nsys->words.labels, key, (uint64_t)value);
    if (found != PAIR_NONE)
        return found;
    if (value < 0 || value > LABELS_MAX)
        return 0;
    struct str word = nth_word(fallback, value);
    return word.count > 0 ? sink_name(nsys->sink, word) : 0;
}

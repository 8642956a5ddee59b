/* SPDX-License-Identifier: Apache-2.0 */
/* Why a file is not read, with the command for this very file.
 *
 *   a.nsys-rep      `nsys export --type sqlite a.nsys-rep`
 *   a.nsys-rep.gz   `gzip -dc a.nsys-rep.gz > a.nsys-rep && nsys export --type sqlite a.nsys-rep`
 */
#include "base/shell.h"
#include "decode/decode.h"

static const struct {
    const char *suffix, *command;
} unpackers[] = {
    [PACKING_GZIP] = {".gz", "gzip -dc"},
    [PACKING_ZSTD] = {".zst", "zstd -dc"},
    [PACKING_XZ] = {".xz", "xz -dc"},
    [PACKING_ZIP] = {".zip", "unzip -p"},
};

static bool is_packed(enum packing packing)
{
    return packing < COUNT(unpackers) && unpackers[packing].command != NULL;
}

/* What the file is called once it is unpacked. */
static struct str unpacked_name(enum packing packing, struct str name, struct arena *arena)
{
    struct str suffix = str_of(unpackers[packing].suffix);

    if (name.count <= suffix.count || !str_ends(name, suffix))
        return str_format(arena, "%.*s.unpacked", STR_ARG(name));
    name.count -= suffix.count;
    return name;
}

struct str decode_reason(const struct identity *identity, struct str name, struct arena *arena)
{
    struct str rest = str_of(identity->reason), word = shell_word(arena, name), before = STR("");
    struct text out = {0};

    if (is_packed(identity->packing) && str_contains(rest, STR("{}"))) {
        struct str packed = word;

        word = shell_word(arena, unpacked_name(identity->packing, name, arena));
        before = str_format(arena, "%s %.*s > %.*s && ", unpackers[identity->packing].command,
                            STR_ARG(packed), STR_ARG(word));
    }
    for (; rest.count > 0; rest = str_skip(rest, 1)) {
        if (str_starts(rest, STR("{}"))) {
            text_put(&out, word.at, word.count);
            rest = str_skip(rest, 1);
            continue;
        }
        text_put(&out, rest.at, 1);
        if (rest.at[0] == '`') { /* here a command begins; the next one ends it */
            text_put(&out, before.at, before.count);
            before = STR("");
        }
    }
    struct str reason = str_copy(arena, text_str(&out));
    text_free(&out);
    return reason;
}

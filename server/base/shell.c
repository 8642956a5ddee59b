/* SPDX-License-Identifier: Apache-2.0 */
/* Quotes a name for a POSIX shell, so that a user may copy the line. */
#include "base/shell.h"

static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.count; i++) {
        char byte = text.at[i];

        if (!((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
              (byte >= '0' && byte <= '9') || (byte != '\0' && strchr("._+-@=,%:", byte) != NULL)))
            return false;
    }
    return text.count > 0;
}

/* Control characters, and the mark between which our sentences show a command. */
static bool is_awkward(char byte)
{
    return (unsigned char)byte < ' ' || byte == '\x7f' || byte == '`';
}

static bool can_be_shown(struct arena *arena, struct str text)
{
    for (size_t i = 0; i < text.count; i++)
        if (is_awkward(text.at[i]))
            return false;
    return str_equal(str_utf8(arena, text), text);
}

/* Within '...' everything but a quote stands for itself. */
static void put_quoted(struct text *out, struct str text)
{
    text_puts(out, "'");
    for (size_t i = 0; i < text.count; i++)
        if (text.at[i] == '\'')
            text_puts(out, "'\\''");
        else
            text_put(out, &text.at[i], 1);
    text_puts(out, "'");
}

/* Within $'...' any byte may be told by its octal digits. */
static void put_escaped(struct text *out, struct str text)
{
    text_puts(out, "$'");
    for (size_t i = 0; i < text.count; i++) {
        unsigned char byte = (unsigned char)text.at[i];

        if (is_awkward(text.at[i]) || byte >= 0x80 || byte == '\'' || byte == '\\')
            text_putf(out, "\\%03o", byte);
        else
            text_put(out, &text.at[i], 1);
    }
    text_puts(out, "'");
}

struct str shell_argument(struct arena *arena, struct str text)
{
    struct text out = {0};

    if (can_be_shown(arena, text))
        put_quoted(&out, text);
    else
        put_escaped(&out, text);
    struct str ret = str_copy(arena, text_str(&out));
    text_free(&out);
    return ret;
}

/* A file of this name, and never an option. */
static struct str as_file(struct arena *arena, struct str name)
{
    return str_starts(name, STR("-")) ? str_format(arena, "./%.*s", STR_ARG(name)) : name;
}

struct str shell_quoted(struct arena *arena, struct str name)
{
    return shell_argument(arena, as_file(arena, name));
}

struct str shell_word(struct arena *arena, struct str name)
{
    struct str file = as_file(arena, name);

    return is_plain(name) ? file : shell_argument(arena, file);
}

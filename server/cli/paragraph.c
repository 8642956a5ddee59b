/* SPDX-License-Identifier: Apache-2.0 */
/* Fills lines with words. */
#include "cli/paragraph.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_MAX = 100, WORDS_MIN = 20 /* columns right of the indent */ };

/* Code points, as grid.c counts them. */
static uint32_t width_of(struct str text)
{
    uint32_t width = 0;

    for (size_t i = 0; i < text.count; i++)
        width += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return width;
}

/* A word, with the blanks before it. */
static struct str word_next(struct str *rest)
{
    size_t end = 0;

    while (end < rest->count && rest->at[end] == ' ')
        end++;
    while (end < rest->count && rest->at[end] != ' ')
        end++;
    struct str word = {rest->at, end};
    *rest = str_skip(*rest, end);
    return word;
}

static struct str without_blanks(struct str word)
{
    while (word.count > 0 && word.at[0] == ' ')
        word = str_skip(word, 1);
    return word;
}

void paragraph_layout(struct str text, uint32_t indent, uint32_t width, struct text *out)
{
    bool is_cut = width >= indent + WORDS_MIN;
    uint32_t column = 0;

    while (text.count > 0) {
        struct str word = word_next(&text);

        if (is_cut && column > indent && column + width_of(word) > width) {
            word = without_blanks(word);
            if (word.count == 0)
                break;
            text_putf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        text_put(out, word.at, word.count);
        column += width_of(word);
    }
    text_puts(out, "\n");
}

void paragraph_put(struct str text, uint32_t indent)
{
    struct winsize size;
    struct text out = {0};
    uint32_t width = 0;

    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        width = size.ws_col < WIDTH_MAX ? size.ws_col : WIDTH_MAX;
    paragraph_layout(text, indent, width, &out);
    fwrite(out.at, 1, out.count, stdout);
    text_free(&out);
}

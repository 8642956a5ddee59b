/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the frames of a chunked body, a byte at a time but for data. */
#include "serve/http/chunks.h"

enum { DIGITS_MAX = 15 };

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (uint8_t)ascii_lower((char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void take_size(struct chunks *chunks, uint8_t c)
{
    int digit = hex_digit(c);

    if (digit >= 0 && chunks->digits < DIGITS_MAX) {
        chunks->left = chunks->left * 16 + (unsigned)digit;
        chunks->digits++;
    } else if (c == '\r' && chunks->digits > 0) {
        chunks->state = CHUNKS_SIZE_LF;
    } else {
        chunks->state = CHUNKS_REFUSED;
    }
}

static void take_byte(struct chunks *chunks, uint8_t c)
{
    static const struct {
        uint8_t wanted;
        int next;
    } frames[] = {
        [CHUNKS_DATA_CR] = {'\r', CHUNKS_DATA_LF},
        [CHUNKS_DATA_LF] = {'\n', CHUNKS_SIZE},
        [CHUNKS_LAST_CR] = {'\r', CHUNKS_LAST_LF},
        [CHUNKS_LAST_LF] = {'\n', CHUNKS_ENDED},
    };

    if (chunks->state == CHUNKS_SIZE) {
        take_size(chunks, c);
    } else if (chunks->state == CHUNKS_SIZE_LF) {
        chunks->digits = 0;
        chunks->state = c != '\n'           ? CHUNKS_REFUSED
                        : chunks->left == 0 ? CHUNKS_LAST_CR
                                            : CHUNKS_DATA;
    } else {
        chunks->state =
            c == frames[chunks->state].wanted ? frames[chunks->state].next : CHUNKS_REFUSED;
    }
}

size_t chunks_take(struct chunks *chunks, struct bytes got)
{
    size_t i = 0;

    while (i < got.count && chunks->state < CHUNKS_ENDED) {
        if (chunks->state == CHUNKS_DATA) {
            size_t piece = got.count - i < chunks->left ? got.count - i : (size_t)chunks->left;

            i += piece;
            chunks->left -= piece;
            chunks->bytes += piece;
            if (chunks->left == 0)
                chunks->state = CHUNKS_DATA_CR;
        } else {
            take_byte(chunks, got.at[i++]);
        }
    }
    return i;
}

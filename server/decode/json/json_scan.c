/* SPDX-License-Identifier: Apache-2.0 */
/* A scanner of JSON tokens over a sliding window, several bytes a step. Facts: RFC 8259. */
#include <emmintrin.h>
#include <stdlib.h>

#include "decode/json/json_scan.h"

enum { WINDOW_MIN = 2 << 20 };

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

static void give_up(struct json *json, const char *what)
{
    if (json->state != JSON_OK)
        return;
    json->state = json->at >= json->end ? JSON_MORE : JSON_BAD;
    json->what = what;
}

/* Files that are indented hold runs of blanks: sixteen a step. */
static const char *skip_run(const char *at)
{
    const __m128i space = _mm_set1_epi8(' ');

    for (;; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i blank = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, space), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'))),
            _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')),
                         _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r'))));
        unsigned other = (unsigned)_mm_movemask_epi8(blank) ^ 0xffff;

        if (other != 0)
            return at + __builtin_ctz(other);
    }
}

char json_peek(struct json *json)
{
    if (json->state != JSON_OK)
        return 0;
    if (is_blank(*json->at)) {
        json->at++;
        if (is_blank(*json->at))
            json->at = skip_run(json->at);
    }
    if (*json->at == 0)
        give_up(json, "a NUL byte stands between the tokens");
    return *json->at;
}

bool json_take(struct json *json, char wanted, const char *what)
{
    if (json_peek(json) != wanted) {
        give_up(json, what);
        return false;
    }
    json->at++;
    return json->state == JSON_OK;
}

/* The first quote, backslash or zero at or behind `at`. */
static const char *string_stop(const char *at)
{
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    const __m128i zero = _mm_setzero_si128();

    for (;; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i stop = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
            _mm_cmpeq_epi8(bytes, zero));
        unsigned mask = (unsigned)_mm_movemask_epi8(stop);

        if (mask != 0)
            return at + __builtin_ctz(mask);
    }
}

/* From behind the opening quote to behind the closing one. A NUL inside is kept. */
static struct json_value read_string(struct json *json)
{
    struct json_value value = {.kind = JSON_STRING, .text = {.at = json->at}};
    const char *at = json->at;

    for (;;) {
        at = string_stop(at);
        if (*at == '"')
            break;
        if (at >= json->end || (*at == '\\' && at + 1 >= json->end)) {
            json->at = json->end;
            give_up(json, "a string does not end");
            return (struct json_value){0};
        }
        value.escaped |= *at == '\\';
        at += *at == '\\' ? 2 : 1;
    }
    value.text.count = (size_t)(at - value.text.at);
    json->at = at + 1;
    return value;
}

static bool ends_word(char byte)
{
    return byte == ',' || byte == '}' || byte == ']' || is_blank(byte) || byte == 0 ||
           byte == ':' || byte == '"' || byte == '{' || byte == '[';
}

/* A number or a name: everything up to what cannot belong to it. */
static struct json_value read_word(struct json *json)
{
    char first = *json->at;
    bool number = first == '-' || (first >= '0' && first <= '9');
    struct json_value value = {.kind = number ? JSON_NUMBER : JSON_NAMED, .text = {.at = json->at}};
    const char *at = json->at;

    while (!ends_word(*at))
        at++;
    value.text.count = (size_t)(at - json->at);
    if (at >= json->end || value.text.count == 0) {
        json->at = at;
        give_up(json, "a value is missing");
        return (struct json_value){0};
    }
    json->at = at;
    return value;
}

/* The first byte at or behind `at` that opens, closes, quotes, or is zero. Of the brackets, 0x20
 * set makes one of two: [ { and ] } differ in that bit alone. */
static const char *nested_stop(const char *at)
{
    const __m128i bit = _mm_set1_epi8(0x20);

    for (;; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i folded = _mm_or_si128(bytes, bit);
        __m128i stop = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')),
                                                 _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))),
                                    _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                                 _mm_cmpeq_epi8(bytes, _mm_setzero_si128())));
        unsigned mask = (unsigned)_mm_movemask_epi8(stop);

        if (mask != 0)
            return at + __builtin_ctz(mask);
    }
}

static struct json_value read_nested(struct json *json)
{
    struct json_value value = {.kind = *json->at == '{' ? JSON_OBJECT : JSON_ARRAY,
                               .text = {.at = json->at}};
    uint64_t is_object[JSON_DEPTH_MAX / 64] = {0};
    unsigned depth = 0;

    do {
        json->at = nested_stop(json->at);
        char byte = *json->at;

        if (byte == '{' || byte == '[') {
            if (depth == JSON_DEPTH_MAX) {
                give_up(json, "values are nested deeper than 512");
                return (struct json_value){0};
            }
            uint64_t bit = UINT64_C(1) << (depth % 64);

            is_object[depth / 64] = (is_object[depth / 64] & ~bit) | (byte == '{' ? bit : 0);
            depth++;
        } else if (byte == '}' || byte == ']') {
            depth--;
            if ((is_object[depth / 64] >> (depth % 64) & 1) != (byte == '}')) {
                give_up(json, "a bracket is closed by one of the other kind");
                return (struct json_value){0};
            }
        } else if (byte == '"') {
            json->at++;
            if (read_string(json).kind == JSON_NOTHING)
                return (struct json_value){0};
            continue;
        } else {
            give_up(json, "a NUL byte stands between the tokens");
            return (struct json_value){0};
        }
        json->at++;
    } while (depth > 0);
    value.text.count = (size_t)(json->at - value.text.at);
    return value;
}

struct json_value json_value(struct json *json)
{
    switch (json_peek(json)) {
    case 0:
        return (struct json_value){0};
    case '"':
        json->at++;
        return read_string(json);
    case '{':
    case '[':
        return read_nested(json);
    default:
        return read_word(json);
    }
}

bool json_next_key(struct json *json, bool *first, struct str *ret)
{
    char next = json_peek(json);

    if (next == ',' && !*first) {
        json->at++;
        next = json_peek(json);
    } else if (!*first && next != '}') {
        give_up(json, "a comma is missing between the members of an object");
    }
    *first = false;
    if (next == '}') {
        json->at++;
        return false;
    }
    if (!json_take(json, '"', "an object's key is missing"))
        return false;
    struct json_value key = read_string(json);

    *ret = key.text;
    return key.kind == JSON_STRING && json_take(json, ':', "a key has no colon");
}

bool json_next_item(struct json *json, bool *first)
{
    char next = json_peek(json);

    if (next == ',' && !*first) {
        json->at++;
        next = json_peek(json);
    } else if (!*first && next != ']') {
        give_up(json, "a comma is missing between the items of an array");
    }
    *first = false;
    if (next == ']')
        json->at++;
    return next != ']' && json->state == JSON_OK;
}

struct json json_inside(struct json_value value, char bracket)
{
    static const char nothing[JSON_PADDING];
    bool fits = value.kind == (bracket == '{' ? JSON_OBJECT : JSON_ARRAY);

    if (!fits)
        return (struct json){.at = nothing, .end = nothing, .state = JSON_MORE};
    return (struct json){.at = value.text.at + 1, .end = value.text.at + value.text.count};
}

struct json_value json_member(struct json_value object, struct str key)
{
    struct json members = json_inside(object, '{');
    bool first = true;

    for (struct str at; json_next_key(&members, &first, &at);) {
        struct json_value value = json_value(&members);

        if (str_equal(at, key))
            return value;
    }
    return (struct json_value){0};
}

static int hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The four digits behind \u; -1 where there are not four. */
static int32_t read_unit(const char *at, const char *end)
{
    int32_t unit = 0;

    if (end - at < 4)
        return -1;
    for (unsigned i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);

        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static size_t put_utf8(uint32_t code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};

    to[0] = (char)(lead[more] | code >> (6 * more));
    for (unsigned i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (code >> (6 * (more - i)) & 0x3f));
    return more + 1;
}

/* Behind "\u": how many bytes of it were read, and the character. */
static size_t read_character(const char *at, const char *end, uint32_t *ret)
{
    int32_t high = read_unit(at, end);

    if (high < 0)
        return 0;
    *ret = (uint32_t)high;
    if (high < 0xd800 || high > 0xdfff)
        return 4;
    *ret = 0xfffd;
    if (high > 0xdbff || end - at < 6 || at[4] != '\\' || at[5] != 'u')
        return 4;
    int32_t low = read_unit(at + 6, end);

    if (low < 0xdc00 || low > 0xdfff)
        return 4;
    *ret = 0x10000 + (((uint32_t)high & 0x3ff) << 10) + ((uint32_t)low & 0x3ff);
    return 10;
}

static char meaning_of(char escape)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found = escape != 0 ? strchr(from, escape) : NULL;

    return found != NULL ? to[found - from] : 0;
}

size_t json_unescape(struct str raw, char *to)
{
    const char *at = raw.at, *end = raw.at + raw.count;
    size_t count = 0;

    while (at < end) {
        uint32_t code;
        size_t used;

        if (*at != '\\' || at + 1 == end) {
            to[count++] = *at++;
        } else if (meaning_of(at[1]) != 0) {
            to[count++] = meaning_of(at[1]);
            at += 2;
        } else if (at[1] == 'u' && (used = read_character(at + 2, end, &code)) > 0) {
            count += put_utf8(code, to + count);
            at += 2 + used;
        } else {
            to[count++] = *at++;
            to[count++] = *at++;
        }
    }
    return count;
}

struct json json_over(struct str text, char **ret_room)
{
    char *room = memory_resize(NULL, text.count + JSON_PADDING, 1);

    if (text.count > 0)
        memcpy(room, text.at, text.count);
    memset(room + text.count, 0, JSON_PADDING);
    *ret_room = room;
    return (struct json){.at = room, .end = room + text.count};
}

void json_stream_open(struct json_stream *stream, struct input *input)
{
    *stream = (struct json_stream){.input = input, .capacity = WINDOW_MIN};
    stream->window = memory_resize(NULL, stream->capacity + JSON_PADDING, 1);
    memset(stream->window, 0, JSON_PADDING);
    stream->json.at = stream->json.end = stream->mark = stream->window;
}

void json_stream_close(struct json_stream *stream)
{
    free(stream->window);
    stream->window = NULL;
}

/* What stands from the mark on moves to the front; the window grows where that is not enough. */
static bool make_room(struct json_stream *stream, size_t kept, size_t wanted)
{
    size_t capacity = stream->capacity;

    stream->before += (uint64_t)(stream->mark - stream->window);
    memmove(stream->window, stream->mark, kept);
    while (capacity < kept + wanted)
        capacity *= 2;
    if (capacity > JSON_WINDOW_MAX)
        return false;
    if (capacity > stream->capacity)
        stream->window = memory_resize(stream->window, capacity + JSON_PADDING, 1);
    stream->capacity = capacity;
    return true;
}

bool json_stream_fill(struct json_stream *stream)
{
    size_t kept = (size_t)(stream->json.end - stream->mark), filled = kept;
    bool room = true;

    if (stream->ended)
        return false;
    /* At least as much again as what was not enough, so that long events cost twice, not n
     * times. */
    while (room && !stream->ended && filled < kept + kept / 2 + 1) {
        struct bytes piece = input_next(stream->input, &stream->input_err);

        stream->ended = piece.count == 0;
        room = make_room(stream, filled, piece.count);
        stream->mark = stream->window;
        if (room && piece.count > 0)
            memcpy(stream->window + filled, piece.at, piece.count);
        filled += room ? piece.count : 0;
    }
    memset(stream->window + filled, 0, JSON_PADDING);
    stream->json = (struct json){.at = stream->window, .end = stream->window + filled};
    stream->too_long = !room;
    if (room && filled > kept)
        return true;
    stream->json.state = JSON_MORE;
    return false;
}

uint64_t json_stream_offset(const struct json_stream *stream)
{
    return stream->before + (uint64_t)(stream->json.at - stream->window);
}

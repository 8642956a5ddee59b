/* SPDX-License-Identifier: Apache-2.0 */
/* Behind a broken event, the next one.
 *
 *   {"name": "{"device": "cpu"}(12): run", "ph": "X", ...},      broken at its third quote
 *   {"name": "aten::add", "ph": "X", ...},                       begins behind "}," and is whole
 *
 * Writers that do not escape what they print leave such events; all others of the file are good.
 * What begins with a brace behind an object and a comma, reads as an object, has a phase and is
 * followed by a comma or the end of the list is taken for the next event.
 */
#include "decode/chrome/trace_json.h"

enum { LOOKED_AT_MAX = JSON_WINDOW_MAX, TEXT_MAX = 120 };

/* What of a broken event is shown, on one line. */
static void keep_text(struct lost *lost, const struct json_stream *stream)
{
    const char *at = stream->mark, *end = stream->json.end;

    if (end - at > TEXT_MAX)
        end = at + TEXT_MAX;
    while (end > at && end < stream->json.end && ((unsigned char)*end & 0xc0) == 0x80)
        end--;
    for (; at < end && *at != '\n' && *at != '\r'; at++)
        text_put(&lost->first_text, (unsigned char)*at < 0x20 ? " " : at, 1);
}

/* Reads on where the mark stands; the event is whole in the window then. */
static bool is_event(struct lost *lost, struct json_stream *stream, struct trace_json *json)
{
    struct json *at = &stream->json;

    for (;;) {
        at->at = stream->mark;
        bool is_whole = event_read(json, at);
        char next = is_whole ? json_peek(at) : 0;

        if (is_whole && (next == ',' || next == ']') && json->event.phase != 0)
            return true;
        lost->looked_at += (uint64_t)(at->at - stream->mark);
        if (at->state != JSON_MORE || lost->looked_at > LOOKED_AT_MAX || !json_stream_fill(stream))
            return false;
    }
}

/* Moves the mark behind the next comma that follows an object, to the brace there. */
static bool find_brace(struct json_stream *stream, char before[2])
{
    struct json *json = &stream->json;

    for (;;) {
        for (const char *at = stream->mark; at < json->end; at++) {
            if (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')
                continue;
            if (*at == '{' && before[0] == '}' && before[1] == ',') {
                stream->mark = at;
                return true;
            }
            before[0] = before[1];
            before[1] = *at;
        }
        stream->mark = json->end;
        if (!json_stream_fill(stream))
            return false;
    }
}

bool lost_find(struct lost *lost, struct json_stream *stream, struct trace_json *json)
{
    uint64_t from = stream->before + (uint64_t)(stream->mark - stream->window);
    const char *why = stream->json.what;
    char before[2] = {0, 0};

    if (lost->count++ == 0) {
        lost->first_at = from;
        lost->first_why = why != NULL ? why : "no JSON";
        keep_text(lost, stream);
    }
    stream->mark++;
    while (find_brace(stream, before)) {
        stream->json.state = JSON_OK;
        if (is_event(lost, stream, json)) {
            lost->bytes += stream->before + (uint64_t)(stream->mark - stream->window) - from;
            return true;
        }
        if (stream->json.state == JSON_MORE && stream->ended)
            break;
        if (lost->looked_at > LOOKED_AT_MAX) {
            stream->json.state = JSON_BAD;
            stream->json.what = "too much of it is";
            break;
        }
        before[0] = before[1];
        before[1] = '{';
        stream->mark++;
    }
    lost->to_the_end = stream->json.state == JSON_MORE && !stream->too_long;
    stream->json.at = stream->mark;
    lost->bytes += stream->before + (uint64_t)(stream->json.end - stream->window) - from;
    return false;
}

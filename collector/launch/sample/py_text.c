/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a str object in its compact forms, and turns Latin-1, UCS-2 or UCS-4 into UTF-8. */
#include "launch/sample/py_text.h"

#include "inject/spool/utf8.h"

struct form { /* of the characters */
    unsigned width;
    bool is_ascii;
};

/* interned, then kind:3 compact:1 ascii:1. The first has 2 bits, 8, or 16, by version and build; of
 * the wrong places no sense can be made. */
static bool form_of(uint32_t state, struct form *ret)
{
    static const uint8_t places[] = {2, 8, 16};

    for (size_t index = 0; index < COUNT(places); index++) {
        uint32_t at = state >> places[index], kind = at & 7;
        bool is_compact = (at & 8) != 0, is_ascii = (at & 16) != 0;

        if (is_compact && (kind == 1 || (!is_ascii && (kind == 2 || kind == 4)))) {
            *ret = (struct form){.width = kind, .is_ascii = is_ascii};
            return true;
        }
    }
    return false;
}

size_t py_text(struct remote *remote, const struct py_layout *layout, uint64_t address,
               char ret[PY_TEXT_BYTES])
{
    uint8_t characters[4 * PY_TEXT_MAX];
    uint64_t length, at;
    uint32_t state;
    struct form form;
    size_t used = 0;

    if (!remote_word(remote, REMOTE_CODE, address + layout->text_length, &length) ||
        !remote_read(remote, REMOTE_CODE, address + layout->text_state, &state, sizeof state) ||
        !form_of(state, &form) || length == 0 || length > INT32_MAX)
        return 0;
    at = address + (form.is_ascii ? layout->text_ascii : layout->text_other);
    if (length > PY_TEXT_MAX) {
        at += (length - PY_TEXT_MAX) * form.width;
        length = PY_TEXT_MAX;
    }
    if (!remote_read(remote, REMOTE_CODE, at, characters, length * form.width))
        return 0;
    for (uint64_t index = 0; index < length; index++)
        used += put_utf8(ret + used,
                         (uint32_t)remote_number(characters + index * form.width, form.width));
    return used;
}

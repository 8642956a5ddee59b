/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the jview.json beside a profile: what is read of it is written as JSON. */
#include <jansson.h>
#include <stdlib.h>

#include "any/place_any.h"
#include "serve/answer/json_out.h"
#include "serve/bundle/about.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct about about = {0};
    struct error err = {0};
    struct text out = {0};
    struct json json;

    if (about_parse((struct bytes){data, size}, arena, &about, &err) != OK) {
        if (err.message[0] == '\0')
            abort();
    } else {
        json = json_into(&out);
        json_open(&json, '{');
        json_put_about(&json, &about);
        json_close(&json, '}');
        json_t *value =
            json_loadb(out.at, out.count, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);

        if (!json_is_object(json_object_get(value, "about")))
            abort();
        json_decref(value);
    }
    text_free(&out);
    arena_destroy(arena);
    return 0;
}

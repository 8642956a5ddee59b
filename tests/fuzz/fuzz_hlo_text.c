/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the text of a module, in a file of any name: the first line names it. */
#include <stdlib.h>

#include "any/cost_any.h"
#include "any/decode_any.h"
#include "decode/hlo/hlo_module.h"
#include "decode/hlo/hlo_name.h"

/* What is printed is what was read, but for the end of the last line. */
static void print(struct bytes bytes)
{
    struct arena *arena = arena_create();
    struct hlo_module module;
    struct error err = {0};
    struct text out = {0};
    uint32_t computation, instruction;

    if (hlo_module_read(bytes, PROGRAM_TEXT, arena, &module, &err) != OK) {
        arena_destroy(arena);
        return;
    }
    for (uint32_t line = 0; line < module.line_count; line++) {
        hlo_put_line(&out, &module, line, &computation, &instruction);
        text_puts(&out, "\n");
        if (computation != HLO_NONE && computation >= module.computation_count)
            abort();
    }
    if (out.count < bytes.count || (bytes.count > 0 && memcmp(out.at, bytes.at, bytes.count) != 0))
        abort();
    cost_any(&module);
    text_free(&out);
    arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    const uint8_t *feed = count == 0 ? NULL : memchr(at, '\n', count);
    size_t name = feed == NULL ? 0 : (size_t)(feed - at);
    struct bytes rest = {.at = at + (feed == NULL ? 0 : name + 1),
                         .count = count - (feed == NULL ? 0 : name + 1)};
    struct str file = {.at = (const char *)at, .count = name};

    hlo_name_of(file, STR("jit_f"));
    decode_any(&(struct any_input){.name = file, .bytes = rest, .decoder = &decode_hlo_text});
    print(rest);
    return 0;
}

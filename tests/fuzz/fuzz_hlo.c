/* Any bytes as an HLO proto; what is read of it is printed. */
#include <stdlib.h>

#include "decode/hlo_module.h"
#include "decode_any.h"

enum { LINES_MAX = 1 << 16 };

static void print(struct bytes bytes)
{
    struct arena *arena = arena_create();
    struct hlo_module module;
    struct error err = {0};
    struct text out = {0};
    uint32_t computation, instruction;

    if (hlo_module_read(bytes, PROGRAM_PROTO, arena, &module, &err) != OK) {
        if (err.message[0] == '\0')
            abort();
        module.line_count = 0;
    }
    for (uint32_t line = 0; line < module.line_count && line < LINES_MAX; line++)
        hlo_put_line(&out, &module, line, &computation, &instruction);
    text_free(&out);
    arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    struct bytes bytes = {.at = at, .count = count};

    decode_any(&(struct any_input){
        .name = STR("jit_f(3).hlo_proto.pb"), .bytes = bytes, .decoder = &decode_hlo_proto});
    print(bytes);
    return 0;
}

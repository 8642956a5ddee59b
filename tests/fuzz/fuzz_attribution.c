/* SPDX-License-Identifier: Apache-2.0 */
/* A damaged attribution beside a sound segment: opened or refused, and whatever opens answers the
 * questions that stand on it. The input are edits (attribution_edit.h). */
#include <stdlib.h>

#include "any/attribution_edit.h"
#include "any/place_any.h"

static struct { /* the sound ones, and where they lie */
    struct services *services;
    struct bytes segment, attribution;
    char segment_path[4096], attribution_path[4096];
} sound;

static void ask_all(const struct services *services)
{
    static const char *const questions[][2] = {
        {"/api/top", "run=step_1&by=op"},      {"/api/top", "run=step_1&by=module"},
        {"/api/top", "run=step_1&by=kernel"},  {"/api/overview", "run=step_1"},
        {"/api/kernels", "run=step_1"},        {"/api/findings", "run=step_1"},
        {"/api/roofline", "run=step_1"},       {"/api/critical", "run=step_1"},
        {"/api/flame", "run=step_1&by=scope"}, {"/api/slice", "run=step_1&id=0"},
        {"/api/collectives", "run=step_1"},    {"/api/steps", "run=step_1"},
    };

    for (size_t i = 0; i < COUNT(questions); i++)
        place_any_ask(services, str_of(questions[i][0]), str_of(questions[i][1]));
}

static void make_sound(void)
{
    struct arena *arena = place_any_arena();

    sound.services = place_any_services(&decode_xspace, FUZZ_SEEDS "/xspace/all.pb");
    cache_segment_path(sound.services->cache, place_any_content, sound.segment_path);
    cache_attribution_path(sound.services->cache, place_any_content, sound.attribution_path);
    sound.segment = place_any_read(sound.segment_path, arena);
    sound.attribution = place_any_read(sound.attribution_path, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (sound.services == NULL)
        make_sound();
    struct arena *arena = arena_create();
    struct bytes whole = sound.attribution;
    uint8_t *edited = arena_alloc(arena, whole.count, 1);

    memcpy(edited, whole.at, whole.count);
    attribution_edit(edited, whole.count, (struct bytes){data, size});
    place_any_forget(sound.services);
    place_any_put(sound.segment_path, sound.segment);
    place_any_put(sound.attribution_path, (struct bytes){edited, whole.count});
    ask_all(sound.services);
    arena_destroy(arena);
    return 0;
}

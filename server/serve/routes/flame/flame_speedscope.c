/* SPDX-License-Identifier: Apache-2.0 */
/* speedscope's file: frames that all profiles share, and a "sampled" profile a weight.
 *
 *   shared.frames   [{name, file, line}, ...]          a frame a node
 *   profiles[]      samples [[0, 1, 4], ...]           a stack for each node with its own weight
 *                   weights [12.5, ...]                times in nanoseconds, all else as it is
 */
#include "serve/routes/flame/flame_parts.h"

enum { STACK_FRAMES_MAX = 1024 }; /* more than a tree is deep */

struct stacks {
    const struct flame *flame;
    uint32_t first_frame; /* of this tree among the shared ones */
    struct json samples, weights;
    uint32_t path[STACK_FRAMES_MAX];
};

static bool is_time(const struct flame *flame)
{
    return str_equal(flame->unit, STR("ps"));
}

static double weight_of(const struct flame *flame, int64_t value)
{
    return is_time(flame) ? (double)value / 1000 : (double)value;
}

static void put_stack(struct stacks *stacks, uint32_t node, uint32_t depth)
{
    const struct flame_node *at = &stacks->flame->nodes[node];

    if (depth >= COUNT(stacks->path))
        return;
    stacks->path[depth] = stacks->first_frame + node;
    if (at->self_ps > 0) {
        json_open(&stacks->samples, '[');
        for (uint32_t i = 0; i <= depth; i++)
            json_add_unsigned(&stacks->samples, stacks->path[i]);
        json_close(&stacks->samples, ']');
        json_add_real(&stacks->weights, weight_of(stacks->flame, at->self_ps));
    }
    for (uint32_t i = 0; i < at->child_count; i++)
        put_stack(stacks, at->first_child + i, depth + 1);
}

static void put_frames(struct json *json, const struct flame *trees, uint32_t count)
{
    json_key(json, "shared");
    json_open(json, '{');
    json_key(json, "frames");
    json_open(json, '[');
    for (uint32_t tree = 0; tree < count; tree++) {
        for (uint32_t i = 0; i < trees[tree].node_count; i++) {
            const struct flame_node *node = &trees[tree].nodes[i];

            json_open(json, '{');
            json_put_text(json, "name", node->name);
            if (node->file.count > 0)
                json_put_text(json, "file", node->file);
            if (node->line > 0)
                json_put_unsigned(json, "line", node->line);
            json_close(json, '}');
        }
    }
    json_close(json, ']');
    json_close(json, '}');
}

static struct str unit_of(const struct flame *flame)
{
    if (is_time(flame))
        return STR("nanoseconds");
    return str_equal(flame->unit, STR("bytes")) ? STR("bytes") : STR("none");
}

static void put_profile(struct json *json, const struct flame *flame, uint32_t first_frame)
{
    struct text samples = {0}, weights = {0};
    struct stacks stacks = {.flame = flame,
                            .first_frame = first_frame,
                            .samples = json_into(&samples),
                            .weights = json_into(&weights)};

    json_open(&stacks.samples, '[');
    json_open(&stacks.weights, '[');
    put_stack(&stacks, 0, 0);
    json_close(&stacks.samples, ']');
    json_close(&stacks.weights, ']');
    json_open(json, '{');
    json_put_text(json, "type", STR("sampled"));
    json_put_text(json, "name", flame->weight);
    json_put_text(json, "unit", unit_of(flame));
    json_put_integer(json, "startValue", 0);
    json_put_real(json, "endValue", weight_of(flame, flame->nodes[0].total_ps));
    json_key(json, "samples");
    json_add_raw(json, text_str(&samples));
    json_key(json, "weights");
    json_add_raw(json, text_str(&weights));
    json_close(json, '}');
    text_free(&samples);
    text_free(&weights);
}

void reply_speedscope(struct reply *reply, const struct run_traces *run, const struct flame *trees,
                      uint32_t count)
{
    struct json json = reply_json(reply);
    uint32_t first_frame = 0;

    json_open(&json, '{');
    json_put_text(&json, "$schema", STR("https://www.speedscope.app/file-format-schema.json"));
    json_put_text(&json, "name", run->name);
    put_frames(&json, trees, count);
    json_key(&json, "profiles");
    json_open(&json, '[');
    for (uint32_t i = 0; i < count; i++) {
        put_profile(&json, &trees[i], first_frame);
        first_frame += trees[i].node_count;
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

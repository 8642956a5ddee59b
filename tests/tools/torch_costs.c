/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls of ops in a PyTorch profile cost, as JSON, for comparison with PyTorch's own
 * count.
 *
 *   torch_costs FILE     [[track, start_ps, dur_ps, name, module, phase,
 *                          flops, matrix_flops, transcendentals, bytes], ...]
 *
 * A line for each call of an op on a thread, whether it launched anything or not; what is unknown
 * is null.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/torch/torch_ops.h"
#include "base/file.h"
#include "decoded.h"

static void print_text(struct str text)
{
    putchar('"');
    for (size_t i = 0; i < text.count; i++)
        if (text.at[i] == '"' || text.at[i] == '\\' || (uint8_t)text.at[i] < 0x20)
            printf("\\u%04x", (uint8_t)text.at[i]);
        else
            putchar(text.at[i]);
    putchar('"');
}

static void print_number(double number)
{
    if (isnan(number))
        printf(",null");
    else
        printf(",%.17g", number);
}

static void print_call(const struct trace *trace, struct torch_ops *ops, track_id track,
                       const struct slice *slice, const struct torch_launch *launch)
{
    static bool any;
    const struct op_cost *cost = torch_ops_cost(ops, launch->cost);

    printf("%s[%u,%" PRId64 ",%" PRId64 ",", any ? ",\n" : "", track, slice->start_ps,
           slice->dur_ps);
    print_text(trace_name(trace, slice->name));
    printf(",");
    print_text(launch->module == 0 ? STR("")
                                   : torch_ops_text(ops, launch->module - trace->name_count));
    printf(",%d", (int)launch->phase);
    print_number(cost->flops);
    print_number(cost->matrix_flops);
    print_number(cost->transcendentals);
    print_number(cost->bytes);
    printf("]");
    any = true;
}

static void dump(const struct trace *trace)
{
    struct torch_ops *ops = torch_ops_create(trace);

    printf("[");
    for (row_id id = 0; ops != NULL && id < trace->row_count; id++) {
        const struct row *row = &trace->rows[id];

        for (uint32_t i = 0; trace->tracks[row->track].device < 0 && i < row->count; i++) {
            struct slice slice = trace_slice(trace, row->first_slice + i);
            struct torch_launch launch;

            torch_ops_of(ops, slice.id, &launch);
            if (launch.instance == slice.id)
                print_call(trace, ops, row->track, &slice, &launch);
        }
    }
    printf("]\n");
    torch_ops_free(ops);
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct error err = {0};
    struct file_stamp stamp;
    struct file_map map = {0};
    int fd;

    if (argc != 2)
        return fprintf(stderr, "usage: torch_costs FILE\n"), 2;
    if (file_open(argv[1], &fd, &stamp, &err) != OK || file_map(fd, stamp.size, &map, &err) != OK)
        return fprintf(stderr, "%s\n", err.message), 1;
    file_close(fd);

    const struct trace *trace = decoded(NULL, str_of(argv[1]), map.bytes, arena, &err);

    if (trace == NULL)
        return fprintf(stderr, "%s\n", err.message), 1;
    dump(trace);
    file_unmap(&map);
    arena_destroy(arena);
    return 0;
}

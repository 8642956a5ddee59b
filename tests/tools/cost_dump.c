/* SPDX-License-Identifier: Apache-2.0 */
/* What the instructions of a compiled module cost, as JSON, for comparison with XLA's own analysis.
 *
 *   cost_dump FILE     {"flops", "transcendentals", "bytes",
 *                       "instructions": [[name, opcode, flops, transcendentals, bytes], ...]}
 *
 * FILE is a HloProto or HLO text; sums and instructions are those of the entry computation. What is
 * unknown is null.
 */
#include <math.h>
#include <stdio.h>

#include "analyse/hlo/cost.h"
#include "base/file.h"

static void print_number(double number)
{
    if (isnan(number))
        printf("null");
    else
        printf("%.0f", number);
}

static void print_costs(const struct op_cost *cost)
{
    print_number(cost->flops);
    printf(", ");
    print_number(cost->transcendentals);
    printf(", ");
    print_number(cost->bytes);
}

static void print_module(const struct hlo_module *module, uint32_t entry)
{
    struct cost_work *work = cost_work_create(module, NULL);
    const struct hlo_computation *computation = &module->computations[entry];
    struct op_cost cost;

    cost_of_computation(work, entry, &cost);
    printf("{\"flops\": ");
    print_number(cost.flops);
    printf(", \"transcendentals\": ");
    print_number(cost.transcendentals);
    printf(", \"bytes\": ");
    print_number(cost.bytes);
    printf(", \"instructions\": [");
    for (uint32_t i = 0; i < computation->count; i++) {
        const struct hlo_instruction *instruction = &module->instructions[computation->first + i];

        cost_of_instruction(work, computation->first + i, &cost);
        printf("%s\n[\"%.*s\", \"%.*s\", ", i > 0 ? "," : "", STR_ARG(instruction->name),
               STR_ARG(instruction->opcode));
        print_costs(&cost);
        printf("]");
    }
    printf("]}\n");
    cost_work_free(work);
}

static enum status dump(const char *path, struct arena *arena, struct error *err)
{
    struct file_stamp stamp;
    struct file_map map = {0};
    struct hlo_module module;
    int fd;

    TRY(file_open(path, &fd, &stamp, err));
    enum status status = file_map(fd, stamp.size, &map, err);
    file_close(fd);
    bool is_text = map.bytes.count > 9 && memcmp(map.bytes.at, "HloModule", 9) == 0;
    if (status == OK)
        status =
            hlo_module_read(map.bytes, is_text ? PROGRAM_TEXT : PROGRAM_PROTO, arena, &module, err);
    for (uint32_t i = 0; status == OK && i < module.computation_count; i++)
        if (module.computations[i].is_entry)
            print_module(&module, i);
    file_unmap(&map);
    return status;
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct error err = {0};

    if (argc != 2) {
        fprintf(stderr, "usage: cost_dump FILE\n");
        return 2;
    }
    enum status status = dump(argv[1], arena, &err);
    if (status != OK)
        fprintf(stderr, "%s\n", err.message);
    arena_destroy(arena);
    return status == OK ? 0 : 1;
}

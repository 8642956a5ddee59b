/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd mcp [PATH]: an agent's questions on stdin, one line each, answers on stdout. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/verbs.h"
#include "serve/mcp/mcp.h"

enum { LINE_BYTES_MAX = 1 << 20 };

static bool answer_line(const struct services *services, struct str line)
{
    struct arena *arena = arena_create();
    struct text out = {0};
    bool told = true;

    if (mcp_answer(services, NULL, line, arena, &out)) {
        text_puts(&out, "\n");
        told = fwrite(out.at, 1, out.count, stdout) == out.count && fflush(stdout) == 0;
    }
    text_free(&out);
    arena_destroy(arena);
    return told;
}

int run_mcp(const struct cli_call *call, const struct services *services)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t count;
    bool told = true;

    (void)call;
    wait_for_jobs(services);
    while (told && (count = getline(&line, &size, stdin)) > 0) {
        while (count > 0 && (line[count - 1] == '\n' || line[count - 1] == '\r'))
            count--;
        if (count > LINE_BYTES_MAX) {
            fprintf(stderr, "jviewd: a message has more than 1 MiB\n");
            break;
        }
        if (count > 0)
            told = answer_line(services, (struct str){.at = line, .count = (size_t)count});
    }
    free(line);
    return told ? EXIT_OK : EXIT_IO;
}

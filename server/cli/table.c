/* Verbs whose answer is a table. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/grid.h"
#include "cli/verbs.h"
#include "cli/wait.h"
#include "serve/reply.h"

static struct grid_style terminal_style(void)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO))
        return (struct grid_style){0};
    struct grid_style style = {.bold_head = getenv("NO_COLOR") == NULL};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        style.width = size.ws_col;
    return style;
}

/* How many files are still to be read. */
static uint32_t jobs_left(const struct services *services)
{
    struct arena *arena = arena_create();
    struct job *jobs;
    uint32_t count = 0;

    if (services->jobs(services->ingest, arena, &jobs, &count) != OK)
        count = 0;
    arena_destroy(arena);
    return count;
}

void wait_for_jobs(const struct services *services)
{
    struct waiting waiting = wait_begin();
    uint32_t most = 0;

    for (uint32_t left; (left = jobs_left(services)) > 0 || wait_may_bring(services);) {
        most = left > most ? left : most;
        if (left > 0)
            progress_show("Looking", 1 - (double)left / most);
        if (!wait_on(&waiting, services))
            break;
    }
    progress_clear();
}

int print_list(const struct cli_call *call, const struct services *services)
{
    wait_for_jobs(services);
    return print_table(call, services);
}

int print_table(const struct cli_call *call, const struct services *services)
{
    bool as_table = call->format.count == 0 || str_equal(call->format, STR("table"));
    struct answer answer;

    ask(call, services, as_table ? STR("md") : call->format, &answer);
    int code = answer.exit_code;
    if (code == EXIT_OK && as_table) {
        struct text out = {0};
        struct bytes body = reply_bytes(&answer.reply);

        grid_layout((struct str){(const char *)body.at, body.count}, terminal_style(), &out);
        if (fwrite(out.at, 1, out.count, stdout) != out.count || fflush(stdout) != 0)
            code = EXIT_IO;
        text_free(&out);
    } else if (code == EXIT_OK) {
        code = answer_write(&answer, STDOUT_FILENO);
    }
    answer_free(&answer);
    return code;
}

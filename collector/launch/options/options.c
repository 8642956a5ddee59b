/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of jview-collect: its words, those of nsys that scripts carry, and what one
 * asks of another. */
#include "launch/options/options.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char options_help[] =
    "jview-collect records what a program does, from outside, for jviewd.\n\n"
    "usage: jview-collect [OPTION]... [--] COMMAND [ARGUMENT]...\n"
    "       jview-collect ctl start|stop|toggle|status [SESSION|DIR]\n"
    "       jview-collect finalize DIR|FILE.jvs\n\n"
    "  -o, --output DIR        the profile directory [./profile]; %h is the host, %p the process\n"
    "                          number of jview-collect, %q{VAR} a variable's value\n"
    "  -t, --trace LIST        of cuda, nvtx, or none; other words of nsys are named as not\n"
    "                          collected [cuda,nvtx]\n"
    "      --delay SECONDS     start recording that long after the program starts\n"
    "      --duration SECONDS  record for that long; the program goes on\n"
    "      --capture-range none|nvtx|steps=N:M|signal|cudaProfilerApi\n"
    "                          record within a range, from its N-th to its M-th, as SIGUSR2 to\n"
    "                          jview-collect toggles, or from cudaProfilerStart to Stop; `ctl`\n"
    "                          does so with any of them\n"
    "      --nvtx-capture NAME[@DOMAIN]\n"
    "                          the range of nvtx and steps (steps: \"step\" unless given)\n"
    "      --capture-range-end stop|repeat[:N]\n"
    "                          one such range, N of them, or all, a session each [stop; of "
    "signal:\n"
    "                          repeat]; stop-shutdown and repeat-shutdown:N end the program then\n"
    "      --nvtx-domain-include LIST, --nvtx-domain-exclude LIST\n"
    "                          only these domains, or all others; \"default\" is the default "
    "domain\n"
    "      --cuda-graph-trace node|graph\n"
    "                          record CUDA graphs by node, or as a whole, which costs less [node]\n"
    "      --if 'RANK==0'      record only if the condition holds: variables, \"texts\", numbers,\n"
    "                          == != && || ( )\n"
    "      --max-spool SIZE    limit per process, such as 2G; records beyond it are counted as "
    "lost\n"
    "      --flush-interval SECONDS  how much a killed program may lose at most [0.25]\n"
    "      --system HZ         sample CPUs, memory, disks and GPUs 1 to 10 times per second;\n"
    "                          0: never [2]\n"
    "      --py-sample[=HZ]    sample the stacks of all Python threads (3.10 to 3.14) so many\n"
    "                          times per second [100], from outside the program\n"
    "  -s, --sample cpu|none   sample the CPU in the program and its children by perf_event_open\n"
    "                          [none]\n"
    "      --sampling-frequency HZ  samples per second of --sample [199]\n"
    "      --hlo-dump[=DIR]    XLA stores what it compiles in DIR [OUTPUT/hlo-SESSION]: ops get "
    "their\n"
    "                          source and text\n"
    "      --py-locations      JAX records the whole Python stack of each op in the dump\n"
    "      --finalize SECONDS  time limit to write XPlane files at the end, which XProf reads "
    "too;\n"
    "                          0: keep the spools, which only jviewd opens [60]\n"
    "      --wait primary|all  all: wait also for processes that the program leaves behind "
    "[primary]\n"
    "      --kill none|sigterm|sigkill|N\n"
    "                          end the program after --duration or the last capture [none; with\n"
    "                          ...-shutdown: sigterm]\n"
    "  -e, --env-var A=B[,C=D] variables of the program; may be repeated\n"
    "      --replace-injection replace another tool that is set to be loaded\n"
    "  -q, --quiet             print nothing, neither while the program runs nor at the end\n"
    "  -V, --version           the version\n"
    "  -h, --help              this text\n\n"
    "Recorded are NVTX ranges and CUDA activity of the program and of its libraries. The exit code "
    "is the program's.\n";

enum { FINALIZE_MS = 60000 };

struct word { /* one that takes a value */
    const char *brief, *full;
    enum status (*take)(const char *value, struct options *options, struct error *err);
};

/* "--delay 3", "--delay=3", "-o DIR", "-oDIR": the value, and how many words it took; NULL where
 * the word is another. */
static const char *value_of(char **words, const struct word *word, int *ret_taken)
{
    size_t count = strlen(word->full);

    *ret_taken = 2;
    if (strcmp(words[0], word->full) == 0 ||
        (word->brief != NULL && strcmp(words[0], word->brief) == 0))
        return words[1] != NULL ? words[1] : "";
    *ret_taken = 1;
    if (strncmp(words[0], word->full, count) == 0 && words[0][count] == '=')
        return words[0] + count + 1;
    if (word->brief != NULL && words[0][1] != '-' &&
        strncmp(words[0], word->brief, strlen(word->brief)) == 0)
        return words[0] + strlen(word->brief);
    return NULL;
}

static enum status take_output(const char *value, struct options *options, struct error *err)
{
    options->out = value;
    return value[0] != '\0' ? OK : fail(err, ERR_INVALID, "-o takes a directory");
}

static enum status take_trace(const char *value, struct options *options, struct error *err)
{
    return value_trace(value, &options->asked, err);
}

static enum status take_delay(const char *value, struct options *options, struct error *err)
{
    return value_seconds("--delay", value, &options->delay_ms, err);
}

static enum status take_duration(const char *value, struct options *options, struct error *err)
{
    return value_seconds("--duration", value, &options->duration_ms, err);
}

static enum status take_range(const char *value, struct options *options, struct error *err)
{
    return value_capture_range(value, &options->asked, err);
}

/* "stop-shutdown", "repeat-shutdown:3": the same, and then the program is ended. */
static enum status take_range_end(const char *value, struct options *options, struct error *err)
{
    static const char word[] = "-shutdown";
    const char *at = strstr(value, word);
    char rest[64];

    options->shuts_down = at != NULL && strcmp(value, "repeat-shutdown") != 0;
    if (!options->shuts_down)
        return value_capture_end(value, &options->asked, err);
    snprintf(rest, sizeof rest, "%.*s%.40s", (int)(at - value < 20 ? at - value : 20), value,
             at + strlen(word));
    return value_capture_end(rest, &options->asked, err);
}

static enum status take_kill(const char *value, struct options *options, struct error *err)
{
    options->has_kill = true;
    return value_signal(value, &options->kill_signal, err);
}

static enum status take_variables(const char *value, struct options *options, struct error *err)
{
    if (strchr(value, '=') == NULL)
        return fail(err, ERR_INVALID, "-e takes NAME=VALUE[,NAME=VALUE], not \"%s\"", value);
    if (options->variable_count == VARIABLES_MAX)
        return fail(err, ERR_INVALID, "-e is given more than %d times: one can hold A=B,C=D",
                    VARIABLES_MAX);
    options->variables[options->variable_count++] = value;
    return OK;
}

/* Words of nsys that scripts have, and that mean nothing here. */
static enum status take_nothing(const char *value, struct options *options, struct error *err)
{
    (void)value;
    (void)options;
    (void)err;
    return OK;
}

static enum status take_capture(const char *value, struct options *options, struct error *err)
{
    return value_nvtx_capture(value, &options->asked, err);
}

static enum status take_include(const char *value, struct options *options, struct error *err)
{
    return value_domains(value, false, &options->asked, err);
}

static enum status take_exclude(const char *value, struct options *options, struct error *err)
{
    return value_domains(value, true, &options->asked, err);
}

static enum status take_condition(const char *value, struct options *options, struct error *err)
{
    (void)err;
    options->condition = value;
    return OK;
}

static enum status take_spool(const char *value, struct options *options, struct error *err)
{
    return value_size("--max-spool", value, &options->asked.spool_bytes_max, err);
}

static enum status take_flush(const char *value, struct options *options, struct error *err)
{
    int64_t ms;

    TRY(value_seconds("--flush-interval", value, &ms, err));
    if (ms < 50 || ms > 60000)
        return fail(err, ERR_INVALID, "--flush-interval takes 0.05 to 60 seconds");
    options->asked.flush_ms = (uint32_t)ms;
    return OK;
}

static enum status take_system(const char *value, struct options *options, struct error *err)
{
    char *end;
    unsigned long hz = strtoul(value, &end, 10);

    if (value[0] < '0' || value[0] > '9' || *end != '\0' || hz > 10)
        return fail(err, ERR_INVALID, "--system takes 1 to 10 samples per second, or 0, not \"%s\"",
                    value);
    options->asked.system_hz = (uint32_t)hz;
    return OK;
}

static enum status take_finalize(const char *value, struct options *options, struct error *err)
{
    return value_seconds("--finalize", value, &options->finalize_ms, err);
}

static enum status take_graphs(const char *value, struct options *options, struct error *err)
{
    options->asked.has_whole_graphs = strcmp(value, "graph") == 0;
    return options->asked.has_whole_graphs != 0 || strcmp(value, "node") == 0
               ? OK
               : fail(err, ERR_INVALID, "--cuda-graph-trace takes node or graph, not \"%s\"",
                      value);
}

static enum status take_wait(const char *value, struct options *options, struct error *err)
{
    options->waits_all = strcmp(value, "all") == 0;
    return options->waits_all || strcmp(value, "primary") == 0
               ? OK
               : fail(err, ERR_INVALID, "--wait takes primary or all, not \"%s\"", value);
}

static enum status need_samplers(const char *word, struct error *err)
{
    return sampling_is_built ? OK
                             : fail(err, ERR_INVALID,
                                    "%s: this jview-collect is built without samplers "
                                    "(JVIEWD_SAMPLERS=OFF)",
                                    word);
}

/* "process-tree" is nsys's word for the same. */
static enum status take_sample(const char *value, struct options *options, struct error *err)
{
    bool is_cpu = strcmp(value, "cpu") == 0 || strcmp(value, "process-tree") == 0;

    if (!is_cpu && strcmp(value, "none") != 0)
        return fail(err, ERR_INVALID, "--sample takes cpu or none, not \"%s\"", value);
    options->samples_cpu = is_cpu;
    return OK;
}

static enum status take_frequency(const char *value, struct options *options, struct error *err)
{
    char *end;
    unsigned long hz = strtoul(value, &end, 10);

    if (value[0] < '1' || value[0] > '9' || *end != '\0' || hz > CPU_SAMPLE_HZ_MAX)
        return fail(err, ERR_INVALID, "--sampling-frequency takes 1 to %d per second, not \"%s\"",
                    CPU_SAMPLE_HZ_MAX, value);
    options->sampling.cpu_hz = (uint32_t)hz;
    return need_samplers("--sampling-frequency", err);
}

/* Alone, or with how often: "--py-sample=200". Never two words: what follows may be the program. */
static enum status take_py_sample(const char *value, struct options *options, struct error *err)
{
    char *end;
    unsigned long hz = strtoul(value, &end, 10);

    if (value[0] < '1' || value[0] > '9' || *end != '\0' || hz > PY_SAMPLE_HZ_MAX)
        return fail(err, ERR_INVALID, "--py-sample takes 1 to %d samples per second, not \"%s\"",
                    PY_SAMPLE_HZ_MAX, value);
    options->sampling.py_hz = (uint32_t)hz;
    return OK;
}

/* Alone, or with a directory, as --py-sample. */
static enum status take_hlo_dump(const char *value, struct options *options, struct error *err)
{
    options->hlo_dump = value;
    return value[0] != '\0' ? OK : fail(err, ERR_INVALID, "--hlo-dump=DIR takes a directory");
}

static const struct word words_known[] = {
    {"-o", "--output", take_output},
    {"-t", "--trace", take_trace},
    {NULL, "--delay", take_delay},
    {NULL, "--duration", take_duration},
    {"-c", "--capture-range", take_range},
    {NULL, "--capture-range-end", take_range_end},
    {"-p", "--nvtx-capture", take_capture},
    {NULL, "--nvtx-domain-include", take_include},
    {NULL, "--nvtx-domain-exclude", take_exclude},
    {NULL, "--if", take_condition},
    {NULL, "--max-spool", take_spool},
    {NULL, "--flush-interval", take_flush},
    {NULL, "--system", take_system},
    {NULL, "--finalize", take_finalize},
    {"-w", "--wait", take_wait},
    {NULL, "--cuda-graph-trace", take_graphs},
    {NULL, "--py-sample", take_py_sample},
    {"-s", "--sample", take_sample},
    {NULL, "--sampling-frequency", take_frequency},
    {NULL, "--hlo-dump", take_hlo_dump},
    {NULL, "--kill", take_kill},
    {"-e", "--env-var", take_variables},
};

static const struct word words_of_nsys[] = {
    {"-f", "--force-overwrite", take_nothing},
    {NULL, "--stats", take_nothing},
    {NULL, "--export", take_nothing},
    {NULL, "--show-output", take_nothing},
    {NULL, "--backtrace", take_nothing},
    {NULL, "--cpuctxsw", take_nothing},
    {"-x", "--stop-on-exit", take_nothing},
    {NULL, "--trace-fork-before-exec", take_nothing},
    {NULL, "--gpu-metrics-devices", take_nothing},
    {NULL, "--cuda-memory-usage", take_nothing},
    {NULL, "--cuda-um-cpu-page-faults", take_nothing},
    {NULL, "--cuda-um-gpu-page-faults", take_nothing},
    {NULL, "--cuda-event-trace", take_nothing},
    {NULL, "--cudabacktrace", take_nothing},
    {NULL, "--python-backtrace", take_nothing},
};

static bool is_word(const char *word, const char *brief, const char *full)
{
    return (brief != NULL && strcmp(word, brief) == 0) || strcmp(word, full) == 0;
}

static bool parse_flag(const char *word, struct options *options)
{
    if (is_word(word, NULL, "--replace-injection"))
        options->replaces = true;
    else if (is_word(word, NULL, "--py-sample"))
        options->sampling.py_hz = PY_SAMPLE_HZ;
    else if (is_word(word, NULL, "--hlo-dump"))
        options->hlo_dump = "";
    else if (is_word(word, NULL, "--py-locations"))
        options->has_py_locations = true;
    else if (is_word(word, "-q", "--quiet"))
        options->is_quiet = true;
    else if (is_word(word, "-V", "--version"))
        options->shows_version = true;
    else if (is_word(word, "-h", "--help"))
        options->shows_help = true;
    else
        return false;
    return true;
}

static enum status parse_one(char **words, struct options *options, int *ret_taken,
                             struct error *err)
{
    *ret_taken = 1;
    if (parse_flag(words[0], options))
        return OK;
    for (size_t index = 0; index < sizeof words_known / sizeof words_known[0]; index++) {
        const char *value = value_of(words, &words_known[index], ret_taken);
        if (value != NULL)
            return words_known[index].take(value, options, err);
    }
    for (size_t index = 0; index < sizeof words_of_nsys / sizeof words_of_nsys[0]; index++) {
        const struct word *word = &words_of_nsys[index];
        const char *value = value_of(words, word, ret_taken);
        if (value == NULL)
            continue;
        if (word->brief == NULL || word->brief[1] != 'f')
            fprintf(stderr, "jview-collect: %s is an option of nsys and is ignored\n", word->full);
        return word->take(value, options, err);
    }
    return fail(err, ERR_INVALID, "there is no option %s; see jview-collect --help", words[0]);
}

/* What one option asks of another. */
static enum status check(struct options *options, struct error *err)
{
    struct control_asked *asked = &options->asked;
    bool has_schedule = options->delay_ms > 0 || options->duration_ms > 0;

    if (!options->samples_cpu)
        options->sampling.cpu_hz = 0;
    if (options->sampling.cpu_hz > 0)
        TRY(need_samplers("--sample=cpu", err));
    if (options->sampling.py_hz > 0)
        TRY(need_samplers("--py-sample", err));
    if (options->shuts_down && !options->has_kill)
        options->kill_signal = SIGTERM;
    if (asked->captures_max == UINT32_MAX)
        asked->captures_max = asked->range != CAPTURE_SIGNAL;
    if (asked->range == CAPTURE_STEPS && asked->name[0] == '\0')
        strcpy(asked->name, "step");
    if (asked->range == CAPTURE_NVTX && asked->name[0] == '\0')
        return fail(err, ERR_INVALID, "--capture-range nvtx needs --nvtx-capture NAME");
    if (asked->range != CAPTURE_NVTX && asked->range != CAPTURE_STEPS && asked->name[0] != '\0')
        return fail(err, ERR_INVALID, "--nvtx-capture needs --capture-range nvtx, or steps=N:M");
    if (asked->range != CAPTURE_NONE && has_schedule)
        return fail(err, ERR_INVALID, "--delay and --duration need --capture-range none");
    return OK;
}

int64_t options_finalize_ms(void)
{
    const char *asked = getenv("JVIEW_FINALIZE");
    struct error ignored = {0};
    int64_t ms;

    return asked != NULL && value_seconds("JVIEW_FINALIZE", asked, &ms, &ignored) == OK
               ? ms
               : FINALIZE_MS;
}

enum status options_parse(char **words, struct options *ret, struct error *err)
{
    *ret = (struct options){.out = "profile",
                            .finalize_ms = options_finalize_ms(),
                            .sampling = {.cpu_hz = CPU_SAMPLE_HZ},
                            .asked = {.captures_max = UINT32_MAX, .system_hz = 2}};
    while (*words != NULL && (*words)[0] == '-' && strcmp(*words, "--") != 0) {
        int taken;
        TRY(parse_one(words, ret, &taken, err));
        for (; taken > 0 && *words != NULL; taken--)
            words++;
    }
    if (*words != NULL && strcmp(*words, "--") == 0)
        words++;
    ret->command = words;
    if (*words == NULL && !ret->shows_help && !ret->shows_version)
        return fail(err, ERR_INVALID, "no command to run: jview-collect -o DIR -- python train.py");
    return check(ret, err);
}

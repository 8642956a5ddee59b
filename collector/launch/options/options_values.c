/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the value of one option each: times, sizes, capture ranges, signals, what to trace. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/options/options.h"

enum { SECONDS_MAX = 30 * 24 * 3600 };

enum status value_seconds(const char *name, const char *text, int64_t *ret_ms, struct error *err)
{
    char *end;

    errno = 0;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !isfinite(seconds) || seconds < 0 ||
        seconds > SECONDS_MAX)
        return fail(err, ERR_INVALID, "%s takes seconds, such as 2.5, not \"%s\"", name, text);
    *ret_ms = (int64_t)ceil(seconds * 1000); /* a little is not nothing */
    return OK;
}

enum status value_size(const char *name, const char *text, uint64_t *ret_bytes, struct error *err)
{
    static const char units[] = "KMGT";
    char *end;

    errno = 0;
    unsigned long long count = strtoull(text, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end & ~0x20) : NULL;
    unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    if (unit != NULL)
        end++;
    if (text[0] < '0' || text[0] > '9' || errno != 0 || *end != '\0' || count == 0 ||
        count > UINT64_MAX >> shift)
        return fail(err, ERR_INVALID, "%s takes a size, such as 500M or 2G, not \"%s\"", name,
                    text);
    *ret_bytes = (uint64_t)count << shift;
    return OK;
}

/* "10:20", both counted from 1, the last one with it. */
static enum status take_steps(const char *text, struct control_asked *asked, struct error *err)
{
    unsigned first, last;
    char rest;

    if (sscanf(text, "%u:%u%c", &first, &last, &rest) != 2 || first == 0 || last < first)
        return fail(err, ERR_INVALID,
                    "--capture-range steps takes the first and the last one, such as "
                    "steps=10:20, not \"%s\"",
                    text);
    asked->first_step = first;
    asked->last_step = last;
    return OK;
}

enum status value_capture_range(const char *text, struct control_asked *asked, struct error *err)
{
    static const char *const words[] = {[CAPTURE_NONE] = "none",
                                        [CAPTURE_NVTX] = "nvtx",
                                        [CAPTURE_STEPS] = "steps",
                                        [CAPTURE_SIGNAL] = "signal",
                                        [CAPTURE_CUDA] = "cudaProfilerApi"};
    size_t count = strcspn(text, "=");

    for (uint32_t range = 0; range < sizeof words / sizeof words[0]; range++) {
        if (strlen(words[range]) != count || strncmp(words[range], text, count) != 0)
            continue;
        asked->range = range;
        if (range == CAPTURE_STEPS)
            return take_steps(text[count] == '=' ? text + count + 1 : "", asked, err);
        if (text[count] == '\0')
            return OK;
    }
    return fail(err, ERR_INVALID,
                "--capture-range takes none, nvtx, steps=N:M, signal or cudaProfilerApi, not "
                "\"%s\"",
                text);
}

enum status value_capture_end(const char *text, struct control_asked *asked, struct error *err)
{
    unsigned count;
    char rest;

    if (strcmp(text, "stop") == 0)
        asked->captures_max = 1;
    else if (strcmp(text, "repeat") == 0)
        asked->captures_max = 0;
    else if (sscanf(text, "repeat:%u%c", &count, &rest) == 1 && count > 0)
        asked->captures_max = count;
    else
        return fail(err, ERR_INVALID,
                    "--capture-range-end takes stop, repeat, repeat:N, stop-shutdown or "
                    "repeat-shutdown:N, not \"%s\"",
                    text);
    return OK;
}

enum status value_nvtx_capture(const char *text, struct control_asked *asked, struct error *err)
{
    const char *at = strrchr(text, '@');
    size_t count = at != NULL ? (size_t)(at - text) : strlen(text);
    const char *domain = at != NULL && strcmp(at, "@*") != 0 ? at + 1 : "";

    if (count == 0 || count >= sizeof asked->name || strlen(domain) >= sizeof asked->domain)
        return fail(err, ERR_INVALID,
                    "--nvtx-capture takes NAME or NAME@DOMAIN of at most %zu bytes each",
                    sizeof asked->name - 1);
    memset(asked->name, 0, sizeof asked->name);
    memcpy(asked->name, text, count);
    snprintf(asked->domain, sizeof asked->domain, "%s", domain);
    return OK;
}

enum status value_domains(const char *text, bool excludes, struct control_asked *asked,
                          struct error *err)
{
    if (asked->domains[0] != '\0' && (asked->excludes_domains != 0) != excludes)
        return fail(err, ERR_INVALID,
                    "--nvtx-domain-include and --nvtx-domain-exclude cannot be combined");
    if (text[0] == '\0' || strlen(text) >= sizeof asked->domains)
        return fail(err, ERR_INVALID,
                    "--nvtx-domain-include and --nvtx-domain-exclude take names separated by "
                    "commas, at most %zu bytes; \"default\" is the default domain",
                    sizeof asked->domains - 1);
    snprintf(asked->domains, sizeof asked->domains, "%s", text);
    asked->excludes_domains = excludes;
    return OK;
}

enum status value_signal(const char *text, int *ret, struct error *err)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    if (strcmp(text, "none") == 0)
        *ret = 0;
    else if (strcmp(text, "sigterm") == 0)
        *ret = SIGTERM;
    else if (strcmp(text, "sigkill") == 0)
        *ret = SIGKILL;
    else if (text[0] >= '1' && text[0] <= '9' && *end == '\0' && number <= (unsigned long)SIGRTMAX)
        *ret = (int)number;
    else
        return fail(err, ERR_INVALID,
                    "--kill takes none, sigterm, sigkill or a signal's number, not \"%s\"", text);
    return OK;
}

static bool is_in(const char *word, size_t count, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strlen(*words) == count && strncmp(*words, word, count) == 0)
            return true;
    return false;
}

enum status value_trace(const char *text, struct control_asked *asked, struct error *err)
{
    static const char *const not_ours[] = {"cuda-hw",
                                           "cublas",
                                           "cublas-verbose",
                                           "cudnn",
                                           "cusolver",
                                           "cusparse",
                                           "cudla",
                                           "cudla-verbose",
                                           "cusolver-verbose",
                                           "cusparse-verbose",
                                           "nvvideo",
                                           "mpi",
                                           "openacc",
                                           "opengl",
                                           "opengl-annotations",
                                           "openmp",
                                           "osrt",
                                           "oshmem",
                                           "python-gil",
                                           "syscall",
                                           "tegra-accelerators",
                                           "ucx",
                                           "vulkan",
                                           "vulkan-annotations",
                                           "wddm",
                                           NULL};
    static const char *const none[] = {"none", NULL}, *const nvtx[] = {"nvtx", NULL},
                             *const cuda[] = {"cuda", NULL};
    bool has_nvtx = false, has_cuda = false;

    for (const char *word = text;; word++) {
        size_t count = strcspn(word, ",");
        if (is_in(word, count, nvtx))
            has_nvtx = true;
        else if (is_in(word, count, cuda))
            has_cuda = true;
        else if (is_in(word, count, not_ours))
            fprintf(stderr, "jview-collect: -t %.*s is not collected; the program runs without\n",
                    (int)count, word);
        else if (!is_in(word, count, none))
            return fail(err, ERR_INVALID,
                        "-t takes cuda, nvtx, none, or other words of nsys; not \"%s\"", text);
        word += count;
        if (*word == '\0')
            break;
    }
    asked->no_ranges = !has_nvtx;
    asked->no_activity = !has_cuda;
    return OK;
}

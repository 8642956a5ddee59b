/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the records of perf_event_open out of a ring, and logs each sample with its stack.
 * Facts: linux/perf_event.h. */
#include "launch/sample/cpu_record.h"

#include <stdio.h>
#include <string.h>

#include "launch/sample/cpu_symbols.h"
#include "launch/sample/sample_processes.h"

enum { DEPTH_MAX = 127, PATH_MAX_BYTES = 4096 };

void cpu_records_begin(struct cpu_records *records)
{
    records->drain++;
}

/* Reads fields in turn; past the end they are 0. */
struct fields {
    const uint8_t *at, *end;
};

static uint64_t take(struct fields *fields, size_t count)
{
    uint64_t value = 0;

    if ((size_t)(fields->end - fields->at) < count) {
        fields->at = fields->end;
        return 0;
    }
    memcpy(&value, fields->at, count);
    fields->at += count;
    return value;
}

/* pid tid address length offset  major minor inode generation  protection flags  path */
static void take_map(struct fields *fields)
{
    char path[PATH_MAX_BYTES];
    pid_t process = (pid_t)take(fields, 4);
    struct cpu_map map;

    take(fields, 4);
    map.from = take(fields, 8);
    map.count = take(fields, 8);
    map.offset = take(fields, 8);
    for (int word = 0; word < 4; word++) /* two of 4, two of 8 bytes; then two of 4 */
        take(fields, 8 - 4 * (word < 2));
    take(fields, 8);
    size_t count = (size_t)(fields->end - fields->at);
    if (count >= sizeof path)
        count = sizeof path - 1;
    memcpy(path, fields->at, count);
    path[count] = '\0';
    symbols_mapped(process, map, path);
}

/* pid ppid tid ptid time */
static void take_fork(struct fields *fields)
{
    pid_t process = (pid_t)take(fields, 4), parent = (pid_t)take(fields, 4);

    if (process != parent)
        symbols_forked(process, parent);
}

/* pid tid name. What was not sampled yet gets no log for it: most of what a shell starts never
 * is. */
static void take_comm(struct fields *fields, bool is_exec)
{
    pid_t process = (pid_t)take(fields, 4);
    int64_t thread = (int64_t)take(fields, 4);
    char name[32] = "";
    size_t count = (size_t)(fields->end - fields->at);

    memcpy(name, fields->at, count < sizeof name - 1 ? count : sizeof name - 1);
    if (is_exec)
        symbols_became(process);
    struct sample_log *log = sample_log_find(process);
    if (log != NULL && name[0] != '\0')
        sample_log_task(log, thread, name);
}

static uint32_t put_call(struct sample_log *log, pid_t process, uint64_t address, uint32_t caller)
{
    struct symbol_at at = symbols_find(process, address);
    char unknown[64];

    if (at.function.count == 0 && at.file.count == 0)
        at.function = STR("[unknown]");
    else if (at.function.count == 0) {
        snprintf(unknown, sizeof unknown, "[%.*s]", (int)(at.file.count < 48 ? at.file.count : 48),
                 at.file.at);
        at.function = str_of(unknown);
    }
    return sample_log_stack(
        log, caller,
        (struct sample_call){.function = sample_log_text(log, at.function.at, at.function.count),
                             .module = sample_log_text(log, at.file.at, at.file.count)});
}

/* Innermost first, with marks between what is the kernel's and the user's; a caller's address is
 * that behind its call. */
static uint32_t take_chain(struct fields *fields, struct sample_log *log, pid_t process)
{
    uint64_t chain[DEPTH_MAX], count = take(fields, 8);
    bool is_user = false;
    uint32_t depth = 0, stack = 0;

    for (uint64_t index = 0; index < count && fields->at < fields->end; index++) {
        uint64_t address = take(fields, 8);

        if (address >= PERF_CONTEXT_MAX)
            is_user = address == (uint64_t)PERF_CONTEXT_USER;
        else if (is_user && depth < DEPTH_MAX)
            chain[depth++] = address;
    }
    while (depth-- > 0)
        stack = put_call(log, process, chain[depth] - (depth > 0), stack);
    return stack;
}

/* At its first sample: it got its name before, or from who made it. */
static void name_task(struct sample_log *log, pid_t process, int64_t thread)
{
    char name[32];

    if (!sample_log_knows(log, thread) && task_name(process, thread, name))
        sample_log_task(log, thread, name);
}

static struct sample_log *log_of(struct cpu_records *records, pid_t process)
{
    struct cpu_lately *lately = &records->lately[(uint32_t)process % CPU_LATELY];

    if (lately->process != process || lately->drain != records->drain)
        *lately = (struct cpu_lately){process, records->drain, sample_log_of(process)};
    return lately->log;
}

/* ip pid tid time period chain */
static void take_sample(struct cpu_records *records, struct fields *fields)
{
    take(fields, 8);
    pid_t process = (pid_t)take(fields, 4);
    struct sample_row row = {.thread = (int64_t)take(fields, 4), .kind = SAMPLER_CPU, .cpu_ns = -1};
    row.at_ns = (int64_t)take(fields, 8);
    row.time_ns = (int64_t)take(fields, 8);
    struct sample_log *log = log_of(records, process);

    if (log == NULL) {
        records->lost++;
        return;
    }
    records->any = log;
    sample_log_sampler(log, SAMPLER_CPU, records->hz);
    name_task(log, process, row.thread);
    row.stack = take_chain(fields, log, process);
    sample_log_put(log, &row);
}

void cpu_records_take(struct cpu_records *records, const struct perf_event_header *record,
                      bool is_kept)
{
    struct fields fields = {(const uint8_t *)(record + 1), (const uint8_t *)record + record->size};

    switch (record->type) {
    case PERF_RECORD_MMAP2:
        take_map(&fields);
        break;
    case PERF_RECORD_FORK:
        take_fork(&fields);
        break;
    case PERF_RECORD_COMM:
        take_comm(&fields, (record->misc & PERF_RECORD_MISC_COMM_EXEC) != 0);
        break;
    case PERF_RECORD_LOST:
        take(&fields, 8);
        records->lost += take(&fields, 8);
        break;
    case PERF_RECORD_SAMPLE:
        if (is_kept)
            take_sample(records, &fields);
        break;
    default:
        break;
    }
}

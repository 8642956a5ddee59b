/* SPDX-License-Identifier: Apache-2.0 */
/* What the samplers read of other programs, taken for it; the first byte says what the rest is.
 *
 *   0  the kernel's ring: head u16, tail u16, then its bytes     -> records -> samples
 *   1  an ELF file                                               -> symbols, sections
 *   2  memory at 0x10000000: runtime, code type, version, bytes  -> stacks of Python
 *   3  lines of /proc/PID/maps
 *   4  a table of lines: version, first line, place, bytes
 *
 * What the samplers tell goes nowhere, and is held against what a log takes.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch/sample/cpu_record.h"
#include "launch/sample/cpu_ring.h"
#include "launch/sample/cpu_symbols.h"
#include "launch/sample/py_lines.h"
#include "launch/sample/py_stack.h"
#include "launch/sample/sample_elf.h"
#include "launch/sample/sample_maps.h"
#include "launch/sample/sample_processes.h"

enum { RING_BYTES = 1 << 16, MEMORY_BYTES = 1 << 16, KINDS = 5 };
#define MEMORY_AT ((uint8_t *)0x10000000)

struct sample_log {
    uint32_t texts, stacks;
};
static struct sample_log only;

/* As the log of a process, which keeps nothing. */
struct sample_log *sample_log_of(pid_t process)
{
    return process % 2 == 0 ? &only : NULL;
}

struct sample_log *sample_log_find(pid_t process)
{
    return sample_log_of(process);
}

void sample_log_sampler(struct sample_log *log, enum spool_sampler kind, uint32_t hz)
{
    (void)log, (void)kind, (void)hz;
}

static void read_all(const void *at, size_t count)
{
    for (size_t index = 0; index < count; index++)
        (void)((const volatile uint8_t *)at)[index];
}

uint32_t sample_log_text(struct sample_log *log, const char *at, size_t count)
{
    read_all(at, count);
    return count > 0 ? ++log->texts : 0;
}

uint32_t sample_log_stack(struct sample_log *log, uint32_t caller, struct sample_call call)
{
    if (caller > log->stacks || call.function > log->texts || call.file > log->texts ||
        call.module > log->texts)
        abort();
    return ++log->stacks;
}

void sample_log_put(struct sample_log *log, const struct sample_row *row)
{
    if (row->stack > log->stacks)
        abort();
}

void sample_log_task(struct sample_log *log, int64_t thread, const char *name)
{
    (void)log, (void)thread;
    read_all(name, strlen(name));
}

bool sample_log_knows(struct sample_log *log, int64_t thread)
{
    (void)log;
    return thread % 2 == 0;
}

bool task_name(pid_t process, int64_t task, char ret[32])
{
    (void)process, (void)task;
    ret[0] = '\0';
    return false;
}

/* Mappings' files are opened by their paths elsewhere; here they are read, and no more. */
void symbols_mapped(pid_t process, struct cpu_map map, const char *path)
{
    (void)process, (void)map;
    read_all(path, strlen(path));
}

void symbols_forked(pid_t process, pid_t parent)
{
    (void)process, (void)parent;
}

void symbols_became(pid_t process)
{
    (void)process;
}

struct symbol_at symbols_find(pid_t process, uint64_t address)
{
    (void)process;
    return address % 2 == 0 ? (struct symbol_at){.function = STR("main"), .file = STR("program")}
                            : (struct symbol_at){0};
}

static void read_ring(struct bytes bytes)
{
    static struct cpu_records records = {.hz = 199};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint16_t head = 0, tail = 0;

    if (bytes.count < 4)
        return;
    memcpy(&head, bytes.at, 2);
    memcpy(&tail, bytes.at + 2, 2);
    bytes.at += 4;
    bytes.count -= 4;
    struct cpu_ring ring = {.pages = calloc(1, page + RING_BYTES),
                            .bytes = RING_BYTES,
                            .record = malloc(RING_RECORD_MAX)};
    struct perf_event_mmap_page *front = ring.pages;
    if (ring.pages == NULL || ring.record == NULL)
        abort();
    memcpy((uint8_t *)ring.pages + page, bytes.at,
           bytes.count < RING_BYTES ? bytes.count : RING_BYTES);
    front->data_tail = tail;
    front->data_head = (uint64_t)tail + head;
    cpu_records_begin(&records);
    for (const struct perf_event_header *record; (record = ring_next(&ring)) != NULL;)
        cpu_records_take(&records, record, true);
    free(ring.pages);
    free(ring.record);
}

static void take_symbol(void *data, const struct elf_symbol *symbol)
{
    (void)data;
    read_all(symbol->name.at, symbol->name.count);
}

static void read_elf(struct bytes bytes)
{
    struct elf_wanted wanted[] = {{.name = "_PyRuntime"}, {.name = "main"}};
    int fd = memfd_create("elf", MFD_CLOEXEC);
    struct elf elf;
    uint64_t address;

    if (fd < 0 || write(fd, bytes.at, bytes.count) != (ssize_t)bytes.count)
        abort();
    if (elf_open(fd, &elf)) {
        elf_symbols(&elf, take_symbol, NULL);
        elf_find(&elf, wanted, COUNT(wanted));
        elf_address(&elf, 0x1234, &address);
        elf_section(&elf, ".PyRuntime", &address);
    }
    close(fd);
}

static void take_thread(void *data, const struct py_thread *thread)
{
    (void)data;
    if (thread->stack > only.stacks || thread->id <= 0)
        abort();
}

/* Our own memory is the other's. */
static void read_python(struct bytes bytes)
{
    static struct remote remote;
    static uint8_t *memory;
    struct py_reader reader = {.remote = &remote, .log = &only};
    uint16_t runtime = 0, type = 0;
    uint64_t torn = 0;

    if (memory == NULL)
        memory = mmap(MEMORY_AT, MEMORY_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != MEMORY_AT)
        abort();
    if (bytes.count < 6)
        return;
    memcpy(&runtime, bytes.at, 2);
    memcpy(&type, bytes.at + 2, 2);
    uint32_t version = (uint32_t)(bytes.at[4] | bytes.at[5] << 8) << 16;
    bytes.at += 6;
    bytes.count -= 6;
    memset(memory, 0, MEMORY_BYTES);
    memcpy(memory, bytes.at, bytes.count < MEMORY_BYTES ? bytes.count : MEMORY_BYTES);
    struct bytes table = {memory + runtime % (MEMORY_BYTES / 2), PY_DEBUG_BYTES};
    const struct py_layout *layout = py_layout_of(version);
    if (layout != NULL)
        reader.python.layout = *layout;
    else if (!py_layout_read(table, &reader.python.layout))
        return;
    reader.python.runtime = (uint64_t)(uintptr_t)MEMORY_AT + runtime % (MEMORY_BYTES / 2);
    reader.python.code_type = (uint64_t)(uintptr_t)MEMORY_AT + type;
    remote_begin(&remote, getpid());
    py_stacks(&reader, take_thread, NULL, &torn);
    py_codes_free(&reader.codes);
}

static void read_maps(struct bytes bytes)
{
    char line[512];
    struct map map;

    for (size_t at = 0; at < bytes.count;) {
        const uint8_t *end = memchr(bytes.at + at, '\n', bytes.count - at);
        size_t count = end != NULL ? (size_t)(end - bytes.at) - at : bytes.count - at;
        size_t kept = count < sizeof line - 1 ? count : sizeof line - 1;

        memcpy(line, bytes.at + at, kept);
        line[kept] = '\0';
        if (maps_line(line, &map)) {
            if (map.to <= map.from)
                abort();
            read_all(map.path, strlen(map.path));
        }
        at += count + 1;
    }
}

static void read_lines(struct bytes bytes)
{
    uint32_t first = 0, place = 0;

    if (bytes.count < 9)
        return;
    memcpy(&first, bytes.at + 1, 4);
    memcpy(&place, bytes.at + 5, 4);
    py_line(0x030a + bytes.at[0] % 5, (struct bytes){bytes.at + 9, bytes.count - 9}, (int32_t)first,
            place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[KINDS])(struct bytes) = {read_ring, read_elf, read_python,
                                                         read_maps, read_lines};

    only = (struct sample_log){0};
    if (size > 0)
        readers[data[0] % KINDS]((struct bytes){data + 1, size - 1});
    return 0;
}

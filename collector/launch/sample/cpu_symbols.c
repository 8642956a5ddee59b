/* SPDX-License-Identifier: Apache-2.0 */
/* From an address in a process to module and function: by its mapped files and their ELF
 * symbols. */
#include "launch/sample/cpu_symbols.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "launch/sample/sample_elf.h"

enum {
    PROCESSES_MAX = 1024,
    MAPS_MAX = 8192, /* of one */
    FILES_MAX = 4096,
    SYMBOLS_MAX = 1 << 22, /* of all files */
    NAMES_MAX = 256 << 20  /* bytes of them */
};

struct symbol {
    uint64_t address, size;
    uint32_t name; /* of file.names */
    char *shown;   /* demangled, when it was asked for */
};

struct file {
    char *path;
    struct str last; /* its name without directories */
    bool is_read;
    struct symbol *symbols; /* by address */
    uint32_t count, capacity;
    struct text names;
};

struct mapped {
    struct cpu_map map;
    uint32_t file;
    uint64_t first; /* the file's address of the mapping's begin */
    bool has_first;
};

struct process {
    pid_t id;
    struct mapped *maps;
    uint32_t count, capacity;
};

static struct process processes[PROCESSES_MAX];
static uint32_t process_count, file_count, symbol_count;
static struct file *files[FILES_MAX];
static size_t name_bytes;

static struct process *find_process(pid_t id)
{
    for (uint32_t index = process_count; index-- > 0;)
        if (processes[index].id == id)
            return &processes[index];
    return NULL;
}

/* Where there are too many the oldest goes: it has most likely ended. */
static struct process *process_of(pid_t id)
{
    struct process *process = find_process(id);

    if (process != NULL)
        return process;
    if (process_count == PROCESSES_MAX) {
        free(processes[1].maps); /* the first is the program */
        memmove(processes + 1, processes + 2, (PROCESSES_MAX - 2) * sizeof *processes);
        process_count--;
    }
    process = &processes[process_count++];
    *process = (struct process){.id = id};
    return process;
}

static uint32_t file_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    for (uint32_t index = 0; index < file_count; index++)
        if (strcmp(files[index]->path, path) == 0)
            return index;
    if (file_count == FILES_MAX)
        return UINT32_MAX;
    struct file *file = memory_resize(NULL, 1, sizeof *file);

    *file = (struct file){.path = strdup(path)};
    if (file->path == NULL)
        abort(); /* out of memory: as base/arena.h says */
    file->last = str_of(file->path + (slash != NULL ? slash + 1 - path : 0));
    files[file_count] = file;
    return file_count++;
}

void symbols_mapped(pid_t process_id, struct cpu_map map, const char *path)
{
    struct process *process = process_of(process_id);
    uint32_t file = file_of(path);

    if (file == UINT32_MAX || map.count == 0)
        return;
    if (process->count == MAPS_MAX)
        memmove(process->maps, process->maps + 1, --process->count * sizeof *process->maps);
    if (process->count == process->capacity) {
        process->capacity = process->capacity == 0 ? 32 : 2 * process->capacity;
        process->maps = memory_resize(process->maps, process->capacity, sizeof *process->maps);
    }
    process->maps[process->count++] = (struct mapped){.map = map, .file = file};
}

void symbols_became(pid_t process_id)
{
    process_of(process_id)->count = 0;
}

void symbols_forked(pid_t process_id, pid_t parent_id)
{
    struct process *process = process_of(process_id);
    const struct process *parent = find_process(parent_id);

    process->count = 0;
    if (parent == NULL || parent->count == 0 || parent == process)
        return;
    process->maps = memory_resize(process->maps, parent->count, sizeof *process->maps);
    process->capacity = process->count = parent->count;
    memcpy(process->maps, parent->maps, parent->count * sizeof *process->maps);
}

static void take_symbol(void *data, const struct elf_symbol *symbol)
{
    struct file *file = data;

    if (!symbol->is_function || symbol_count == SYMBOLS_MAX ||
        name_bytes + symbol->name.count > NAMES_MAX)
        return;
    if (file->count == file->capacity) {
        file->capacity = file->capacity == 0 ? 1024 : 2 * file->capacity;
        file->symbols = memory_resize(file->symbols, file->capacity, sizeof *file->symbols);
    }
    file->symbols[file->count++] = (struct symbol){
        .address = symbol->address, .size = symbol->size, .name = (uint32_t)file->names.count};
    text_put(&file->names, symbol->name.at, symbol->name.count);
    text_put(&file->names, "", 1);
    name_bytes += symbol->name.count + 1;
    symbol_count++;
}

static int by_address(const void *a, const void *b)
{
    const struct symbol *left = a, *right = b;

    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return left->size < right->size ? -1 : left->size > right->size;
}

/* As the process sees it, while it lives; as we do, behind that. */
static int open_file(pid_t process, const char *path)
{
    char there[4400];
    struct stat about;

    snprintf(there, sizeof there, "/proc/%ld/root%.4096s", (long)process, path);
    int fd = open(there, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void read_symbols(const struct elf *elf, struct file *file)
{
    elf_symbols(elf, take_symbol, file);
    if (file->count > 0)
        qsort(file->symbols, file->count, sizeof *file->symbols, by_address);
    file->is_read = true;
}

/* The file's symbols, once, and where it has what is mapped here. */
static void read_file(pid_t process, struct mapped *mapped, struct file *file)
{
    struct elf elf;
    int fd = file->path[0] == '/' ? open_file(process, file->path) : -1;

    mapped->has_first = true;
    mapped->first = mapped->map.offset;
    if (fd >= 0 && elf_open(fd, &elf)) {
        if (!elf_address(&elf, mapped->map.offset, &mapped->first))
            mapped->first = mapped->map.offset;
        if (!file->is_read)
            read_symbols(&elf, file);
    }
    if (fd >= 0)
        close(fd);
}

/* The last that begins at or before; one without a size ends where the next begins. */
static struct symbol *symbol_in(const struct file *file, uint64_t address)
{
    uint32_t low = BISECT(0, file->count, i, file->symbols[i].address <= address);

    if (low == 0)
        return NULL;
    struct symbol *symbol = &file->symbols[low - 1];
    return symbol->size == 0 || address - symbol->address < symbol->size ? symbol : NULL;
}

/* That of the C++ runtime, where there is one. */
static char *demangle(const char *name)
{
    static char *(*function)(const char *, char *, size_t *, int *);
    static bool is_sought;
    int status = 0;

    if (!is_sought) {
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        void *found = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
        memcpy(&function, &found, sizeof function);
        is_sought = true;
    }
    char *shown = function != NULL && strncmp(name, "_Z", 2) == 0
                      ? function(name, NULL, NULL, &status)
                      : NULL;
    return shown != NULL ? shown : strdup(name);
}

struct symbol_at symbols_find(pid_t process_id, uint64_t address)
{
    const struct process *process = find_process(process_id);
    struct mapped *mapped = NULL;

    for (uint32_t index = process != NULL ? process->count : 0; index-- > 0 && mapped == NULL;)
        if (address - process->maps[index].map.from < process->maps[index].map.count)
            mapped = &process->maps[index];
    if (mapped == NULL)
        return (struct symbol_at){0};
    struct file *file = files[mapped->file];
    if (!mapped->has_first)
        read_file(process_id, mapped, file);
    struct symbol *symbol = symbol_in(file, address - mapped->map.from + mapped->first);
    if (symbol == NULL)
        return (struct symbol_at){.file = file->last};
    if (symbol->shown == NULL && (symbol->shown = demangle(file->names.at + symbol->name)) == NULL)
        abort();
    return (struct symbol_at){.function = str_of(symbol->shown), .file = file->last};
}

void symbols_free(void)
{
    for (uint32_t index = 0; index < process_count; index++)
        free(processes[index].maps);
    for (uint32_t index = 0; index < file_count; index++) {
        for (uint32_t symbol = 0; symbol < files[index]->count; symbol++)
            free(files[index]->symbols[symbol].shown);
        free(files[index]->symbols);
        text_free(&files[index]->names);
        free(files[index]->path);
        free(files[index]);
    }
    process_count = file_count = symbol_count = 0;
    name_bytes = 0;
}

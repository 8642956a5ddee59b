/* SPDX-License-Identifier: Apache-2.0 */
/* Finds _PyRuntime by the ELF symbols of a process's program and libraries, and the layout of
 * its version. */
#include "launch/sample/py_find.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/sample/sample_elf.h"
#include "launch/sample/sample_maps.h"

enum { PATH_BYTES = 4200 };
enum wanted { RUNTIME, CODE_TYPE, VERSION, ADD_OBJECT_REF, WANTED };

/* Whose first part a program that is Python has mapped: its own file, or a libpython. */
static bool is_candidate(const struct map *map, const char *program)
{
    const char *slash = strrchr(map->path, '/');

    return slash != NULL &&
           (strncmp(slash + 1, "libpython", 9) == 0 || strcmp(map->path, program) == 0);
}

/* As the process sees it: it may live in other mounts. */
static int open_file(pid_t process, const char *file, bool is_program)
{
    char path[PATH_BYTES];
    struct stat about;

    if (is_program)
        snprintf(path, sizeof path, "/proc/%ld/exe", (long)process);
    else
        snprintf(path, sizeof path, "/proc/%ld/root%.4000s", (long)process, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool find_symbols(int fd, const struct map *map, struct elf_wanted wanted[WANTED])
{
    struct elf elf;
    uint64_t first;

    if (!elf_open(fd, &elf) || !elf_address(&elf, map->offset, &first))
        return false;
    elf_find(&elf, wanted, WANTED);
    if (!wanted[RUNTIME].is_found)
        wanted[RUNTIME].is_found = elf_section(&elf, ".PyRuntime", &wanted[RUNTIME].address);
    for (int index = 0; index < WANTED; index++)
        wanted[index].address += map->from - first;
    return wanted[RUNTIME].is_found && wanted[CODE_TYPE].is_found;
}

/* 3.10 does not say its version; what it has and 3.9 has not does. */
static enum py_found find_layout(struct remote *remote, const struct elf_wanted wanted[WANTED],
                                 struct python *ret)
{
    uint8_t front[PY_DEBUG_BYTES];
    uint64_t hex_version = wanted[ADD_OBJECT_REF].is_found ? 0x030a0000 : 0;

    if (!remote_read_through(remote, ret->runtime, front, sizeof front))
        return PY_UNREADABLE;
    if (py_layout_read((struct bytes){front, sizeof front}, &ret->layout))
        return PY_FOUND;
    if (wanted[VERSION].is_found &&
        !remote_read_through(remote, wanted[VERSION].address, &hex_version, sizeof hex_version))
        return PY_UNREADABLE;
    const struct py_layout *layout = py_layout_of((uint32_t)hex_version);
    if (layout != NULL)
        ret->layout = *layout;
    else
        ret->layout.version = (uint32_t)(hex_version >> 16);
    return layout != NULL ? PY_FOUND : PY_UNKNOWN;
}

static enum py_found find_in(pid_t process, const struct map *map, bool is_program,
                             struct remote *remote, struct python *ret)
{
    struct elf_wanted wanted[WANTED] = {
        [RUNTIME] = {.name = "_PyRuntime"},
        [CODE_TYPE] = {.name = "PyCode_Type"},
        [VERSION] = {.name = "Py_Version"},
        [ADD_OBJECT_REF] = {.name = "PyModule_AddObjectRef"},
    };
    int fd = open_file(process, map->path, is_program);
    if (fd < 0)
        return PY_NONE;
    bool is_python = find_symbols(fd, map, wanted);
    close(fd);
    if (!is_python)
        return PY_NONE;
    ret->runtime = wanted[RUNTIME].address;
    ret->code_type = wanted[CODE_TYPE].address;
    return find_layout(remote, wanted, ret);
}

enum py_found py_find(pid_t process, struct remote *remote, struct python *ret)
{
    char link[64], program[PATH_BYTES] = "";
    const char *last = "";
    enum py_found found = PY_NONE;
    struct maps maps;

    *ret = (struct python){0};
    snprintf(link, sizeof link, "/proc/%ld/exe", (long)process);
    ssize_t count = readlink(link, program, sizeof program - 1);
    program[count > 0 ? count : 0] = '\0';
    remote_begin(remote, process);
    maps_read(process, &maps);
    for (uint32_t index = 0; index < maps.count && found == PY_NONE; index++) {
        const struct map *map = &maps.at[index];

        if (strcmp(map->path, last) == 0 || !is_candidate(map, program))
            continue;
        last = map->path;
        found = find_in(process, map, strcmp(map->path, program) == 0, remote, ret);
    }
    maps_free(&maps);
    return found;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Parses /proc/PID/maps into the files that are mapped, in order of their addresses. */
#include "launch/sample/sample_maps.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"

enum { TEXT_MAX = 16 << 20, MAPS_MAX = 1 << 17, PIECE = 1 << 16 };

static bool take_hex(char **at, uint64_t *ret, char behind)
{
    char *end;

    if (!isxdigit((unsigned char)**at))
        return false;
    *ret = strtoull(*at, &end, 16);
    if (*end != behind)
        return false;
    *at = end + 1;
    return true;
}

bool maps_line(char *line, struct map *ret)
{
    char *at = line;

    *ret = (struct map){0};
    if (!take_hex(&at, &ret->from, '-') || !take_hex(&at, &ret->to, ' ') || ret->to <= ret->from ||
        strlen(at) < 6 || at[4] != ' ')
        return false;
    ret->is_code = at[2] == 'x';
    at += 5;
    if (!take_hex(&at, &ret->offset, ' '))
        return false;
    for (int word = 0; word < 2; word++) { /* device, inode */
        at = strchr(at, ' ');
        if (at == NULL) {
            ret->path = "";
            return word == 1;
        }
        at += strspn(at, " ");
    }
    at[strcspn(at, "\n")] = '\0';
    ret->path = at;
    return true;
}

static char *read_text(pid_t process)
{
    char path[64], *text = NULL;
    size_t count = 0, capacity = 0;
    ssize_t got = 0;

    snprintf(path, sizeof path, "/proc/%ld/maps", (long)process);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    do {
        count += (size_t)got;
        if (capacity - count < PIECE) {
            capacity = capacity == 0 ? 2 * PIECE : 2 * capacity;
            text = memory_resize(text, capacity, 1);
        }
        got = read(fd, text + count, PIECE - 1);
    } while ((got > 0 && count < TEXT_MAX) || (got < 0 && errno == EINTR && (got = 0) == 0));
    close(fd);
    text[count] = '\0';
    return text;
}

void maps_read(pid_t process, struct maps *ret)
{
    uint32_t capacity = 0;

    *ret = (struct maps){.text = read_text(process)};
    for (char *line = ret->text, *next; line != NULL && *line != '\0'; line = next) {
        struct map map;

        next = line + strcspn(line, "\n");
        if (*next == '\n')
            *next++ = '\0';
        if (ret->count == MAPS_MAX || !maps_line(line, &map))
            continue;
        if (ret->count == capacity) {
            capacity = capacity == 0 ? 256 : 2 * capacity;
            ret->at = memory_resize(ret->at, capacity, sizeof *ret->at);
        }
        ret->at[ret->count++] = map;
    }
}

void maps_free(struct maps *maps)
{
    free(maps->at);
    free(maps->text);
}

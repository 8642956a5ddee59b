/* SPDX-License-Identifier: Apache-2.0 */
/* What the samplers read of other programs: mappings, symbols, line tables, Python's own table.
 * Right where it is right; where it is anything else, nothing is believed and nothing breaks. */
#include <elf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "launch/sample/py_layout.h"
#include "launch/sample/py_lines.h"
#include "launch/sample/sample_elf.h"
#include "launch/sample/sample_maps.h"

static void map_lines(void **state)
{
    (void)state;
    const struct {
        const char *line;
        bool is_map, is_code;
        uint64_t from, to, offset;
        const char *path;
    } rows[] = {
        {"7f12a000-7f12f000 r-xp 00002000 fd:01 1234   /usr/lib/a b.so", true, true, 0x7f12a000,
         0x7f12f000, 0x2000, "/usr/lib/a b.so"},
        {"00400000-00401000 rw-p 00000000 00:00 0 ", true, false, 0x400000, 0x401000, 0, ""},
        {"00400000-00401000 rw-p 00000000 00:00 0", true, false, 0x400000, 0x401000, 0, ""},
        {"7ffd0000-7ffd1000 r--p 00000000 00:00 0   [vvar]", true, false, 0x7ffd0000, 0x7ffd1000, 0,
         "[vvar]"},
        {"00401000-00400000 r-xp 00000000 00:00 0 /a", false, false, 0, 0, 0, NULL},
        {"00400000 00401000 r-xp 00000000 00:00 0 /a", false, false, 0, 0, 0, NULL},
        {"00400000-00401000 r-x", false, false, 0, 0, 0, NULL},
        {"-", false, false, 0, 0, 0, NULL},
        {"", false, false, 0, 0, 0, NULL},
    };

    for (size_t index = 0; index < COUNT(rows); index++) {
        char line[128];
        struct map map;

        snprintf(line, sizeof line, "%s", rows[index].line);
        bool is_map = maps_line(line, &map);
        CHECK_INT(rows[index].line, is_map, rows[index].is_map);
        if (!is_map || !rows[index].is_map)
            continue;
        CHECK_INT(rows[index].line, map.from, rows[index].from);
        CHECK_INT(rows[index].line, map.to, rows[index].to);
        CHECK_INT(rows[index].line, map.offset, rows[index].offset);
        CHECK_INT(rows[index].line, map.is_code, rows[index].is_code);
        CHECK_STR(rows[index].line, str_of(map.path), rows[index].path);
    }
    for (size_t cut = 0; cut < strlen(rows[0].line); cut++) {
        char line[128];
        struct map map;

        snprintf(line, sizeof line, "%.*s", (int)cut, rows[0].line);
        (void)maps_line(line, &map);
    }
}

static void lines(void **state)
{
    (void)state;
    const struct {
        const char *what;
        uint32_t version;
        struct bytes table;
        uint64_t at;
        uint32_t line;
    } rows[] = {
        {"3.10: the first line", 0x030a, BYTES("\x04\x00\x06\x02\x02\x80\x02\xff"), 2, 100},
        {"3.10: two more", 0x030a, BYTES("\x04\x00\x06\x02\x02\x80\x02\xff"), 4, 102},
        {"3.10: none", 0x030a, BYTES("\x04\x00\x06\x02\x02\x80\x02\xff"), 10, 0},
        {"3.10: one less", 0x030a, BYTES("\x04\x00\x06\x02\x02\x80\x02\xff"), 12, 101},
        {"3.10: behind the end", 0x030a, BYTES("\x04\x00\x06\x02"), 10, 0},
        {"3.10: half a pair", 0x030a, BYTES("\x04"), 0, 0},
        {"3.11: the same line", 0x030b, BYTES("\x81\x00"), 2, 100},
        {"3.11: kind 11 of two units, then 13 by minus 3", 0x030b,
         BYTES("\xd9\x00\x00\xe8\x07\xf8"), 0, 101},
        {"3.11: minus 3", 0x030b, BYTES("\xd9\x00\x00\xe8\x07\xf8"), 4, 98},
        {"3.11: none", 0x030b, BYTES("\xd9\x00\x00\xe8\x07\xf8"), 6, 0},
        {"3.12: 14 by plus 64, in two bytes", 0x030c, BYTES("\xf0\x40\x02\x00\x00\x00"), 0, 164},
        {"3.12: behind the end", 0x030c, BYTES("\x81\x00"), 4, 0},
        {"3.13: a number that is cut off", 0x030d, BYTES("\xf0\x7f"), 0, 69},
        {"nothing", 0x030d, BYTES(""), 0, 0},
    };

    for (size_t index = 0; index < COUNT(rows); index++)
        CHECK_INT(rows[index].what,
                  py_line(rows[index].version, rows[index].table, 100, rows[index].at),
                  rows[index].line);
    for (uint32_t value = 0; value < 1 << 16; value++) {
        const uint8_t bytes[] = {
            (uint8_t)value, (uint8_t)(value >> 8), 0x7f, 0x7f, 0x7f, 0x7f, 0x7f};

        for (uint32_t version = 0x030a; version <= 0x030b; version++)
            (void)py_line(version, (struct bytes){bytes, sizeof bytes}, INT32_MAX, 5);
    }
}

static void put_word(uint8_t *table, uint32_t place, uint64_t value)
{
    memcpy(table + (size_t)place * 8, &value, 8);
}

static void layouts(void **state)
{
    (void)state;
    uint8_t table[PY_DEBUG_BYTES] = "xdebugpy";
    struct bytes bytes = {table, sizeof table};
    struct py_layout layout;

    CHECK("3.9", py_layout_of(0x030900f0) == NULL);
    CHECK("3.13 has its own", py_layout_of(0x030d00f0) == NULL);
    CHECK_INT("3.12", py_layout_of(0x030c01f0)->code_bytes, 192);
    put_word(table, 1, 0x030d00f0);
    put_word(table, 5, 632);
    put_word(table, 23, 72);
    put_word(table, 45, 8);
    CHECK("3.13", py_layout_read(bytes, &layout));
    CHECK_INT("3.13", layout.runtime_interpreters, 632);
    CHECK_INT("3.13", layout.thread_frame, 72);
    CHECK_INT("3.13", layout.object_type, 8);
    put_word(table, 1, 0x030e00f0);
    put_word(table, 26, 80);
    CHECK("3.14", py_layout_read(bytes, &layout));
    CHECK_INT("3.14", layout.thread_frame, 80);
    put_word(table, 1, 0x030f00f0);
    CHECK("3.15 is not known", !py_layout_read(bytes, &layout));
    put_word(table, 1, 0x030d00f0);
    for (uint32_t place = 5; place < 71; place++) {
        uint8_t changed[PY_DEBUG_BYTES];

        memcpy(changed, table, sizeof changed);
        put_word(changed, place, UINT64_MAX);
        if (py_layout_read((struct bytes){changed, sizeof changed}, &layout)) {
            CHECK("within what is read", layout.frame_code <= PY_FRAME_MAX - 8);
            CHECK("within what is read", layout.code_lines <= PY_CODE_MAX - 8);
        }
    }
    table[0] = 'y';
    CHECK("no table", !py_layout_read(bytes, &layout));
    CHECK("too short", !py_layout_read((struct bytes){table, 100}, &layout));
}

/* A file of one page at 0x401000, two symbols, and a section of Python's. */
struct small_elf {
    Elf64_Ehdr head;
    Elf64_Phdr load;
    Elf64_Sym symbols[3];
    char strings[32], names[32];
    Elf64_Shdr sections[4];
};

static struct small_elf small_elf(void)
{
    struct small_elf elf = {
        .head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                 .e_phoff = offsetof(struct small_elf, load),
                 .e_phentsize = sizeof(Elf64_Phdr),
                 .e_phnum = 1,
                 .e_shoff = offsetof(struct small_elf, sections),
                 .e_shentsize = sizeof(Elf64_Shdr),
                 .e_shnum = 4,
                 .e_shstrndx = 3},
        .load = {.p_type = PT_LOAD, .p_offset = 0x1000, .p_vaddr = 0x401000, .p_filesz = 0x1000},
        .symbols = {{0},
                    {.st_name = 1, .st_info = STT_OBJECT, .st_shndx = 1, .st_value = 0x402000},
                    {.st_name = 12,
                     .st_info = STT_FUNC,
                     .st_shndx = 1,
                     .st_value = 0x401010,
                     .st_size = 4}},
        .strings = "\0_PyRuntime\0main",
        .names = "\0.PyRuntime",
        .sections = {{0},
                     {.sh_type = SHT_SYMTAB,
                      .sh_offset = offsetof(struct small_elf, symbols),
                      .sh_size = 3 * sizeof(Elf64_Sym),
                      .sh_entsize = sizeof(Elf64_Sym),
                      .sh_link = 2},
                     {.sh_type = SHT_STRTAB,
                      .sh_offset = offsetof(struct small_elf, strings),
                      .sh_size = 32},
                     {.sh_type = SHT_STRTAB,
                      .sh_name = 1,
                      .sh_addr = 0x403000,
                      .sh_offset = offsetof(struct small_elf, names),
                      .sh_size = 32}},
    };

    return elf;
}

/* Everything that is asked of a file; what is found. */
static uint32_t ask(const void *at, size_t count)
{
    struct elf_wanted wanted[] = {{.name = "_PyRuntime"}, {.name = "main"}, {.name = "none"}};
    int fd = memfd_create("elf", MFD_CLOEXEC);
    struct elf elf;
    uint64_t address = 0, section = 0;
    uint32_t found = 0;

    CHECK("written", write(fd, at, count) == (ssize_t)count);
    if (elf_open(fd, &elf)) {
        elf_find(&elf, wanted, 3);
        found += wanted[0].is_found && wanted[0].address == 0x402000;
        found += wanted[1].is_found && wanted[1].address == 0x401010;
        found += wanted[2].is_found ? 100 : 0;
        found += elf_address(&elf, 0x1234, &address) && address == 0x401234;
        found += elf_section(&elf, ".PyRuntime", &section) && section == 0x403000;
    }
    close(fd);
    return found;
}

static void symbols(void **state)
{
    (void)state;
    struct small_elf elf = small_elf();
    uint8_t *bytes = (uint8_t *)&elf;

    CHECK_INT("all", ask(&elf, sizeof elf), 4);
    for (size_t count = 0; count < sizeof elf; count++)
        CHECK("a prefix", ask(&elf, count) < 4);
    for (size_t bit = 0; bit < sizeof elf * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK("a bit", ask(&elf, sizeof elf) <= 4);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map_lines),
        cmocka_unit_test(lines),
        cmocka_unit_test(layouts),
        cmocka_unit_test(symbols),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads headers, sections and symbols of an ELF file with bounds on each. Facts: elf(5). */
#include "launch/sample/sample_elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"

enum { NAME_MAX_BYTES = 4096, HEADERS_MAX = 1024, PAGE_BYTES_MIN = 4096 };
static const uint64_t TABLE_MAX = 512 << 20; /* bytes of symbols, of their names */

static bool read_at(const struct elf *elf, uint64_t offset, void *ret, size_t count)
{
    uint8_t *to = ret;

    while (count > 0 && offset <= INT64_MAX) {
        ssize_t got = pread(elf->fd, to, count, (off_t)offset);
        if (got <= 0)
            return false;
        to += got;
        offset += (uint64_t)got;
        count -= (size_t)got;
    }
    return count == 0;
}

bool elf_open(int fd, struct elf *ret)
{
    Elf64_Ehdr head;

    *ret = (struct elf){.fd = fd};
    if (!read_at(ret, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
        return false;
    ret->headers_at = head.e_phoff;
    ret->header_size = head.e_phentsize;
    ret->header_count = head.e_phnum < HEADERS_MAX ? head.e_phnum : HEADERS_MAX;
    ret->sections_at = head.e_shoff;
    ret->section_size = head.e_shentsize;
    ret->section_count = head.e_shnum;
    ret->names_section = head.e_shstrndx;
    return true;
}

/* The entry of a table of the header. */
static bool entry_at(const struct elf *elf, uint64_t table, uint32_t entry_size, uint32_t index,
                     void *ret, size_t count)
{
    uint64_t offset;

    return entry_size >= count &&
           !__builtin_add_overflow(table, (uint64_t)entry_size * index, &offset) &&
           read_at(elf, offset, ret, count);
}

static bool section_at(const struct elf *elf, uint32_t index, Elf64_Shdr *ret)
{
    return index < elf->section_count &&
           entry_at(elf, elf->sections_at, elf->section_size, index, ret, sizeof *ret);
}

bool elf_address(const struct elf *elf, uint64_t offset, uint64_t *ret)
{
    long page = sysconf(_SC_PAGESIZE);
    Elf64_Phdr header;

    for (uint32_t index = 0; index < elf->header_count; index++) {
        if (!entry_at(elf, elf->headers_at, elf->header_size, index, &header, sizeof header))
            return false;
        /* Mappings begin at pages, so one may begin in front of what the header tells. */
        uint64_t slack =
            header.p_offset % (page > PAGE_BYTES_MIN ? (uint64_t)page : PAGE_BYTES_MIN);
        if (header.p_type == PT_LOAD && offset >= header.p_offset - slack &&
            offset - (header.p_offset - slack) < header.p_filesz + slack) {
            *ret = header.p_vaddr + (offset - header.p_offset);
            return true;
        }
    }
    return false;
}

/* A section's bytes, for free(); NULL where the file has not got them, or too many. */
static void *section_bytes(const struct elf *elf, const Elf64_Shdr *section)
{
    off_t size = lseek(elf->fd, 0, SEEK_END);

    if (section->sh_size == 0 || section->sh_size > TABLE_MAX || size < 0 ||
        section->sh_size > (uint64_t)size)
        return NULL;
    void *bytes = memory_resize(NULL, section->sh_size, 1);
    if (read_at(elf, section->sh_offset, bytes, section->sh_size))
        return bytes;
    free(bytes);
    return NULL;
}

struct strings {
    char *at;
    uint64_t count;
};

static struct str string_at(const struct strings *strings, uint64_t offset)
{
    struct str none = {0};

    if (offset >= strings->count)
        return none;
    uint64_t most = strings->count - offset;
    const char *at = strings->at + offset;
    const char *end = memchr(at, 0, most < NAME_MAX_BYTES ? (size_t)most : NAME_MAX_BYTES);
    return end == NULL ? none : (struct str){at, (size_t)(end - at)};
}

static struct strings strings_of(const struct elf *elf, uint32_t index)
{
    Elf64_Shdr section;
    struct strings strings = {0};

    if (section_at(elf, index, &section) && section.sh_type == SHT_STRTAB)
        strings.at = section_bytes(elf, &section);
    if (strings.at != NULL)
        strings.count = section.sh_size;
    return strings;
}

bool elf_section(const struct elf *elf, const char *name, uint64_t *ret_address)
{
    struct strings strings = strings_of(elf, elf->names_section);
    Elf64_Shdr section;
    bool is_found = false;

    for (uint32_t index = 0; index < elf->section_count && !is_found; index++) {
        if (!section_at(elf, index, &section))
            break;
        is_found =
            section.sh_addr != 0 && str_equal(string_at(&strings, section.sh_name), str_of(name));
        *ret_address = section.sh_addr;
    }
    free(strings.at);
    return is_found;
}

static void take_symbol(const Elf64_Sym *symbol, const struct strings *strings, elf_take *take,
                        void *data)
{
    int type = ELF64_ST_TYPE(symbol->st_info);
    struct elf_symbol told = {.name = string_at(strings, symbol->st_name),
                              .address = symbol->st_value,
                              .size = symbol->st_size,
                              .is_function = type == STT_FUNC || type == STT_GNU_IFUNC};

    if (symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 && told.name.count > 0 &&
        type != STT_TLS && type != STT_SECTION && type != STT_FILE)
        take(data, &told);
}

static void table_symbols(const struct elf *elf, const Elf64_Shdr *table, elf_take *take,
                          void *data)
{
    if (table->sh_entsize != sizeof(Elf64_Sym))
        return;
    struct strings strings = strings_of(elf, table->sh_link);
    char *symbols = strings.at != NULL ? section_bytes(elf, table) : NULL;

    for (uint64_t at = 0; symbols != NULL && table->sh_size - at >= sizeof(Elf64_Sym);
         at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;

        memcpy(&symbol, symbols + at, sizeof symbol);
        take_symbol(&symbol, &strings, take, data);
    }
    free(symbols);
    free(strings.at);
}

void elf_symbols(const struct elf *elf, elf_take *take, void *data)
{
    Elf64_Shdr section;

    for (uint32_t index = 0; section_at(elf, index, &section); index++)
        if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM)
            table_symbols(elf, &section, take, data);
}

struct search {
    struct elf_wanted *wanted;
    uint32_t count;
};

static void match(void *data, const struct elf_symbol *symbol)
{
    const struct search *search = data;

    for (uint32_t index = 0; index < search->count; index++) {
        struct elf_wanted *wanted = &search->wanted[index];

        if (!wanted->is_found && str_equal(symbol->name, str_of(wanted->name))) {
            wanted->address = symbol->address;
            wanted->is_found = true;
        }
    }
}

void elf_find(const struct elf *elf, struct elf_wanted *wanted, uint32_t count)
{
    struct search search = {.wanted = wanted, .count = count};

    elf_symbols(elf, match, &search);
}

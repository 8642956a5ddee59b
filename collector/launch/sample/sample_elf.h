/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of an ELF file of this machine's kind (64 bits, little-endian), whatever its bytes are.
 *
 *   header            e_phoff, e_shoff ...
 *   program headers   PT_LOAD: file offset -> address
 *   sections          SHT_SYMTAB, SHT_DYNSYM: name, value, size; their link: the strings
 *
 * Addresses are the file's own: add where it lies less what the file says. Read, never mapped: who
 * cuts the file off meanwhile ends nobody.
 */
#ifndef JVIEWD_LAUNCH_SAMPLE_ELF_H
#define JVIEWD_LAUNCH_SAMPLE_ELF_H

#include <stdbool.h>

#include "base/bytes.h"

struct elf {
    int fd; /* the caller's */
    uint64_t sections_at, headers_at;
    uint32_t section_size, section_count, header_size, header_count, names_section;
};

bool elf_open(int fd, struct elf *ret);
/* The file's address of what stands at a file offset. */
bool elf_address(const struct elf *elf, uint64_t offset, uint64_t *ret);
/* Where a section begins. */
bool elf_section(const struct elf *elf, const char *name, uint64_t *ret_address);

struct elf_symbol {
    struct str name; /* valid until the call returns */
    uint64_t address, size;
    bool is_function;
};
/* Each that is defined, of both tables. */
typedef void elf_take(void *data, const struct elf_symbol *symbol);
void elf_symbols(const struct elf *elf, elf_take *take, void *data);

struct elf_wanted {
    const char *name;
    uint64_t address;
    bool is_found;
};
void elf_find(const struct elf *elf, struct elf_wanted *wanted, uint32_t count);

#endif

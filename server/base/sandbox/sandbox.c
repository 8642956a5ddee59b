/* SPDX-License-Identifier: Apache-2.0 */
/* Enters a sandbox: namespaces first, then files, then system calls, each of which could forbid the
 * one before. */
#include "base/sandbox/sandbox.h"

#include <link.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sandbox/sandbox_parts.h"

enum { PLACES_MAX = 64, PATH_BYTES = 4096 };

/* What libc reads of its own accord: the numbers of processors, of memory; a seed of Jansson's. */
static const struct place of_libc[] = {
    {"/dev/urandom", PLACE_READ, true},
    {"/sys/devices/system/cpu/online", PLACE_READ, true},
    {"/proc/sys/vm/overcommit_memory", PLACE_READ, true},
};
static const struct place of_sanitizer[] = {
    {"/proc", PLACE_READ, true},
    {"/usr", PLACE_READ, true},
    {"/proc/self/exe", PLACE_READ, true},
};
/* Programs are linked with these as they start. */
static const struct place of_program[] = {
    {"/usr/lib", PLACE_READ, true},
    {"/usr/lib64", PLACE_READ, true},
    {"/usr/local/lib", PLACE_READ, true},
    {"/lib", PLACE_READ, true},
    {"/lib64", PLACE_READ, true},
    {"/nix/store", PLACE_READ, true},
    {"/gnu/store", PLACE_READ, true},
    {"/usr/share/zoneinfo", PLACE_READ, true},
    {"/etc/localtime", PLACE_READ, true},
    {"/etc/ld.so.cache", PLACE_READ, true},
    {"/etc/ld.so.preload", PLACE_READ, true},
    {"/sys/devices/system/cpu", PLACE_READ, true},
    {"/proc/self", PLACE_READ, true},
    {"/dev/null", PLACE_WRITE, true},
};

struct places {
    struct place at[PLACES_MAX];
    size_t count;
};

static void add(struct places *places, const struct place *from, size_t count)
{
    memcpy(places->at + places->count, from, count * sizeof *from);
    places->count += count;
}

static void add_usual(struct places *places)
{
    add(places, of_libc, COUNT(of_libc));
    if (SANDBOX_SANITIZED)
        add(places, of_sanitizer, COUNT(of_sanitizer));
}

/* Root needs no namespace of users for the others, and in one it could no longer write what belongs
 * to somebody else. Whoever may have none does without. */
static bool enter_namespaces(void)
{
    return unshare(CLONE_NEWNET | CLONE_NEWIPC | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) == 0;
}

/* Of root's privileges, all but those over files: Landlock says which. */
static void drop_privileges(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};
    const uint32_t kept = 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH;

    if (syscall(SYS_capget, &head, sets) != 0)
        return;
    sets[0].effective &= kept;
    sets[0].permitted &= kept;
    sets[1].effective = sets[1].permitted = 0;
    sets[0].inheritable = sets[1].inheritable = 0;
    syscall(SYS_capset, &head, sets);
}

static enum status enter_calls(enum calls calls, bool *ret, struct error *err)
{
    *ret = false;
    return SANDBOX_SANITIZED ? OK : sandbox_calls(calls, ret, err);
}

/* *ret: the parts that hold. */
static enum status enter_writer(enum calls list, const char *directory, unsigned *ret,
                                struct error *err)
{
    const struct place own = {directory, PLACE_WRITE, false};
    struct places places = {0};
    bool files, calls;

    tzset(); /* reads its file now */
    add_usual(&places);
    add(&places, &own, 1);
    *ret = enter_namespaces() ? SANDBOX_NAMESPACES : 0;
    drop_privileges();
    TRY(sandbox_files(places.at, places.count, &files, err));
    TRY(enter_calls(list, &calls, err));
    *ret |= (files ? SANDBOX_FILES : 0) | (calls ? SANDBOX_CALLS : 0);
    return OK;
}

enum status sandbox_decoder(const char *directory, struct error *err)
{
    unsigned ignored;

    return enter_writer(CALLS_DECODER, directory, &ignored, err);
}

enum status sandbox_unpacker(const char *directory, struct error *err)
{
    unsigned ignored;

    return enter_writer(CALLS_UNPACKER, directory, &ignored, err);
}

enum status sandbox_query(struct error *err)
{
    bool ignored;

    tzset();
    enter_namespaces();
    drop_privileges();
    return enter_calls(CALLS_QUERY, &ignored, err);
}

enum status sandbox_query_files(const char *const *directories, size_t count, struct error *err)
{
    struct places usual = {0};
    bool ignored;

    add_usual(&usual);
    struct place *places = memory_resize(NULL, usual.count + count, sizeof *places);

    memcpy(places, usual.at, usual.count * sizeof *places);
    for (size_t i = 0; i < count; i++)
        places[usual.count + i] = (struct place){directories[i], PLACE_READ, true};
    enum status status = sandbox_files(places, usual.count + count, &ignored, err);
    free(places);
    return status;
}

/* What the kernel starts first of a program: we were started by the same. */
static int find_loader(struct dl_phdr_info *info, size_t size, void *ret)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            *(const char **)ret = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
    return 1; /* the program itself stands first */
}

static void add_program(struct places *places, const char *program, char directory[PATH_BYTES])
{
    const char *slash = strrchr(program, '/'), *loader = NULL;

    dl_iterate_phdr(find_loader, &loader);
    places->at[places->count++] = (struct place){program, PLACE_RUN, false};
    if (loader != NULL)
        places->at[places->count++] = (struct place){loader, PLACE_RUN, true};
    if (slash == NULL || snprintf(directory, PATH_BYTES, "%.*s/../lib/jviewd",
                                  (int)(slash - program), program) >= PATH_BYTES)
        return;
    places->at[places->count++] = (struct place){directory, PLACE_READ, true};
}

/* Where whoever started us said that libraries are. `words` is cut into pieces. */
static void add_library_path(struct places *places, char *words)
{
    for (char *rest, *one = strtok_r(words, ":;", &rest); one != NULL && places->count < PLACES_MAX;
         one = strtok_r(NULL, ":;", &rest))
        places->at[places->count++] = (struct place){one, PLACE_READ, true};
}

enum status sandbox_finalizer(const struct sandbox_finalizer *finalizer, struct error *err)
{
    const struct place own = {finalizer->writes, PLACE_WRITE, false};
    const char *libraries = getenv("LD_LIBRARY_PATH");
    char beside[PATH_BYTES], words[PATH_BYTES];
    struct places places = {0};
    bool ignored;

    snprintf(words, sizeof words, "%s", libraries != NULL ? libraries : "");
    add_usual(&places);
    add(&places, of_program, COUNT(of_program));
    add(&places, &own, 1);
    add_program(&places, finalizer->program, beside);
    for (size_t i = 0; i < finalizer->read_count && places.count < PLACES_MAX; i++)
        places.at[places.count++] = (struct place){finalizer->reads[i], PLACE_READ, true};
    add_library_path(&places, words);
    TRY(sandbox_files(places.at, places.count, &ignored, err));
    return enter_calls(CALLS_FINALIZER, &ignored, err);
}

unsigned sandbox_parts(void)
{
    pid_t pid = fork();
    int ended = 0;

    if (pid == 0) {
        struct error err = {0};
        unsigned parts = 0;

        _exit(enter_writer(CALLS_DECODER, "/", &parts, &err) == OK ? (int)parts : 0);
    }
    if (pid < 0 || waitpid(pid, &ended, 0) != pid || !WIFEXITED(ended))
        return 0;
    return (unsigned)WEXITSTATUS(ended);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of the catalog's file with sums: a layer below SQLite that adds one as a page is written,
 * and checks it as it is read.
 *
 *   page    [ content, 4,088 bytes | XXH3 of it, 8 ]
 *
 * SQLite leaves those eight to us (SQLITE_FCNTL_RESERVE_BYTES).
 * Pages that wait in the WAL have the sums of its frames, which SQLite checks when it opens it.
 * Facts: https://sqlite.org/vfs.html, https://sqlite.org/c3ref/io_methods.html.
 */
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

#include "base/hash.h"
#include "store/catalog_db.h"

enum { SUM_BYTES = 8, PAGE_BYTES_MIN = 512, PAGE_BYTES_MAX = 65536 };

struct summed_file { /* and behind it the system's own */
    sqlite3_file base;
    bool sums; /* the database itself: no WAL, no journal */
};

static sqlite3_file *below(sqlite3_file *file)
{
    return (sqlite3_file *)(void *)((struct summed_file *)(void *)file + 1);
}

static sqlite3_vfs *system_of(sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

static bool is_page(const sqlite3_file *file, int count, sqlite3_int64 offset)
{
    return ((const struct summed_file *)(const void *)file)->sums && count >= PAGE_BYTES_MIN &&
           count <= PAGE_BYTES_MAX && (count & (count - 1)) == 0 && offset % count == 0;
}

static uint64_t sum_of(const void *page, int count)
{
    return hash64((struct bytes){.at = page, .count = (size_t)count - SUM_BYTES});
}

static int file_read_at(sqlite3_file *file, void *to, int count, sqlite3_int64 offset)
{
    int code = below(file)->pMethods->xRead(below(file), to, count, offset);
    uint64_t sum;

    if (code != SQLITE_OK || !is_page(file, count, offset))
        return code;
    memcpy(&sum, (const char *)to + count - SUM_BYTES, sizeof sum);
    return sum == sum_of(to, count) ? SQLITE_OK : SQLITE_CORRUPT;
}

/* SQLite's page has those bytes free for whoever stands below. */
static int file_write_at(sqlite3_file *file, const void *from, int count, sqlite3_int64 offset)
{
    if (is_page(file, count, offset)) {
        uint64_t sum = sum_of(from, count);

        memcpy((char *)(uintptr_t)from + count - SUM_BYTES, &sum, sizeof sum);
    }
    return below(file)->pMethods->xWrite(below(file), from, count, offset);
}

static int file_close_it(sqlite3_file *file)
{
    return below(file)->pMethods->xClose(below(file));
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return below(file)->pMethods->xTruncate(below(file), size);
}

static int file_sync(sqlite3_file *file, int flags)
{
    return below(file)->pMethods->xSync(below(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    return below(file)->pMethods->xFileSize(below(file), ret);
}

static int file_lock(sqlite3_file *file, int level)
{
    return below(file)->pMethods->xLock(below(file), level);
}

static int file_unlock(sqlite3_file *file, int level)
{
    return below(file)->pMethods->xUnlock(below(file), level);
}

static int file_is_reserved(sqlite3_file *file, int *ret)
{
    return below(file)->pMethods->xCheckReservedLock(below(file), ret);
}

static int file_control(sqlite3_file *file, int what, void *data)
{
    return below(file)->pMethods->xFileControl(below(file), what, data);
}

static int file_sector(sqlite3_file *file)
{
    return below(file)->pMethods->xSectorSize(below(file));
}

static int file_traits(sqlite3_file *file)
{
    return below(file)->pMethods->xDeviceCharacteristics(below(file));
}

static int file_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **ret)
{
    return below(file)->pMethods->xShmMap(below(file), region, size, extend, ret);
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return below(file)->pMethods->xShmLock(below(file), offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *file)
{
    below(file)->pMethods->xShmBarrier(below(file));
}

static int file_shm_unmap(sqlite3_file *file, int deletes)
{
    return below(file)->pMethods->xShmUnmap(below(file), deletes);
}

/* Version 2: nothing is read past xRead, by mapped memory. */
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close_it,
    .xRead = file_read_at,
    .xWrite = file_write_at,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static int open_summed(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
                       int *ret_flags)
{
    struct summed_file *summed = (struct summed_file *)(void *)file;

    summed->sums = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    int code = system_of(vfs)->xOpen(system_of(vfs), name, below(file), flags, ret_flags);

    file->pMethods = below(file)->pMethods == NULL ? NULL : &methods;
    return code;
}

static sqlite3_vfs summed;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* All but opening is the system's own: its functions look at what they are given, not at us. */
static void prepare(void)
{
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);

    if (system == NULL)
        return;
    summed = *system;
    summed.szOsFile += (int)sizeof(struct summed_file);
    summed.zName = CATALOG_SUMS;
    summed.pNext = NULL;
    summed.pAppData = system;
    summed.xOpen = open_summed;
    sqlite3_vfs_register(&summed, 0);
}

void catalog_sums_prepare(void)
{
    pthread_once(&once, prepare);
}

bool catalog_sums_begin(struct sqlite3 *db)
{
    int bytes = SUM_BYTES;

    return sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes) == SQLITE_OK;
}

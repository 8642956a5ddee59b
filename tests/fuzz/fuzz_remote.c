/* SPDX-License-Identifier: Apache-2.0 */
/* What stores, their authorities and files of credentials say: lists, errors, keys, tokens, times,
 * and names as a bucket lists them. The first byte chooses the reader. */
#include <stddef.h>

#include "discover/scan.h"
#include "remote/digest_parts.h"
#include "remote/documents_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count_value(void *data, const struct ini_value *value)
{
    size_t *bytes = data;

    *bytes += value->section.count + value->name.count + value->value.count;
}

/* Every name of a list goes the way into a scan. */
static void scan_page(const struct page *page, struct arena *arena)
{
    const struct scan_options options = {0};
    struct scan scan;
    struct scan_objects *objects = scan_objects_begin(STR("s3://b"), &options, arena, &scan);

    for (uint32_t i = 0; i < page->count; i++) {
        const struct scan_file file = {.path = page->at[i].path, .bytes = page->at[i].bytes};

        if (file.path.count > 0 && !scan_objects_add(objects, &file))
            break;
    }
    scan_objects_end(objects);
    struct scan_run *runs;
    uint32_t count;

    scan_group(scan.root, scan.files, scan.file_count, arena, &runs, &count);
}

static void read_list(unsigned which, struct bytes bytes, struct arena *arena)
{
    struct page page = {0};
    struct error err = {0};
    enum status status = which == 0   ? document_s3_list(bytes, arena, &page, &err)
                         : which == 1 ? document_azure_list(bytes, arena, &page, &err)
                                      : document_google_list(bytes, arena, &page, &err);

    if (status == OK)
        scan_page(&page, arena);
}

static void read_other(unsigned which, struct bytes bytes, struct arena *arena)
{
    struct str text = {(const char *)bytes.at, bytes.count};
    struct store_error told;
    struct sigv4_key key;
    struct token token;
    struct google_file file;
    struct bytes plain;
    int64_t time;
    size_t seen = 0;

    switch (which) {
    case 3:
        document_error(bytes, arena, &told);
        break;
    case 4:
        (void)!document_keys_json(bytes, arena, &key, &time, &(struct error){0});
        (void)!document_keys_sso(bytes, arena, &key, &time, &(struct error){0});
        (void)!document_upload(bytes, arena, &text, &(struct error){0});
        break;
    case 5:
        (void)!document_keys_xml(bytes, arena, &key, &time, &(struct error){0});
        break;
    case 6:
        (void)!document_token(bytes, 0, arena, &token, &(struct error){0});
        break;
    case 7:
        (void)!document_google_file(bytes, arena, &file, &(struct error){0});
        break;
    case 8:
        ini_read(bytes, count_value, &seen);
        break;
    case 9:
        (void)time_read(text, &time);
        (void)percent_decoded(percent_encoded(text, false, arena), arena);
        break;
    case 10:
        (void)base64_read(text, arena, &plain);
        (void)remote_place(text, arena);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct arena *arena = arena_create();
    unsigned which = data[0] % 11;
    struct bytes bytes = {data + 1, size - 1};

    if (which < 3)
        read_list(which, bytes, arena);
    else
        read_other(which, bytes, arena);
    arena_destroy(arena);
    return 0;
}

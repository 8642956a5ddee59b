/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of Azure: each is put under an identifier, then the list of them makes the blob. Blocks
 * that no list names are forgotten by Azure after a week, or when the blob is written.
 *
 *   PUT name?blockid=MDAwMDAwMDE=&comp=block
 *   PUT name?comp=blocklist
 */
#include "remote/digest_parts.h"
#include "remote/remote_parts.h"

static enum status begin(struct put *put, struct error *err)
{
    (void)put;
    (void)err;
    return OK;
}

static struct str block_of(uint32_t index, struct arena *arena)
{
    return base64_of(bytes_of(str_format(arena, "jviewd-%08u", index)), arena);
}

static enum status ask_for(struct put *put, struct str query, struct bytes body, bool is_new,
                           struct error *err)
{
    struct ask ask = {.method = "PUT",
                      .key = put->key,
                      .version = STR(""),
                      .query = query,
                      .body = body,
                      .is_new = is_new};
    struct wire_said said;
    enum status status = remote_ask(put->remote, &ask, NULL, NULL, &said, err);

    wire_said_free(&said);
    return status;
}

static enum status part(struct put *put, uint32_t index, struct arena *arena, struct error *err)
{
    uint64_t start;
    struct str query = query_put(STR(""), "blockid", block_of(index, arena), arena);

    return ask_for(put, query_put(query, "comp", STR("block"), arena),
                   put_part_bytes(put, index, &start), false, err);
}

static enum status end(struct put *put, struct error *err)
{
    struct text text = {0};

    text_puts(&text, "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>");
    for (uint32_t i = 0; i < put->part_count; i++)
        text_putf(&text, "<Latest>%.*s</Latest>", STR_ARG(block_of(i, put->arena)));
    text_puts(&text, "</BlockList>");
    enum status status =
        ask_for(put, STR("comp=blocklist"), bytes_of(text_str(&text)), put->is_new, err);

    text_free(&text);
    return status;
}

const struct put_way put_way_azure = {.begin = begin, .part = part, .end = end};

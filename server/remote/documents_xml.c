/* SPDX-License-Identifier: Apache-2.0 */
/* XML of stores, by expat: lists, errors, keys of the token service.
 *
 *   ListBucketResult/Contents/Key             the text of an element goes to whoever reads the
 *   ListBucketResult/Contents                 document, when the element ends, with its path
 */
#include <expat.h>

#include "remote/digest_parts.h"
#include "remote/documents_parts.h"

enum { DEPTH_MAX = 12, PATH_BYTES_MAX = 256, TEXT_BYTES_MAX = 16384, OBJECTS_MAX = 10000 };

typedef void visit(void *data, struct str path, struct str text);

struct xml {
    XML_Parser parser;
    visit *visit;
    void *data;
    char path[PATH_BYTES_MAX];
    size_t starts[DEPTH_MAX + 1]; /* where the path of each open element ends */
    unsigned depth;
    struct text text;
    const char *refusal; /* why it is read no further; NULL: it is */
};

static void refuse(struct xml *xml, const char *why)
{
    if (xml->refusal == NULL)
        xml->refusal = why;
    XML_StopParser(xml->parser, XML_FALSE);
}

/* Of "http://...:Key" the name behind the namespace. */
static const char *plain(const char *name)
{
    const char *colon = strrchr(name, ':');

    return colon == NULL ? name : colon + 1;
}

static void XMLCALL begin(void *data, const XML_Char *name, const XML_Char **attributes)
{
    struct xml *xml = data;
    size_t at = xml->starts[xml->depth], count = strlen(plain(name));
    (void)attributes;

    if (xml->depth == DEPTH_MAX || at + count + 2 > PATH_BYTES_MAX) {
        refuse(xml, "its elements are nested too deeply");
        return;
    }
    if (at > 0)
        xml->path[at++] = '/';
    memcpy(xml->path + at, plain(name), count);
    xml->starts[++xml->depth] = at + count;
    xml->text.count = 0;
}

static void XMLCALL end(void *data, const XML_Char *name)
{
    struct xml *xml = data;
    (void)name;

    if (xml->depth == 0)
        return;
    xml->visit(xml->data, (struct str){xml->path, xml->starts[xml->depth]}, text_str(&xml->text));
    xml->depth--;
    xml->text.count = 0;
}

static void XMLCALL characters(void *data, const XML_Char *at, int count)
{
    struct xml *xml = data;

    if (xml->text.count + (size_t)count > TEXT_BYTES_MAX)
        refuse(xml, "one of its texts is too long");
    else
        text_put(&xml->text, at, (size_t)count);
}

static void XMLCALL doctype(void *data, const XML_Char *name, const XML_Char *system,
                            const XML_Char *public, int has_internal)
{
    (void)name;
    (void)system;
    (void)public;
    (void)has_internal;
    refuse(data, "it has a document type declaration, which stores do not write");
}

static enum status xml_read(struct bytes bytes, visit *each, void *data, struct error *err)
{
    struct xml xml = {.visit = each, .data = data};
    enum status status = OK;

    xml.parser = XML_ParserCreate("UTF-8");
    if (xml.parser == NULL)
        return fail(err, ERR_LIMIT, "expat is out of memory");
    XML_SetUserData(xml.parser, &xml);
    XML_SetElementHandler(xml.parser, begin, end);
    XML_SetCharacterDataHandler(xml.parser, characters);
    XML_SetStartDoctypeDeclHandler(xml.parser, doctype);
    if (XML_Parse(xml.parser, (const char *)bytes.at, (int)bytes.count, 1) != XML_STATUS_OK)
        status =
            fail(err, ERR_FORMAT, "the answer is not the XML of a store: %s, at byte %lld",
                 xml.refusal != NULL ? xml.refusal : XML_ErrorString(XML_GetErrorCode(xml.parser)),
                 (long long)XML_GetCurrentByteIndex(xml.parser));
    XML_ParserFree(xml.parser);
    text_free(&xml.text);
    return status;
}

const char *remote_xml_library(void)
{
    const char *version = XML_ExpatVersion(); /* "expat_2.5.0" */
    const char *number = strchr(version, '_');

    return number == NULL ? version : number + 1;
}

struct list_reading {
    struct arena *arena;
    struct page *page;
    struct remote_object object;
    struct str last; /* name */
    bool is_list, is_encoded, is_truncated, has_size, is_directory, too_many;
};

static void take_object(struct list_reading *reading)
{
    struct page *page = reading->page;

    if (page->count == OBJECTS_MAX)
        reading->too_many = true;
    else if (reading->object.path.count > 0 && reading->has_size && !reading->is_directory) {
        if (page->count == page->capacity) {
            uint32_t capacity = page->capacity == 0 ? 1024 : 2 * page->capacity;
            struct remote_object *more =
                arena_array(reading->arena, struct remote_object, capacity);

            if (page->count > 0)
                memcpy(more, page->at, page->count * sizeof *more);
            page->at = more;
            page->capacity = capacity;
        }
        page->at[page->count++] = reading->object;
    }
    reading->last = reading->object.path;
    reading->object = (struct remote_object){.version = STR("")};
    reading->has_size = reading->is_directory = false;
}

/* Those of one object, in S3's words and in Azure's. */
static void take_member(struct list_reading *reading, struct str name, struct str text)
{
    if (str_equal(name, STR("Key")) || str_equal(name, STR("Name")))
        reading->object.path = str_copy(reading->arena, text);
    else if (str_equal(name, STR("Size")) || str_equal(name, STR("Content-Length")))
        reading->has_size =
            str_to_u64(text, &reading->object.bytes) && reading->object.bytes < (uint64_t)INT64_MAX;
    else if (str_equal(name, STR("ETag")) || str_equal(name, STR("Etag")))
        reading->object.version = str_copy(reading->arena, text);
    else if (str_equal(name, STR("LastModified")) || str_equal(name, STR("Last-Modified")))
        (void)time_read(text, &reading->object.modified_ns);
    else if (str_equal(name, STR("ResourceType")))
        reading->is_directory = str_equal(text, STR("directory"));
}

static void visit_s3(void *data, struct str path, struct str text)
{
    static const char within[] = "ListBucketResult/Contents/";
    struct list_reading *reading = data;

    if (str_equal(path, STR("ListBucketResult")))
        reading->is_list = true;
    else if (str_equal(path, STR("ListBucketResult/Contents")))
        take_object(reading);
    else if (str_starts(path, str_of(within)))
        take_member(reading, str_skip(path, sizeof within - 1), text);
    else if (str_equal(path, STR("ListBucketResult/EncodingType")))
        reading->is_encoded = str_equal_fold(text, STR("url"));
    else if (str_equal(path, STR("ListBucketResult/IsTruncated")))
        reading->is_truncated = str_equal_fold(text, STR("true"));
    else if (str_equal(path, STR("ListBucketResult/NextContinuationToken")))
        reading->page->next = str_copy(reading->arena, text);
}

static enum status judge_list(const struct list_reading *reading, struct error *err)
{
    if (!reading->is_list)
        return fail(err, ERR_FORMAT, "the answer is not a list of objects");
    return reading->too_many
               ? fail(err, ERR_FORMAT, "one page of the list has more than %d objects", OBJECTS_MAX)
               : OK;
}

enum status document_s3_list(struct bytes bytes, struct arena *arena, struct page *ret,
                             struct error *err)
{
    struct list_reading reading = {
        .arena = arena, .page = ret, .object = {.version = STR("")}, .last = STR("")};

    *ret = (struct page){.next = STR("")};
    TRY(xml_read(bytes, visit_s3, &reading, err));
    TRY(judge_list(&reading, err));
    for (uint32_t i = 0; reading.is_encoded && i < ret->count; i++)
        ret->at[i].path = percent_decoded(ret->at[i].path, arena);
    if (!reading.is_truncated)
        ret->next = STR("");
    else if (ret->next.count == 0)
        return fail(err, ERR_FORMAT, "the list says that it continues, but not where");
    return OK;
}

static void visit_azure(void *data, struct str path, struct str text)
{
    static const char within[] = "EnumerationResults/Blobs/Blob/";
    static const char properties[] = "Properties/";
    struct list_reading *reading = data;

    if (str_equal(path, STR("EnumerationResults"))) {
        reading->is_list = true;
    } else if (str_equal(path, STR("EnumerationResults/Blobs/Blob"))) {
        take_object(reading);
    } else if (str_starts(path, str_of(within))) {
        struct str name = str_skip(path, sizeof within - 1);

        if (str_starts(name, str_of(properties)))
            name = str_skip(name, sizeof properties - 1);
        take_member(reading, name, text);
    } else if (str_equal(path, STR("EnumerationResults/NextMarker"))) {
        reading->page->next = str_copy(reading->arena, text);
    }
}

enum status document_azure_list(struct bytes bytes, struct arena *arena, struct page *ret,
                                struct error *err)
{
    struct list_reading reading = {
        .arena = arena, .page = ret, .object = {.version = STR("")}, .last = STR("")};

    /* Azure writes a byte order mark before its XML; expat knows it. */
    *ret = (struct page){.next = STR("")};
    TRY(xml_read(bytes, visit_azure, &reading, err));
    return judge_list(&reading, err);
}

struct upload_reading {
    struct arena *arena;
    struct str *id;
};

static void visit_upload(void *data, struct str path, struct str text)
{
    struct upload_reading *reading = data;

    if (str_equal(path, STR("InitiateMultipartUploadResult/UploadId")))
        *reading->id = str_copy(reading->arena, text);
}

enum status document_upload(struct bytes bytes, struct arena *arena, struct str *ret,
                            struct error *err)
{
    struct upload_reading reading = {arena, ret};

    *ret = STR("");
    TRY(xml_read(bytes, visit_upload, &reading, err));
    return ret->count > 0 ? OK : fail(err, ERR_FORMAT, "the answer names no upload");
}

struct error_reading {
    struct arena *arena;
    struct store_error *error;
};

static void visit_error(void *data, struct str path, struct str text)
{
    struct error_reading *reading = data;
    struct str name = path_base(path);

    if (text.count > 300)
        text.count = 300;
    if (str_equal(name, STR("Code")))
        reading->error->code = str_copy(reading->arena, text);
    else if (str_equal(name, STR("Message")))
        reading->error->message = str_copy(reading->arena, text);
    else if (str_equal(name, STR("Region")))
        reading->error->region = str_copy(reading->arena, text);
}

/* A stranger's words go to a terminal: without its control characters, in clean UTF-8. */
static struct str one_line(struct str text, struct arena *arena)
{
    struct str ret = str_copy(arena, text);
    char *at = (char *)(uintptr_t)ret.at;

    for (size_t i = 0; i < ret.count; i++)
        if ((unsigned char)at[i] < ' ' || at[i] == 127)
            at[i] = ' ';
    return str_utf8(arena, ret);
}

void document_error(struct bytes bytes, struct arena *arena, struct store_error *ret)
{
    struct error_reading reading = {arena, ret};
    struct str text = {(const char *)bytes.at, bytes.count};

    *ret = (struct store_error){STR(""), STR(""), STR("")};
    while (text.count > 0 && (unsigned char)text.at[0] <= ' ')
        text = str_skip(text, 1);
    if (text.count > 0 && text.at[0] == '{') {
        ret->code = document_member(bytes, "error", arena);
        ret->message = document_member(bytes, "message", arena);
    } else if (text.count > 0) {
        (void)!xml_read(bytes, visit_error, &reading, &(struct error){0});
    }
    ret->code = one_line(ret->code, arena);
    ret->message = one_line(ret->message, arena);
}

struct keys_reading {
    struct arena *arena;
    struct sigv4_key *key;
    struct str ends;
};

static void visit_keys(void *data, struct str path, struct str text)
{
    struct keys_reading *reading = data;
    struct str name = path_base(path);
    struct str *at = str_equal(name, STR("AccessKeyId"))       ? &reading->key->id
                     : str_equal(name, STR("SecretAccessKey")) ? &reading->key->secret
                     : str_equal(name, STR("SessionToken"))    ? &reading->key->token
                     : str_equal(name, STR("Expiration"))      ? &reading->ends
                                                               : NULL;

    if (at != NULL)
        *at = str_copy(reading->arena, text);
}

enum status document_keys_xml(struct bytes bytes, struct arena *arena, struct sigv4_key *ret,
                              int64_t *ret_ends_s, struct error *err)
{
    struct keys_reading reading = {arena, ret, STR("")};
    int64_t ends_ns;

    *ret = (struct sigv4_key){STR(""), STR(""), STR("")};
    TRY(xml_read(bytes, visit_keys, &reading, err));
    if (ret->id.count == 0 || ret->secret.count == 0 || !time_read(reading.ends, &ends_ns))
        return fail(err, ERR_FORMAT, "the token service answers without a key");
    *ret_ends_s = ends_ns / 1000000000;
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What NVTX 3 and a tool tell each other: layouts and numbers of its public headers, in our words.
 *
 * An NVTX of a program calls InitializeInjectionNvtx2 of the library that NVTX_INJECTION64_PATH
 * names, with a function that gives tables by number. The table of callbacks gives for each module
 * an array of places; who writes a function into a place gets those calls.
 */
#ifndef JVIEWD_INJECT_NVTX_ABI_H
#define JVIEWD_INJECT_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef void nvtx_function(void);
typedef const void *nvtx_get_table(uint32_t id);

enum { NVTX_TABLE_CALLBACKS = 1 };

struct nvtx_callbacks {
    size_t size;
    int (*module)(int module, nvtx_function ****ret_places, unsigned *ret_count);
};

enum { NVTX_MODULE_CORE = 1, NVTX_MODULE_CUDA, NVTX_MODULE_CUDART = 4, NVTX_MODULE_CORE2 };
enum { NVTX_CUDA_NAME_STREAM = 5, NVTX_CUDA_NAME_STREAM_WIDE };     /* of the driver's streams */
enum { NVTX_CUDART_NAME_STREAM = 3, NVTX_CUDART_NAME_STREAM_WIDE }; /* the runtime's: the same */

enum { /* of NVTX_MODULE_CORE: the default domain */
       NVTX_MARK_EX = 1,
       NVTX_MARK,
       NVTX_MARK_WIDE,
       NVTX_START_EX,
       NVTX_START,
       NVTX_START_WIDE,
       NVTX_END,
       NVTX_PUSH_EX,
       NVTX_PUSH,
       NVTX_PUSH_WIDE,
       NVTX_POP,
       NVTX_NAME_CATEGORY,
       NVTX_NAME_CATEGORY_WIDE,
       NVTX_NAME_THREAD,
       NVTX_NAME_THREAD_WIDE,
};

enum { /* of NVTX_MODULE_CORE2: any domain */
       NVTX_DOMAIN_MARK_EX = 1,
       NVTX_DOMAIN_START_EX,
       NVTX_DOMAIN_END,
       NVTX_DOMAIN_PUSH_EX,
       NVTX_DOMAIN_POP,
       NVTX_DOMAIN_RESOURCE_CREATE,
       NVTX_DOMAIN_RESOURCE_DESTROY,
       NVTX_DOMAIN_NAME_CATEGORY,
       NVTX_DOMAIN_NAME_CATEGORY_WIDE,
       NVTX_DOMAIN_STRING,
       NVTX_DOMAIN_STRING_WIDE,
       NVTX_DOMAIN_CREATE,
       NVTX_DOMAIN_CREATE_WIDE,
       NVTX_DOMAIN_DESTROY,
       NVTX_INITIALIZE,
};

enum { NVTX_COLOR_ARGB = 1 };
enum { NVTX_MESSAGE_TEXT = 1, NVTX_MESSAGE_WIDE, NVTX_MESSAGE_STRING };
enum {
    NVTX_PAYLOAD_UINT64 = 1,
    NVTX_PAYLOAD_INT64,
    NVTX_PAYLOAD_DOUBLE,
    NVTX_PAYLOAD_UINT32,
    NVTX_PAYLOAD_INT32,
    NVTX_PAYLOAD_FLOAT,
    NVTX_PAYLOAD_SCHEMA = (int)0xDFBD0009 /* `reserved` payloads of the extension, see below */
};

/* The payload extension: a program registers schemas of its structs, and gives structs to
 * events. */
struct nvtx_payload { /* nvtxPayloadData_t */
    uint64_t schema;
    size_t size;
    const void *at;
};
struct nvtx_schema_entry { /* nvtxPayloadSchemaEntry_t */
    uint64_t flags, type;
    const char *name, *description;
    uint64_t detail, offset; /* detail: of an array its length */
    const void *semantics, *reserved;
};
struct nvtx_schema { /* nvtxPayloadSchemaAttr_t */
    uint64_t fields; /* NVTX_SCHEMA_HAS_... */
    const char *name;
    uint64_t type, flags;
    const struct nvtx_schema_entry *entries;
    size_t entry_count, static_size, align;
    uint64_t id;
    void *extension;
};
struct nvtx_enum_entry {
    const char *name;
    uint64_t value;
    int8_t is_flag;
};
struct nvtx_enum {   /* nvtxPayloadEnumAttr_t */
    uint64_t fields; /* NVTX_ENUM_HAS_... */
    const char *name;
    const struct nvtx_enum_entry *entries;
    size_t entry_count, size;
    uint64_t id;
    void *extension;
};
enum {
    NVTX_SCHEMA_HAS_NAME = 1 << 1,
    NVTX_SCHEMA_HAS_ENTRIES = 1 << 4,
    NVTX_SCHEMA_HAS_COUNT = 1 << 5,
    NVTX_SCHEMA_HAS_ALIGN = 1 << 7,
    NVTX_SCHEMA_HAS_ID = 1 << 8,
    NVTX_ENUM_HAS_ENTRIES = 1 << 2,
    NVTX_ENUM_HAS_COUNT = 1 << 3,
    NVTX_ENUM_HAS_SIZE = 1 << 4,
    NVTX_ENUM_HAS_ID = 1 << 5,
    NVTX_ENTRY_POINTER = 1 << 1,
    NVTX_ENTRY_ARRAY_FIXED = 1 << 4,
    NVTX_ENTRY_ARRAY = 7 << 4,
    NVTX_SCHEMA_STATIC = 1 << 24
};
#define NVTX_SCHEMA_DYNAMIC (UINT64_C(1) << 32)
enum {
    NVTX_TYPE_CHAR = 1,
    NVTX_TYPE_UCHAR,
    NVTX_TYPE_SHORT,
    NVTX_TYPE_USHORT,
    NVTX_TYPE_INT,
    NVTX_TYPE_UINT,
    NVTX_TYPE_LONG,
    NVTX_TYPE_ULONG,
    NVTX_TYPE_LONGLONG,
    NVTX_TYPE_ULONGLONG,
    NVTX_TYPE_INT8,
    NVTX_TYPE_UINT8,
    NVTX_TYPE_INT16,
    NVTX_TYPE_UINT16,
    NVTX_TYPE_INT32,
    NVTX_TYPE_UINT32,
    NVTX_TYPE_INT64,
    NVTX_TYPE_UINT64,
    NVTX_TYPE_FLOAT,
    NVTX_TYPE_DOUBLE,
    NVTX_TYPE_SIZE = 22,
    NVTX_TYPE_ADDRESS,
    NVTX_TYPE_BYTE = 32,
    NVTX_TYPE_FLOAT32 = 43,
    NVTX_TYPE_FLOAT64,
    NVTX_TYPE_CATEGORY = 68,
    NVTX_TYPE_COLOR,
    NVTX_TYPE_SCOPE,
    NVTX_TYPE_PID32,
    NVTX_TYPE_PID64,
    NVTX_TYPE_TID32,
    NVTX_TYPE_TID64,
    NVTX_TYPE_CSTRING,
    NVTX_TYPE_CSTRING8,
    NVTX_TYPE_REGISTERED = 80
};
enum { NVTX_EXTENSION_PAYLOAD = 2 };
enum { /* slots of its functions */
       NVTX_SLOT_SCHEMA,
       NVTX_SLOT_ENUM,
       NVTX_SLOT_MARK,
       NVTX_SLOT_PUSH,
       NVTX_SLOT_POP,
       NVTX_SLOT_START,
       NVTX_SLOT_END,
       NVTX_SLOT_IS_ENABLED
};
struct nvtx_extension { /* nvtxExtModuleInfo_t */
    uint16_t version, size, module, compatible;
    size_t segment_count;
    struct nvtx_segment {
        size_t id, slot_count;
        intptr_t *slots;
    } * segments;
    intptr_t (*get_export)(uint32_t id);
    const void *about;
};

struct nvtx_event { /* nvtxEventAttributes_t; `size` says how much of it the program knows */
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        uint32_t u32;
        int32_t i32;
        float f32;
        const struct nvtx_payload *schemas;
    } payload;
    int32_t message_type;
    union {
        const char *text;
        const wchar_t *wide;
        const void *string; /* of NVTX_DOMAIN_STRING */
    } message;
};
_Static_assert(offsetof(struct nvtx_event, payload) == 24, "as in the public header");
_Static_assert(offsetof(struct nvtx_event, message) == 40, "as in the public header");
_Static_assert(sizeof(struct nvtx_event) == 48, "as in the public header");

#endif

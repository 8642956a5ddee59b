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

enum { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };

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
    NVTX_PAYLOAD_FLOAT
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

/* SPDX-License-Identifier: Apache-2.0 */
/* libcupti, found in the running program, never linked. */
#ifndef JVIEWD_INJECT_CUPTI_LIBRARY_H
#define JVIEWD_INJECT_CUPTI_LIBRARY_H

#include <stdbool.h>

#include "inject/cupti/cupti_abi.h"

#define ENV_CUPTI                                                                                  \
    "JVIEW_CUPTI" /* its path, where it is not found by itself; "off": leave it alone */

struct cupti { /* those behind the empty line may be NULL */
    int (*version)(uint32_t *ret);
    int (*subscribe)(void **ret, cupti_callback *callback, void *data);
    int (*register_buffers)(cupti_request *request, cupti_complete *complete);
    int (*enable)(int kind);
    int (*next_record)(uint8_t *buffer, size_t valid, struct cupti_record **at);
    int (*flush_all)(uint32_t flags);
    int (*dropped)(void *context, uint32_t stream, size_t *ret);
    int (*callback_name)(int domain, uint32_t call, const char **ret);

    int (*subscribe_by_name)(void **ret, cupti_callback *callback, void *data,
                             struct cupti_subscriber *subscriber);
    int (*unsubscribe)(void *subscriber);
    int (*enable_callback)(uint32_t on, void *subscriber, int domain, uint32_t call);
    int (*set_attribute)(int attribute, size_t *size, void *value);
    int (*set_thread_id_type)(int type);
    int (*enable_driver_call)(uint32_t call, uint8_t on);
    int (*enable_runtime_call)(uint32_t call, uint8_t on);
    int (*result_text)(int result, const char **ret);
    int (*node_id)(void *node, uint64_t *ret);
    int (*stream_id)(void *context, void *stream, uint8_t is_per_thread, uint32_t *ret);
};

/* The one that the program has mapped wins, since another copy would see none of its work. False,
 * with what is missing, where there is none. */
bool cupti_find(struct cupti *ret, const char **ret_missing);
/* Where the driver is too old for that one: the next older one that is installed, in its place.
 * False where the program itself has it mapped, or there is no other. */
bool cupti_find_older(struct cupti *ret);
/* The path of the one in use; of another that the program has mapped, too, NULL where there is
 * none. Both as long as they are mapped. */
const char *cupti_path(void);
const char *cupti_other_path(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What all decoders promise, whatever the bytes: a trace that opens, or a failure with a sentence.
 * Anything else ends the process. */
#ifndef JVIEWD_FUZZ_DECODE_ANY_H
#define JVIEWD_FUZZ_DECODE_ANY_H

#include "decode/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count);

struct any_input {
    struct str name; /* of the file */
    struct bytes bytes;
    struct str beside_name; /* of a file that is read together with it; "" none */
    struct bytes beside;
    const struct decoder *decoder;
    bool may_be_packed;                      /* else they stand as they are: unpacking has a target
                                                of its own */
    void (*look)(const struct trace *trace); /* at what opened; NULL */
};
void decode_any(const struct any_input *any);

#endif

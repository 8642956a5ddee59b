/* SPDX-License-Identifier: Apache-2.0 */
/* What the names of slices say of a compilation, and the one table that tells them.
 *
 *   python  PjitFunction(f)                        CALL      who asked
 *             trace_to_jaxpr                       BEFORE    tracing
 *             lower_sharding_computation           BEFORE    lowering
 *             compile_or_get_cached                REQUEST   one compile
 *               get_cache_key                      PART      of the cache
 *               backend_compile_and_load           BACKEND   the compiler proper; waits for
 *   worker        PjRtCpuClient::Compile           WORKER    the same compile on another thread,
 *                   simplification (jit_f)         PART      of XLA's passes
 *                   CpuCompiler::RunBackend        PART      of the code generation
 *
 * Names of Python frames are taken apart: "$compiler.py:292 backend_compile_and_load" is that
 * function of that file, whatever the line. NVTX ranges of XLA say more in the name itself:
 * "TSL:XlaPass:#name=dce,module=jit_f,program_id=36#".
 */
#ifndef JVIEWD_ANALYSE_DEVICE_COMPILE_WORDS_H
#define JVIEWD_ANALYSE_DEVICE_COMPILE_WORDS_H

#include "base/bytes.h"

enum compile_role {
    COMPILE_NONE,
    COMPILE_CALL,
    COMPILE_BEFORE,
    COMPILE_PART,
    COMPILE_REQUEST, /* from here on: each is a compile where no other is around it */
    COMPILE_BACKEND,
    COMPILE_WORKER,
};

enum compile_phase { /* in the order of bars */
                     PHASE_TRACE,
                     PHASE_LOWER,
                     PHASE_CACHE,
                     PHASE_PASSES,
                     PHASE_CODEGEN,
                     PHASE_AUTOTUNE,
                     PHASE_BACKEND, /* the compiler, no one knows at what */
                     PHASE_OTHER,   /* before and around it */
                     PHASE_COUNT
};

struct compile_word {
    enum compile_role role;
    enum compile_phase phase;
};

struct compile_word compile_word_of(struct str name);
/* "f" of "PjitFunction(f)"; "" elsewhere. */
struct str compile_function(struct str name);
/* The value of a key in "TSL:XlaCompile:#module=jit_f,program_id=36#"; "" none. */
struct str compile_fact(struct str name, const char *key);
/* "jit_f" of the pipeline "simplification (jit_f)"; "" elsewhere. */
struct str compile_pipeline_module(struct str name);
/* The function that a module is named after: "f" of "jit_f", "pjit_f", "jit(f)". */
struct str compile_module_function(struct str module);

#endif

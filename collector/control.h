/* What the launcher and the processes it watches share: one page, a file in the session's
 * directory.
 *
 * Passed by path, since children close the descriptors they inherit. The launcher writes `gate`,
 * `capture` and `flush`; a process writes the counters, which only ever grow.
 */
#ifndef JVIEWD_COLLECTOR_CONTROL_H
#define JVIEWD_COLLECTOR_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

#define CONTROL_FILE "control"
#define CONTROL_MAGIC UINT32_C(0x4c54434a) /* "JCTL" */

/* By these a process learns what it is part of. */
#define ENV_SESSION "JVIEW_SESSION" /* the session's directory: set by the launcher */
#define ENV_OUT "JVIEW_OUT"         /* without a launcher: the profile directory */

enum { CONTROL_VERSION = 1 };

struct control {
    uint32_t magic, version;
    _Atomic uint32_t gate;      /* 1: what happens is recorded */
    _Atomic uint32_t capture;   /* how many times the gate was opened */
    _Atomic uint32_t flush;     /* grows: write all that is there now */
    _Atomic uint32_t processes; /* that loaded the library */
    _Atomic uint64_t records, lost, bytes;
};

#endif

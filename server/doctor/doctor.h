/* SPDX-License-Identifier: Apache-2.0 */
/* `jviewd doctor [DIR]`: what stands between a user and their profiles, and the line that mends it.
 *
 *   doctor_place.c     the directory: file system, rights, room
 *   doctor_remote.c    a bucket: who asks, from where that is known, whether it answers
 *   doctor_rights.c    the lines that let this user use a path
 *   doctor_cache.c     where indexed profiles are kept
 *   doctor_machine.c   this computer: WSL, driver, CUPTI's rights, the GPU's, other profilers
 *   doctor_port.c      the port, and a JAX program that waits on another
 *   doctor_runs.c      the runs below the directory: unreadable, cut off, copies only, no devices
 *   doctor.c           asks them in order and prints
 *
 * Each check adds findings; none changes anything, but for the release that was asked for.
 */
#ifndef JVIEWD_DOCTOR_DOCTOR_H
#define JVIEWD_DOCTOR_DOCTOR_H

#include "app/rooms.h"

enum finding_severity { FINDING_OK, FINDING_INFO, FINDING_WARNING, FINDING_ERROR };

struct finding {
    const char *kind; /* a stable word: "file-system", "cut-off" */
    enum finding_severity severity;
    struct str subject; /* a path, a run, a port */
    struct str message;
    struct str remedy; /* a command or a sentence; "" none is needed */
};

struct findings { /* texts live in the arena */
    struct arena *arena;
    struct finding *at;
    uint32_t count, capacity;
    uint32_t left_out; /* over FINDINGS_MAX */
};

void finding_add(struct findings *findings, struct finding finding);

/* argv[0] is the verb. The exit code: 0 no problem, 3 no such directory, 4 an error. */
int doctor_main(int argc, char **argv);

struct file_system { /* as statfs(2) numbers it; 0 any local one */
    unsigned long magic;
    const char *name, *message, *remedy;
};
const struct file_system *file_system_of(unsigned long magic);

/* False when there is not a directory to go on with. */
bool doctor_place(struct findings *findings, const char *path);
/* The same of a place in the network: who asks there, and whether it answers. */
bool doctor_remote(struct findings *findings, const char *path);
void doctor_room(struct findings *findings, const char *kind, const char *path);
/* The cache that was asked for, or why it is not the one in use. */
void doctor_cache(struct findings *findings, const struct app *app);
/* `system_root` is "" but in tests: what /proc, /dev and /usr/lib hold is looked up below it. */
void doctor_machine(struct findings *findings, const char *system_root, bool runs_lack_devices);
/* What this process could give up; of this machine, whatever the root. */
void doctor_sandbox(struct findings *findings);
/* Is 127.0.0.1:PORT taken, and by a JAX program that waits for its trace to be fetched? `release`
 * fetches it once, which lets the program go on. */
void doctor_waiting(struct findings *findings, int port, bool release);
/* The head of an answer is that of JAX's waiting server. */
bool doctor_is_waiting_jax(struct str head);
void doctor_port(struct findings *findings, int port);
/* True when some run of a framework for accelerators holds no event of a device. */
bool doctor_runs(struct findings *findings, struct app *app);

#endif

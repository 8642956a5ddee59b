/* SPDX-License-Identifier: Apache-2.0 */
/* A process of our group that takes no signals: what waits for it was sent to the whole group. */
#include "launch/child/witness.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SETTLE_MS = 20 };

static struct {
    pid_t pid;  /* 0: none */
    int wire;   /* a byte: forget what waits; its end: go */
    int answer; /* a byte: forgotten */
} witness;

static void forget_all(const sigset_t *all)
{
    const struct timespec none = {0};

    while (sigtimedwait(all, NULL, &none) > 0)
        ;
}

static void be_witness(int wire, int answer, pid_t launcher)
{
    sigset_t all;
    char byte;

    prctl(PR_SET_NAME, "jview-witness");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    while (getppid() == launcher && read(wire, &byte, 1) == 1) {
        forget_all(&all);
        if (write(answer, &byte, 1) != 1)
            break;
    }
    _exit(0);
}

void witness_start(void)
{
    int wire[2], answer[2];
    pid_t launcher = getpid();

    if (pipe2(wire, O_CLOEXEC) != 0)
        return;
    if (pipe2(answer, O_CLOEXEC) != 0) {
        close(wire[0]);
        close(wire[1]);
        return;
    }
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* it must not take one of ours on its way */
    pid_t pid = fork();
    if (pid == 0) {
        close(wire[1]);
        close(answer[0]);
        be_witness(wire[0], answer[1], launcher);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(wire[0]);
    close(answer[1]);
    witness.pid = pid > 0 ? pid : 0;
    witness.wire = wire[1];
    witness.answer = answer[0];
}

/* What waits for it, as the system says: "ShdPnd:\t0000000000004000". */
static uint64_t pending(void)
{
    char path[64], line[128];
    uint64_t bits = 0;

    snprintf(path, sizeof path, "/proc/%ld/status", (long)witness.pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "ShdPnd:", 7) == 0)
            bits = strtoull(line + 7, NULL, 16);
    if (file != NULL)
        fclose(file);
    return bits;
}

/* Who sends to a group gets to each of it in turn, and `timeout` sends to us alone first: a moment
 * later all have it, and of several of one kind one is left. */
bool witness_saw(int number)
{
    const struct timespec settle = {.tv_nsec = SETTLE_MS * 1000000};
    char byte = 0;

    if (witness.pid == 0)
        return false;
    nanosleep(&settle, NULL);
    bool is_seen = (pending() >> (number - 1) & 1) != 0;
    if (is_seen && (write(witness.wire, &byte, 1) != 1 || read(witness.answer, &byte, 1) != 1))
        witness.pid = 0;
    return is_seen;
}

void witness_stop(void)
{
    if (witness.pid == 0)
        return;
    close(witness.wire);
    close(witness.answer);
    waitpid(witness.pid, NULL, 0);
    witness.pid = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Ports: the one to serve on, and the one on which a JAX program may wait.
 *
 * jax.profiler.trace(create_perfetto_link=True) serves the session's directory on 127.0.0.1:9001
 * and goes on only when perfetto_trace.json.gz has been asked for by GET; a HEAD does not count:
 *
 *   HEAD /perfetto_trace.json.gz    HTTP/1.0 200 OK
 *                                   Server: SimpleHTTP/0.6 Python/3.12.3
 *                                   Access-Control-Allow-Origin: *
 *
 * Source: _PerfettoServer in jax/_src/profiler.py. Python's own http.server allows no origin, and
 * Perfetto's open_trace_in_ui a single one: neither waits for this file.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "doctor/doctor.h"

enum { ANSWER_MAX = 16384, TIMEOUT_S = 3 };

static int connect_to(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval timeout = {.tv_sec = TIMEOUT_S};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Sends a request and reads all of the answer; its first bytes are kept. False without one. */
static bool ask_port(int port, const char *method, const char *path, struct arena *arena,
                     struct str *ret_head, uint64_t *ret_bytes)
{
    char answer[ANSWER_MAX], head[4096];
    size_t kept = 0;
    int fd = connect_to(port);

    *ret_bytes = 0;
    if (fd < 0)
        return false;
    int count = snprintf(head, sizeof head, "%s %s HTTP/1.0\r\nHost: 127.0.0.1:%d\r\n\r\n", method,
                         path, port);
    bool sent = send(fd, head, (size_t)count, MSG_NOSIGNAL) == count;
    for (ssize_t got; sent && (got = recv(fd, answer, sizeof answer, 0)) > 0;) {
        size_t room = sizeof head - kept, more = (size_t)got < room ? (size_t)got : room;

        memcpy(head + kept, answer, more);
        kept += more;
        *ret_bytes += (uint64_t)got;
    }
    close(fd);
    *ret_head = str_copy(arena, (struct str){.at = head, .count = sent ? kept : 0});
    return sent && kept > 0;
}

bool doctor_is_waiting_jax(struct str head)
{
    return str_starts(head, STR("HTTP/1.")) && str_contains(head, STR(" 200 ")) &&
           str_contains(head, STR("\r\nServer: SimpleHTTP/")) &&
           str_contains(head, STR("\r\nAccess-Control-Allow-Origin: *\r\n"));
}

void doctor_waiting(struct findings *findings, int port, bool release)
{
    static const char file[] = "/perfetto_trace.json.gz";
    struct finding finding = {.kind = "waiting-jax", .severity = FINDING_WARNING};
    struct str head;
    uint64_t bytes;

    finding.subject = str_format(findings->arena, "127.0.0.1:%d", port);
    if (!ask_port(port, "HEAD", file, findings->arena, &head, &bytes) ||
        !doctor_is_waiting_jax(head))
        return;
    finding.message = STR(
        "a JAX program (create_perfetto_link=True) is blocked until its trace has been fetched");
    finding.remedy = STR("jviewd doctor --release");
    if (release && ask_port(port, "GET", file, findings->arena, &head, &bytes) &&
        str_contains(head, STR(" 200 "))) {
        finding.severity = FINDING_INFO;
        finding.message = str_format(findings->arena,
                                     "a JAX program was blocked until its trace was fetched; it "
                                     "has been fetched (%.*s), and the program continues",
                                     STR_ARG(size_text(bytes, findings->arena)));
        finding.remedy = STR("");
    }
    finding_add(findings, finding);
}

void doctor_port(struct findings *findings, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0)
        return;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    bool is_free = bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    struct str why = str_of(is_free ? "free" : strerror(errno));

    close(fd);
    finding_add(findings,
                (struct finding){
                    .kind = "port",
                    .severity = is_free ? FINDING_OK : FINDING_INFO,
                    .subject = str_format(findings->arena, "127.0.0.1:%d", port),
                    .message = str_copy(findings->arena, why),
                    .remedy = is_free ? STR("") : STR("jviewd --port auto takes the next free one"),
                });
}

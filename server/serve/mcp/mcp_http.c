/* SPDX-License-Identifier: Apache-2.0 */
/* POST /mcp: one message, one JSON answer; DELETE /mcp ends a session.
 *
 *   initialize              -> 200, Mcp-Session-Id: 32 hex digits
 *   request                 -> 200
 *   notification            -> 202, nothing
 *   unknown Mcp-Session-Id  -> 404: begin again with initialize
 *
 * A session holds nothing that an answer depends on, so a client may also do without; its number
 * only tells that the server is the one that was spoken to. There is no stream of our own: GET is
 * refused with 405, as the protocol foresees.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>

#include "serve/answer/reply.h"
#include "serve/mcp/mcp.h"
#include "serve/routes.h"

enum { SESSIONS_MAX = 256, SESSION_SIZE = 33 };

static struct sessions {
    pthread_mutex_t lock;
    char ids[SESSIONS_MAX][SESSION_SIZE]; /* "" free */
    uint32_t next;                        /* the oldest one's place */
} sessions = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool session_begin(char ret[SESSION_SIZE])
{
    uint8_t bytes[SESSION_SIZE / 2];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
    pthread_mutex_lock(&sessions.lock);
    memcpy(sessions.ids[sessions.next++ % SESSIONS_MAX], ret, SESSION_SIZE);
    pthread_mutex_unlock(&sessions.lock);
    return true;
}

static bool session_is(struct str id, bool ends)
{
    bool found = false;

    pthread_mutex_lock(&sessions.lock);
    for (uint32_t i = 0; i < SESSIONS_MAX && id.count > 0; i++) {
        if (!str_equal(id, str_of(sessions.ids[i])))
            continue;
        found = true;
        if (ends)
            sessions.ids[i][0] = '\0';
    }
    pthread_mutex_unlock(&sessions.lock);
    return found;
}

static bool refuse(struct request *req, struct reply *reply, bool ends)
{
    struct str id = request_header(req, STR("mcp-session-id"));
    struct str version = request_header(req, STR("mcp-protocol-version"));

    if (id.count > 0 && !session_is(id, ends)) {
        reply_problem(reply, 404, "no-session",
                      STR("There is no such session: start with initialize."));
        return true;
    }
    if (version.count > 0 && !mcp_speaks(version)) {
        reply_problem(
            reply, 400, "bad-request",
            STR("This version of the protocol is not supported; initialize returns one that is."));
        return true;
    }
    return false;
}

static enum status post_mcp(struct request *req, struct reply *reply, struct error *err)
{
    struct str message = {.at = (const char *)req->body.at, .count = req->body.count};
    char id[SESSION_SIZE];

    (void)err;
    if (refuse(req, reply, false))
        return OK;
    if (!mcp_answer(req->services, req->server, message, req->arena, &reply->body)) {
        reply->status = 202;
        reply->type = NULL;
        return OK;
    }
    reply->status = 200;
    reply->type = TYPE_JSON;
    bool begins = message.count > 0 &&
                  memmem(message.at, message.count, "\"initialize\"", 12) != NULL &&
                  memmem(reply->body.at, reply->body.count, "\"protocolVersion\"", 17) != NULL;
    if (begins && request_header(req, STR("mcp-session-id")).count == 0 && session_begin(id))
        reply_header(reply, STR("Mcp-Session-Id"), str_copy(req->arena, str_of(id)));
    return OK;
}

static enum status delete_mcp(struct request *req, struct reply *reply, struct error *err)
{
    (void)err;
    if (refuse(req, reply, true))
        return OK;
    reply->status = 204;
    reply->type = NULL;
    return OK;
}

static const struct verb verb = {
    .name = "mcp",
    .summary = "tools for agents, on stdin and stdout (Model Context Protocol)",
    .operands = "[PATH]"};

const struct route route_mcp = {
    .method = "POST", .path = "/mcp", .handle = post_mcp, .apart = true, .verb = &verb};
const struct route route_mcp_end = {
    .method = "DELETE", .path = "/mcp", .handle = delete_mcp, .light = true};

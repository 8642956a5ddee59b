/* SPDX-License-Identifier: Apache-2.0 */
/* A place in the network: who asks there, from where that is known, and what it answers. */
#include "doctor/doctor.h"
#include "remote/remote.h"

struct sight { /* of the first objects */
    uint64_t count;
};

static bool see(void *data, const struct remote_object *object)
{
    struct sight *sight = data;
    (void)object;

    return ++sight->count < 1000;
}

static void tell_identity(struct findings *findings, struct remote *remote)
{
    struct remote_identity identity;
    struct error err = {0};
    struct finding finding = {.kind = "identity", .subject = remote_name(remote)};

    if (remote_identity(remote, findings->arena, &identity, &err) != OK) {
        finding.severity = FINDING_ERROR;
        finding.message = str_copy(findings->arena, str_of(err.message));
    } else {
        finding.severity = identity.passed.count > 0 ? FINDING_INFO : FINDING_OK;
        finding.message =
            str_format(findings->arena, "%.*s is asked as %.*s: %.*s", STR_ARG(identity.endpoint),
                       STR_ARG(identity.who), STR_ARG(identity.from));
    }
    if (finding.severity == FINDING_INFO)
        finding.message = str_format(findings->arena, "%.*s (looked at: %.*s)",
                                     STR_ARG(finding.message), STR_ARG(identity.passed));
    finding_add(findings, finding);
}

static bool tell_list(struct findings *findings, struct remote *remote)
{
    struct sight sight = {0};
    struct error err = {0};
    bool is_file;
    enum status status = remote_list(remote, see, &sight, &is_file, &err);
    struct finding finding = {.kind = "list", .subject = remote_name(remote)};

    finding.severity = status == OK ? FINDING_OK : FINDING_ERROR;
    if (status != OK)
        finding.message = str_copy(findings->arena, str_of(err.message));
    else if (is_file)
        finding.message = STR("is one object, and can be read");
    else
        finding.message =
            str_format(findings->arena, "answers: %llu object%s%s", (unsigned long long)sight.count,
                       sight.count == 1 ? "" : "s", sight.count >= 1000 ? ", and more" : "");
    finding_add(findings, finding);
    return status == OK;
}

bool doctor_remote(struct findings *findings, const char *path)
{
    struct remote *remote;
    struct error err = {0};

    if (remote_open(str_of(path), &remote, &err) != OK) {
        finding_add(findings,
                    (struct finding){.kind = "place",
                                     .severity = FINDING_ERROR,
                                     .subject = STR("the place"),
                                     .message = str_copy(findings->arena, str_of(err.message))});
        return false;
    }
    tell_identity(findings, remote);
    bool answers = tell_list(findings, remote);

    for (uint32_t i = 0; i < findings->count; i++)
        findings->at[i].subject = str_copy(findings->arena, findings->at[i].subject);
    remote_close(remote);
    return answers;
}

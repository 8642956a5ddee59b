/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the flat JSON object of a POST into typed members. */
#include "serve/answer/body.h"

#include <jansson.h>

static const struct body_member *find(const struct body_member *members, uint32_t count,
                                      const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(members[i].name, name) == 0)
            return &members[i];
    }
    return NULL;
}

/* Ids leave as texts, so they may come back as such. */
static bool integer_of(const json_t *value, int64_t *ret)
{
    if (json_is_integer(value))
        *ret = json_integer_value(value);
    return json_is_integer(value) ||
           (json_is_string(value) &&
            str_to_i64((struct str){json_string_value(value), json_string_length(value)}, ret));
}

static enum status take(struct request *req, const struct body_member *member, const json_t *value,
                        struct error *err)
{
    if (json_is_null(value))
        return OK;
    if (member->text != NULL ? !json_is_string(value) : !integer_of(value, member->integer))
        return fail(err, ERR_INVALID, "%s is %s", member->name,
                    member->text != NULL ? "a text" : "a whole number");
    if (member->text != NULL)
        *member->text = str_copy(req->arena, (struct str){.at = json_string_value(value),
                                                          .count = json_string_length(value)});
    if (member->given != NULL)
        *member->given = true;
    return OK;
}

static enum status take_all(struct request *req, json_t *object, const struct body_member *members,
                            uint32_t count, struct error *err)
{
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value)
    {
        const struct body_member *member = find(members, count, name);

        if (member == NULL)
            return fail(err, ERR_INVALID, "there is no member \"%.100s\" here; the first is \"%s\"",
                        name, members[0].name);
        TRY(take(req, member, value, err));
    }
    for (uint32_t i = 0; i < count; i++) {
        const json_t *found = json_object_get(object, members[i].name);

        if (members[i].required && (found == NULL || json_is_null(found)))
            return fail(err, ERR_INVALID, "\"%s\" is missing", members[i].name);
    }
    return OK;
}

enum status body_read(struct request *req, const struct body_member *members, uint32_t count,
                      struct error *err)
{
    json_error_t why;
    json_t *object =
        json_loadb((const char *)req->body.at, req->body.count, JSON_REJECT_DUPLICATES, &why);

    if (object == NULL)
        return fail(err, ERR_INVALID, "the body is not valid JSON: %s at byte %d", why.text,
                    why.position);
    enum status status = json_is_object(object)
                             ? take_all(req, object, members, count, err)
                             : fail(err, ERR_INVALID, "the body must be a JSON object");
    json_decref(object);
    return status;
}

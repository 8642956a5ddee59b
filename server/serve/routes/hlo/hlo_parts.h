/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of /api/hlo: what its files share. */
#ifndef JVIEWD_SERVE_ROUTES_HLO_HLO_PARTS_H
#define JVIEWD_SERVE_ROUTES_HLO_HLO_PARTS_H

#include "analyse/hlo/hlo.h"
#include "serve/answer/reply.h"

struct hlo_question {
    struct request *req;
    const struct run_traces *run;
    struct hlo_modules modules;
    const struct hlo_listed *listed;
    struct hlo_module module;
    struct hlo_measure measure;
};

/* One module of the list: {"key": ...} */
void json_put_module(struct json *json, const struct hlo_question *question,
                     const struct hlo_listed *listed);
/* "instruction": {...} and what stands around it. */
void json_put_instruction(struct json *json, const struct hlo_question *question,
                          uint32_t instruction);
/* Name, opcode, shape and line: what a list shows of an instruction. */
void json_put_hlo_brief(struct json *json, const struct hlo_question *question,
                        uint32_t instruction);
/* "execution_count", "self_ps": null where it was not seen to run. */
void json_put_hlo_cost(struct json *json, const struct hlo_question *question, struct str name);
/* "model.py:88"; "" unknown. */
struct str hlo_source_text(const struct hlo_instruction *of, struct arena *arena);
/* view=graph */
MUST_CHECK enum status reply_graph(struct hlo_question *question, struct reply *reply,
                                   struct error *err);
/* "meaning": what the opcode does, in a sentence; null: it is not known here */
void json_put_meaning(struct json *json, struct arena *arena, struct str opcode);
/* The list as a table, for CSV and terminals. */
struct table hlo_module_table(const struct hlo_question *question, const struct page *page);

#endif

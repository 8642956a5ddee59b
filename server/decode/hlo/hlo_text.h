/* SPDX-License-Identifier: Apache-2.0 */
/* One HLO instruction as its proto spells it. */
#ifndef JVIEWD_DECODE_HLO_HLO_TEXT_H
#define JVIEWD_DECODE_HLO_HLO_TEXT_H

#include "trace/sink.h"

struct hlo_text {
    struct str name, opcode, fusion_kind, target, scope, op_type, file;
    struct bytes shape;
    uint64_t line, frame;
};

/* XProf's words for what an instruction does: "loop fusion", "data formatting", the opcode. */
name_id hlo_category(struct sink *sink, const struct hlo_text *text, bool is_fused);

#endif

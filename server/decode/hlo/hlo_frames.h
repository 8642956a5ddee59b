/* SPDX-License-Identifier: Apache-2.0 */
/* Where instructions come from: the stack frames of a module, shared by its instructions.
 *
 *   StackFrames  1 file names*  2 function names*
 *                3 locations* { 1 file  2 function  3 line  4 column }
 *                4 frames* { 1 location  2 parent frame }
 *
 * The same as HLO text, before the first computation, each table ended by an empty line:
 *
 *   FileNames       1 "model.py"
 *   FunctionNames   1 "loss"
 *   FileLocations   1 {file_name_id=1 function_name_id=1 line=7 column=4}
 *   StackFrames     1 {file_location_id=1 parent_frame_id=1}
 *                   2 {file_location_id=2 parent_frame_id=2}
 *
 * Ids count from 1; 0 is none. A parent is an id, too, so chains are followed to a bound only. In
 * text XLA prints a parent's id plus one: above, frame 1 has none, and frame 2 was called by 1.
 */
#ifndef JVIEWD_DECODE_HLO_HLO_FRAMES_H
#define JVIEWD_DECODE_HLO_HLO_FRAMES_H

#include "decode/protobuf.h"

enum { HLO_FRAMES_MAX = 1 << 22 }; /* of each table: two bytes of a file can make one */

struct hlo_texts {
    struct str *items;
    uint32_t count, capacity;
};

struct hlo_numbers { /* of one record: fields 1 to 4, as numbered in protos */
    uint64_t fields[4];
};

struct hlo_records {
    struct hlo_numbers *items;
    uint32_t count, capacity;
};

struct hlo_frames { /* lives in an arena */
    struct hlo_texts files, functions;
    struct hlo_records locations, frames;
};

struct hlo_frame { /* one call */
    struct str file, function;
    uint64_t line, column;
    uint64_t parent; /* id; 0: the outermost */
};

/* False when the message is damaged; what is whole is there. */
bool hlo_frames_read(struct hlo_frames *frames, struct arena *arena, const struct pb *outer,
                     struct bytes message);
/* False when there are HLO_FRAMES_MAX already. */
bool hlo_frames_add_text(struct hlo_texts *texts, struct arena *arena, struct str text);
bool hlo_frames_add_record(struct hlo_records *records, struct arena *arena,
                           struct hlo_numbers record);
/* False when there is no frame of that id. */
bool hlo_frame_get(const struct hlo_frames *frames, uint64_t id, struct hlo_frame *ret);

#endif

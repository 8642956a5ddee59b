/* What a track is, in the words of /api/tracks. */
#ifndef JVIEWD_SERVE_ANSWER_TRACK_WORDS_H
#define JVIEWD_SERVE_ANSWER_TRACK_WORDS_H

#include <stdint.h>

const char *track_kind_word(uint8_t kind); /* enum track_kind */
const char *track_role_word(uint8_t role); /* enum track_role; NULL: the file does not say */

#endif

/* Inside places*.c. */
#ifndef JVIEWD_ANALYSE_PLACES_PARTS_H
#define JVIEWD_ANALYSE_PLACES_PARTS_H

#include "analyse/ops/places.h"
#include "base/names.h"

struct place_sum {
    int64_t self_ps;
    uint64_t count;
};

struct places_work {
    struct arena *arena;
    struct places *ret;
    struct names *keys; /* "2:GatherV2" -> movable */
    struct movable *movable;
    uint32_t movable_count, movable_capacity;
    bool any, host_known, callback_known;
};

void places_add_time(struct places_work *work, enum place place, struct place_sum sum);
void places_add_movable(struct places_work *work, struct str name, enum place place,
                        const char *why, struct place_sum sum);

bool places_has_devices(const struct trace *trace);

/* places_host.c. Did ops of the host call back? Then its threads' slices tell the same again. */
bool places_add_host_ops(struct places_work *work, const struct selection *selection);
void places_add_callbacks(struct places_work *work, const struct selection *selection);

#endif

/* What the links between the devices of one host carry at most. */
#ifndef JVIEWD_ANALYSE_DEVICE_LINK_H
#define JVIEWD_ANALYSE_DEVICE_LINK_H

#include "base/bytes.h"

struct device_link {
    const char *sheet; /* name of the device's data sheet, analyse/device_table.c */
    const char *name;
    double bytes_per_s; /* one way, all links of a device; in GB/s */
};

/* NULL: how its devices are linked depends on the board, or is not known. */
const struct device_link *device_link_of(struct str sheet);

#endif

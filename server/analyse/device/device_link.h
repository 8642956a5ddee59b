/* SPDX-License-Identifier: Apache-2.0 */
/* What the links of a device carry at most: to the other devices, and to its host. */
#ifndef JVIEWD_ANALYSE_DEVICE_DEVICE_LINK_H
#define JVIEWD_ANALYSE_DEVICE_DEVICE_LINK_H

#include "base/bytes.h"

struct device_link {
    const char *sheet;  /* name of the device's data sheet, analyse/device/device_table.c */
    const char *name;   /* to other devices: "NVLink 4"; NULL: there is none, or it is not known */
    double gb_per_s;    /* one way, all links of a device together */
    bool is_torus;      /* a ring along an axis of it uses two of the links, not all */
    const char *reason; /* why `name` is NULL */
    const char *host_name; /* "PCIe 5 x16"; NULL: not known */
    double host_gb_per_s;  /* one way */
    const char *host_reason;
};

/* Never NULL: for a sheet that is not here both are unknown. */
const struct device_link *device_link_of(struct str sheet);

#endif

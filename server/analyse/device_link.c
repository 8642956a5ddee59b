/* Rates one way: half of what data sheets call "bidirectional". Cards of PCIe are not here, for a
 * bridge between two of them, or the board's switches, decide; nor are TPUs, whose rings use those
 * links alone that lie along an axis of the torus. */
#include "analyse/device_link.h"

static const struct device_link links[] = {
    {"NVIDIA V100 SXM2", "NVLink 2", 150},
    {"NVIDIA A100 80GB", "NVLink 3", 300},
    {"NVIDIA A100 40GB", "NVLink 3", 300},
    {"NVIDIA H100 SXM", "NVLink 4", 450},
    {"NVIDIA H200", "NVLink 4", 450},
    {"NVIDIA H20", "NVLink 4", 450},
    {"NVIDIA B200", "NVLink 5", 900},
    {"NVIDIA GB200", "NVLink 5", 900},
    {"NVIDIA B300", "NVLink 5", 900},
    {"NVIDIA GB300", "NVLink 5", 900},
    {"AMD Instinct MI300X", "Infinity Fabric", 448},
    {"AMD Instinct MI325X", "Infinity Fabric", 448},
};

const struct device_link *device_link_of(struct str sheet)
{
    for (size_t i = 0; i < COUNT(links); i++) {
        if (str_equal(sheet, str_of(links[i].sheet)))
            return &links[i];
    }
    return NULL;
}

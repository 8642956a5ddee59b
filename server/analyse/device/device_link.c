/* SPDX-License-Identifier: Apache-2.0 */
/* Rates one way, in gigabytes a second: half of what data sheets call "bidirectional".
 *
 * Sources: the data sheet of the row of the same name in analyse/device/device_table.c, for "GPU
 * interconnect" and "PCIe"; AMD's CDNA white papers for Infinity Fabric links between devices; the
 * pages of Cloud TPU for v5e to TPU7x ("bidirectional ICI bandwidth per chip"; half of it for a
 * device that is half a chip), the paper on TPU v4 (ISCA 2023, six links of 50) for v4.
 */
#include "analyse/device/device_link.h"

static const char bridge[] =
    "it depends on a bridge between two cards, if any, or on the board's switches";
static const char no_link[] = "the card has no links to other devices but PCIe";
static const char no_figure[] = "its documentation does not say";
static const char not_known[] = "jviewd has no data sheet of its links";
static const char by_board[] = "sources and boards differ: PCIe 5 or 6";
static const char chip_to_chip[] = "it reaches its CPU by NVLink-C2C, not by PCIe alone";

#define LINKED(sheet, name, rate, host, host_rate)                                                 \
    {                                                                                              \
        sheet, name, rate, false, NULL, host, host_rate, NULL                                      \
    }
#define ALONE(sheet, reason, host, host_rate)                                                      \
    {                                                                                              \
        sheet, NULL, 0, false, reason, host, host_rate, NULL                                       \
    }
#define TORUS(sheet, rate)                                                                         \
    {                                                                                              \
        sheet, "ICI", rate, true, NULL, NULL, 0, no_figure                                         \
    }

static const struct device_link links[] = {
    LINKED("NVIDIA V100 SXM2", "NVLink 2", 150, "PCIe 3 x16", 16),
    ALONE("NVIDIA V100 PCIe", no_link, "PCIe 3 x16", 16),
    ALONE("NVIDIA T4", no_link, "PCIe 3 x16", 16),
    ALONE("NVIDIA A100 PCIe 80GB", bridge, "PCIe 4 x16", 32),
    LINKED("NVIDIA A800 80GB", "NVLink 3", 200, "PCIe 4 x16", 32),
    LINKED("NVIDIA A100 80GB", "NVLink 3", 300, "PCIe 4 x16", 32),
    LINKED("NVIDIA A100 40GB", "NVLink 3", 300, "PCIe 4 x16", 32),
    ALONE("NVIDIA A30", bridge, "PCIe 4 x16", 32),
    ALONE("NVIDIA A10", no_link, "PCIe 4 x16", 32),
    ALONE("NVIDIA A40", bridge, "PCIe 4 x16", 32),
    ALONE("NVIDIA RTX A6000", bridge, "PCIe 4 x16", 32),
    ALONE("NVIDIA GeForce RTX 3090", bridge, "PCIe 4 x16", 32),
    ALONE("NVIDIA GeForce RTX 3080", no_link, "PCIe 4 x16", 32),
    ALONE("NVIDIA L4", no_link, "PCIe 4 x16", 32),
    ALONE("NVIDIA L40", no_link, "PCIe 4 x16", 32),
    ALONE("NVIDIA L40S", no_link, "PCIe 4 x16", 32),
    ALONE("NVIDIA RTX 6000 Ada", no_link, "PCIe 4 x16", 32),
    ALONE("NVIDIA GeForce RTX 4090", no_link, "PCIe 4 x16", 32),
    ALONE("NVIDIA GeForce RTX 4080", no_link, "PCIe 4 x16", 32),
    ALONE("NVIDIA GeForce RTX 5090", no_link, "PCIe 5 x16", 64),
    ALONE("NVIDIA GeForce RTX 5080", no_link, "PCIe 5 x16", 64),
    ALONE("NVIDIA H100 PCIe", bridge, "PCIe 5 x16", 64),
    ALONE("NVIDIA H100 NVL", bridge, "PCIe 5 x16", 64),
    ALONE("NVIDIA H200 NVL", bridge, "PCIe 5 x16", 64),
    LINKED("NVIDIA H100 SXM", "NVLink 4", 450, "PCIe 5 x16", 64),
    LINKED("NVIDIA H200", "NVLink 4", 450, "PCIe 5 x16", 64),
    LINKED("NVIDIA H20", "NVLink 4", 450, "PCIe 5 x16", 64),
    {"NVIDIA GH200", "NVLink 4", 450, false, NULL, NULL, 0, chip_to_chip},
    {"NVIDIA GH200 144GB", "NVLink 4", 450, false, NULL, NULL, 0, chip_to_chip},
    {"NVIDIA B200", "NVLink 5", 900, false, NULL, NULL, 0, by_board},
    {"NVIDIA B300", "NVLink 5", 900, false, NULL, NULL, 0, by_board},
    {"NVIDIA GB200", "NVLink 5", 900, false, NULL, NULL, 0, chip_to_chip},
    {"NVIDIA GB300", "NVLink 5", 900, false, NULL, NULL, 0, chip_to_chip},
    LINKED("AMD Instinct MI300X", "Infinity Fabric", 448, "PCIe 5 x16", 64),
    LINKED("AMD Instinct MI325X", "Infinity Fabric", 448, "PCIe 5 x16", 64),
    LINKED("AMD Instinct MI350X", "Infinity Fabric", 537.6, "PCIe 5 x16", 64),
    LINKED("AMD Instinct MI355X", "Infinity Fabric", 537.6, "PCIe 5 x16", 64),
    {"AMD Instinct MI250X (one die)", NULL, 0, false,
     "the node decides which of a module's eight links a die has", NULL, 0,
     "the two dies of a module share its links to the host"},
    TORUS("TPU v4", 300),
    TORUS("TPU v5e", 200),
    TORUS("TPU v5p", 600),
    TORUS("TPU v6e", 400),
    TORUS("TPU v7x (one die)", 300),
};

static const struct device_link unknown = {.reason = not_known, .host_reason = not_known};

const struct device_link *device_link_of(struct str sheet)
{
    for (size_t i = 0; i < COUNT(links); i++) {
        if (str_equal(sheet, str_of(links[i].sheet)))
            return &links[i];
    }
    return &unknown;
}

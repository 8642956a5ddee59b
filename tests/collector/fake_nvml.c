/* SPDX-License-Identifier: Apache-2.0 */
/* An NVML without a GPU, from the public facts in nvml.c: two GPUs. The second one runs hot: it is
 * at 300 W and 95 degrees, and from its third look on slowed down by heat.
 *
 * FAKE_NVML_FAIL=FUNCTION=CODE   makes a function fail, as in "nvmlInit_v2=9" */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))
#define FAKE(name, ...)                                                                            \
    EXPORTED int name(__VA_ARGS__);                                                                \
    int name(__VA_ARGS__)

static int numbers[2] = {0, 1};

static int failure_of(const char *function)
{
    const char *text = getenv("FAKE_NVML_FAIL");
    size_t count = strlen(function);

    return text != NULL && strncmp(text, function, count) == 0 && text[count] == '='
               ? atoi(text + count + 1)
               : 0;
}

static unsigned of(const void *device)
{
    return (unsigned)*(const int *)device;
}

FAKE(nvmlInit_v2, void)
{
    return failure_of("nvmlInit_v2");
}

FAKE(nvmlDeviceGetCount_v2, unsigned *ret)
{
    *ret = 2;
    return 0;
}

FAKE(nvmlDeviceGetHandleByIndex_v2, unsigned index, void **ret)
{
    *ret = &numbers[index];
    return 0;
}

FAKE(nvmlDeviceGetName, void *device, char *ret, unsigned size)
{
    (void)device;
    snprintf(ret, size, "Made Up 9000");
    return 0;
}

FAKE(nvmlDeviceGetUUID, void *device, char *ret, unsigned size)
{
    snprintf(ret, size, "GPU-0000000%u-0000-0000-0000-000000000000", of(device));
    return 0;
}

FAKE(nvmlDeviceGetClockInfo, void *device, int which, unsigned *ret)
{
    *ret = which == 1 ? 1980 - 1000 * of(device) : 2600;
    return failure_of("nvmlDeviceGetClockInfo");
}

FAKE(nvmlDeviceGetPowerUsage, void *device, unsigned *ret)
{
    *ret = 100500 + 200000 * of(device);
    return 0;
}

FAKE(nvmlDeviceGetTemperature, void *device, int sensor, unsigned *ret)
{
    *ret = 45 + 50 * of(device);
    return sensor;
}

FAKE(nvmlDeviceGetMemoryInfo, void *device, unsigned long long ret[3])
{
    (void)device;
    ret[0] = 3000;
    ret[1] = 1000;
    ret[2] = 2000;
    return 0;
}

FAKE(nvmlDeviceGetUtilizationRates, void *device, unsigned ret[2])
{
    ret[0] = of(device) == 0 ? 0 : 97;
    ret[1] = 12;
    return 0;
}

/* By its older name: drivers before 535 have no other. */
FAKE(nvmlDeviceGetCurrentClocksThrottleReasons, void *device, unsigned long long *ret)
{
    static unsigned looks;

    *ret = of(device) == 0 ? 1 : looks++ < 2 ? 0 : 0x20 | 0x4;
    return 0;
}

EXPORTED const char *nvmlErrorString(int result);
const char *nvmlErrorString(int result)
{
    return result == 9 ? "Driver Not Loaded" : "Unknown Error";
}

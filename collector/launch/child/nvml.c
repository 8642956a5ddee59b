/* SPDX-License-Identifier: Apache-2.0 */
/* Calls libnvidia-ml by dlopen. Facts: the numbers and structs of NVML's public header. */
#include "launch/child/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "api/record.h"

/* Numbers and layouts of NVML's public interface. */
enum { NVML_OK = 0, CLOCK_SM = 1, CLOCK_MEMORY = 2, TEMPERATURE_GPU = 0 };
typedef void *nvml_device;
struct nvml_memory {
    unsigned long long total, free, used;
};
struct nvml_busy {
    unsigned gpu, memory; /* % */
};

static struct { /* those behind the empty line may be NULL */
    int (*init)(void);
    int (*count)(unsigned *ret);
    int (*handle)(unsigned index, nvml_device *ret);

    const char *(*error_text)(int result);
    int (*name)(nvml_device device, char *ret, unsigned size);
    int (*uuid)(nvml_device device, char *ret, unsigned size);
    int (*clock)(nvml_device device, int which, unsigned *ret);
    int (*power)(nvml_device device, unsigned *ret);
    int (*temperature)(nvml_device device, int sensor, unsigned *ret);
    int (*memory)(nvml_device device, struct nvml_memory *ret);
    int (*busy)(nvml_device device, struct nvml_busy *ret);
    int (*reasons)(nvml_device device, unsigned long long *ret);
} nvml;

static nvml_device devices[GPUS_MAX];

struct wanted {
    const char *name, *other; /* its newer or its older name */
    void *at;
    bool is_needed;
};

static bool find_functions(void *library, const char **ret_missing)
{
    const struct wanted wanted[] = {
        {"nvmlInit_v2", NULL, &nvml.init, true},
        {"nvmlDeviceGetCount_v2", NULL, &nvml.count, true},
        {"nvmlDeviceGetHandleByIndex_v2", NULL, &nvml.handle, true},
        {"nvmlErrorString", NULL, &nvml.error_text, false},
        {"nvmlDeviceGetName", NULL, &nvml.name, false},
        {"nvmlDeviceGetUUID", NULL, &nvml.uuid, false},
        {"nvmlDeviceGetClockInfo", NULL, &nvml.clock, false},
        {"nvmlDeviceGetPowerUsage", NULL, &nvml.power, false},
        {"nvmlDeviceGetTemperature", NULL, &nvml.temperature, false},
        {"nvmlDeviceGetMemoryInfo", NULL, &nvml.memory, false},
        {"nvmlDeviceGetUtilizationRates", NULL, &nvml.busy, false},
        {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons",
         &nvml.reasons, false},
    };

    for (size_t index = 0; index < sizeof wanted / sizeof wanted[0]; index++) {
        void *symbol = dlsym(library, wanted[index].name);
        if (symbol == NULL && wanted[index].other != NULL)
            symbol = dlsym(library, wanted[index].other);
        if (symbol == NULL && wanted[index].is_needed) {
            *ret_missing = wanted[index].name;
            return false;
        }
        memcpy(wanted[index].at, &symbol, sizeof symbol);
    }
    return true;
}

static const char *text_of(int result)
{
    const char *text = nvml.error_text != NULL ? nvml.error_text(result) : NULL;

    return text != NULL ? text : "no reason is given";
}

uint32_t nvml_open(char *ret_why, size_t ret_size)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    const char *missing = "libnvidia-ml.so.1";
    unsigned count = 0;

    ret_why[0] = '\0';
    if (library == NULL || !find_functions(library, &missing)) {
        snprintf(ret_why, ret_size,
                 "Clocks, power and temperature of GPUs are not recorded: %s was not found.",
                 missing);
        return 0;
    }
    int result = nvml.init();
    if (result == NVML_OK)
        result = nvml.count(&count);
    if (result != NVML_OK)
        snprintf(ret_why, ret_size,
                 "Clocks, power and temperature of GPUs are not recorded: %s (NVML error %d).",
                 text_of(result), result);
    if (result != NVML_OK)
        return 0;
    for (unsigned index = 0; index < count && index < GPUS_MAX; index++)
        if (nvml.handle(index, &devices[index]) != NVML_OK)
            devices[index] = NULL;
    return count < GPUS_MAX ? count : GPUS_MAX;
}

void nvml_about(uint32_t gpu, struct control_gpu *ret)
{
    struct nvml_memory memory = {0};

    if (devices[gpu] == NULL)
        return;
    if (nvml.name == NULL || nvml.name(devices[gpu], ret->name, sizeof ret->name - 1) != NVML_OK)
        ret->name[0] = '\0';
    if (nvml.uuid == NULL || nvml.uuid(devices[gpu], ret->uuid, sizeof ret->uuid - 1) != NVML_OK)
        ret->uuid[0] = '\0';
    if (nvml.memory != NULL && nvml.memory(devices[gpu], &memory) == NVML_OK)
        ret->memory_bytes = memory.total;
}

static int read_wide(nvml_device device, uint32_t figure, int64_t *ret)
{
    struct nvml_memory memory = {0};
    struct nvml_busy busy = {0};
    unsigned long long reasons = 0;
    int result = -1;

    if (figure == FIGURE_GPU_MEMORY && nvml.memory != NULL)
        result = nvml.memory(device, &memory);
    else if (figure == FIGURE_GPU_BUSY && nvml.busy != NULL)
        result = nvml.busy(device, &busy);
    else if (figure == FIGURE_GPU_THROTTLE && nvml.reasons != NULL)
        result = nvml.reasons(device, &reasons);
    *ret = (int64_t)(memory.used + busy.gpu + reasons);
    return result;
}

bool nvml_figure(uint32_t gpu, uint32_t figure, int64_t *ret)
{
    nvml_device device = devices[gpu];
    unsigned value = 0;
    int result = -1;

    if (device == NULL)
        return false;
    if (figure == FIGURE_GPU_CLOCK && nvml.clock != NULL)
        result = nvml.clock(device, CLOCK_SM, &value);
    else if (figure == FIGURE_GPU_MEMORY_CLOCK && nvml.clock != NULL)
        result = nvml.clock(device, CLOCK_MEMORY, &value);
    else if (figure == FIGURE_GPU_POWER && nvml.power != NULL)
        result = nvml.power(device, &value);
    else if (figure == FIGURE_GPU_TEMPERATURE && nvml.temperature != NULL)
        result = nvml.temperature(device, TEMPERATURE_GPU, &value);
    else
        return read_wide(device, figure, ret) == NVML_OK;
    *ret = value;
    return result == NVML_OK;
}

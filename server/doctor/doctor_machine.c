/* SPDX-License-Identifier: Apache-2.0 */
/* This computer: what usually keeps a GPU's events out of a profile. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sandbox/sandbox.h"
#include "doctor/doctor.h"
#include "doctor/doctor_rights.h"

enum { SMALL_FILE_MAX = 8192, PATH_SIZE = 4200 };

static bool is_there(const char *root, const char *path)
{
    char whole[PATH_SIZE];

    snprintf(whole, sizeof whole, "%s%s", root, path);
    return access(whole, F_OK) == 0;
}

static struct str read_small(struct arena *arena, const char *root, const char *path)
{
    char whole[PATH_SIZE], text[SMALL_FILE_MAX];

    snprintf(whole, sizeof whole, "%s%s", root, path);
    FILE *file = fopen(whole, "re");
    size_t count = file == NULL ? 0 : fread(text, 1, sizeof text, file);
    if (file != NULL)
        fclose(file);
    return str_copy(arena, (struct str){.at = text, .count = count});
}

static void add(struct findings *findings, const char *kind, enum finding_severity severity,
                const char *subject, const char *message, const char *remedy)
{
    finding_add(findings, (struct finding){.kind = kind,
                                           .severity = severity,
                                           .subject = str_of(subject),
                                           .message = str_of(message),
                                           .remedy = str_of(remedy)});
}

static void look_at_wsl(struct findings *findings, const char *root)
{
    struct str release = read_small(findings->arena, root, "/proc/sys/kernel/osrelease");

    if (!str_contains(release, STR("microsoft")) && !str_contains(release, STR("Microsoft")))
        return;
    add(findings, "wsl", FINDING_INFO, "WSL2", "this is Linux on Windows", "");
    if (!is_there(root, "/dev/dxg"))
        add(findings, "wsl-gpu", FINDING_WARNING, "/dev/dxg",
            "the GPU is not available in WSL2: profiles will hold no device",
            "install the NVIDIA driver in Windows, then in PowerShell: wsl --update; wsl "
            "--shutdown");
    else if (!is_there(root, "/usr/lib/wsl/lib/libcuda.so.1"))
        add(findings, "wsl-libcuda", FINDING_WARNING, "/usr/lib/wsl/lib/libcuda.so.1",
            "Windows' driver does not offer CUDA to WSL2",
            "update the NVIDIA driver in Windows; install none inside WSL2");
    else
        add(findings, "wsl-cupti", FINDING_INFO, "CUPTI",
            "kernels are traced in WSL2 only when Windows lets every user read GPU counters",
            "NVIDIA control panel > Desktop > Enable developer settings > Manage GPU performance "
            "counters > Allow access to all users");
}

/* The driver's own word on who may profile. */
static void look_at_cupti(struct findings *findings, const char *root)
{
    struct str params = read_small(findings->arena, root, "/proc/driver/nvidia/params");

    if (str_contains(params, STR("RmProfilingAdminOnly: 1")) && geteuid() != 0)
        add(findings, "cupti-permission", FINDING_WARNING, "/proc/driver/nvidia/params",
            "only the administrator may read GPU counters (CUPTI_ERROR_INSUFFICIENT_PRIVILEGES); "
            "kernels may be missing from profiles",
            "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
            "/etc/modprobe.d/nvidia-profiling.conf && sudo update-initramfs -u && sudo reboot");
}

/* One line for each group or right that is missing. */
static void look_at_devices(struct findings *findings, const char *root)
{
    static const char *const nodes[] = {"/dev/nvidia0", "/dev/nvidiactl", "/dev/kfd",
                                        "/dev/dri/renderD128"};
    struct str told[COUNT(nodes)];
    size_t told_count = 0;
    char whole[PATH_SIZE];
    struct stat info;

    for (size_t i = 0; i < COUNT(nodes); i++) {
        snprintf(whole, sizeof whole, "%s%s", root, nodes[i]);
        if (stat(whole, &info) != 0 || access(whole, R_OK | W_OK) == 0)
            continue;
        struct str line = mend_rights(findings->arena, nodes[i], &info, "rw");
        bool is_new = true;

        for (size_t k = 0; k < told_count; k++)
            is_new &= !str_equal(told[k], line);
        if (!is_new)
            continue;
        told[told_count++] = line;
        finding_add(findings,
                    (struct finding){
                        .kind = "device-permission",
                        .severity = FINDING_WARNING,
                        .subject = str_of(nodes[i]),
                        .message = STR("this user may not open the GPU: programs fall back to the "
                                       "CPU, and profiles hold no device"),
                        .remedy = line,
                    });
    }
}

static bool is_number(const char *name)
{
    for (; *name != '\0'; name++)
        if (!isdigit((unsigned char)*name))
            return false;
    return true;
}

/* CUPTI serves one subscriber at a time. */
static void look_at_profilers(struct findings *findings, const char *root)
{
    static const char *const names[] = {"nsys\n", "nsys-launcher\n", "ncu\n", "nv-hostengine\n",
                                        "rocprofv3\n"};
    char whole[PATH_SIZE], path[300];

    snprintf(whole, sizeof whole, "%s/proc", root);
    DIR *processes = opendir(whole);

    for (struct dirent *entry; processes != NULL && (entry = readdir(processes)) != NULL;) {
        if (!is_number(entry->d_name))
            continue;
        snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
        struct str name = read_small(findings->arena, root, path);

        for (size_t i = 0; i < COUNT(names); i++) {
            if (!str_equal(name, str_of(names[i])))
                continue;
            finding_add(findings,
                        (struct finding){
                            .kind = "two-profilers",
                            .severity = FINDING_WARNING,
                            .subject = str_format(findings->arena, "process %s (%.*s)",
                                                  entry->d_name, (int)name.count - 1, name.at),
                            .message = STR("another profiler holds the GPU's counters; while it "
                                           "does, jax.profiler gets no device events"),
                            .remedy = STR("end it before profiling, or profile with it alone"),
                        });
        }
    }
    if (processes != NULL)
        closedir(processes);
}

static void look_at_driver(struct findings *findings, const char *root, bool runs_lack_devices)
{
    bool nvidia = is_there(root, "/proc/driver/nvidia/version") || is_there(root, "/dev/dxg");
    bool any = nvidia || is_there(root, "/dev/kfd") || is_there(root, "/dev/accel0");

    if (!any && runs_lack_devices)
        add(findings, "no-driver", FINDING_INFO, "/dev",
            "this machine has no accelerator driver; the machine that recorded the profiles may "
            "have one",
            "run `jviewd doctor` on the machine that runs the program");
}

/* What reads files and runs queries gives up: all of it, or what is missing and why. */
void doctor_sandbox(struct findings *findings)
{
    unsigned parts = sandbox_parts();

    if ((parts & (SANDBOX_FILES | SANDBOX_CALLS)) == (SANDBOX_FILES | SANDBOX_CALLS))
        add(findings, "sandbox", FINDING_OK, "sandbox",
            (parts & SANDBOX_NAMESPACES) != 0
                ? "the process that reads a profile has no access to other files, system calls or "
                  "the network"
                : "the process that reads a profile has no access to other files and system calls",
            "");
    if ((parts & SANDBOX_FILES) == 0)
        add(findings, "no-landlock", FINDING_WARNING, "Landlock",
            "the process that reads a profile could open other files of this user: the kernel has "
            "no Landlock, or something forbids it",
            "Linux 5.13 or newer, with landlock in the list of cat /sys/kernel/security/lsm; a "
            "container must allow the landlock_ calls");
    if ((parts & SANDBOX_CALLS) == 0)
        add(findings, "no-seccomp", FINDING_WARNING, "seccomp",
            "the process that reads a profile can use all system calls: the kernel accepts no "
            "filter, or this is a sanitizer build",
            "a kernel with CONFIG_SECCOMP_FILTER; a container must allow prctl and seccomp");
}

void doctor_machine(struct findings *findings, const char *system_root, bool runs_lack_devices)
{
    look_at_wsl(findings, system_root);
    look_at_driver(findings, system_root, runs_lack_devices);
    look_at_cupti(findings, system_root);
    look_at_devices(findings, system_root);
    look_at_profilers(findings, system_root);
}

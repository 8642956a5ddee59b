/* SPDX-License-Identifier: Apache-2.0 */
/* Where the profiles lie: what kind of file system that is, and who may do what there. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "doctor/doctor_rights.h"

#define GIB (UINT64_C(1) << 30)

#define SILENT "; it does not report changes, so the directory is scanned every 5 s"

/* What is known of file systems that behave otherwise than a local disk. */
static const struct file_system known[] = {
    {0x01021997, "9p",
     "a Windows drive or another share, as mounted by WSL2 and virtual machines (9p): slow for "
     "many small files" SILENT,
     "write profiles inside the Linux file system (~/profiles), not below /mnt/c"},
    {0x53464846, "drvfs",
     "a Windows drive, or the Linux files of WSL1 (drvfs, wslfs): slow for many small files",
     "write profiles inside the Linux file system (~/profiles), not below /mnt/c"},
    {0x6969, "nfs",
     "a network file system (NFS): files that other machines write appear some seconds later",
     "the directory is scanned every 5 s; nothing needs to be done"},
    {0xff534d42, "cifs", "a Windows share (CIFS)" SILENT, ""},
    {0xfe534d42, "smb2", "a Windows share (SMB)" SILENT, ""},
    {0x517b, "smb", "a Windows share (SMB)" SILENT, ""},
    {0x65735546, "fuse",
     "a FUSE file system (sshfs, gcsfuse, s3fs), where accessing a file may be slow" SILENT,
     "copy profiles to a local disk if access is slow"},
    {0x794c7630, "overlayfs",
     "the writable layer of a container (overlay): its files are lost with the container",
     "mount a directory of the host: docker run -v \"$PWD/profiles:/profiles\""},
    {0x0bd00bd0, "lustre", "a parallel file system (Lustre)" SILENT, ""},
    {0x47504653, "gpfs", "a parallel file system (GPFS)" SILENT, ""},
    {0x19830326, "beegfs", "a parallel file system (BeeGFS)" SILENT, ""},
    {0x00c36400, "ceph", "a network file system (Ceph)" SILENT, ""},
    {0x5346414f, "afs", "a network file system (AFS)" SILENT, ""},
    {0x01021994, "tmpfs", "memory (tmpfs): its files are lost when the machine stops",
     "move files that you want to keep to a disk"},
};

const struct file_system *file_system_of(unsigned long magic)
{
    static const struct file_system local = {0, "local", "a local file system", ""};

    for (size_t i = 0; i < COUNT(known); i++)
        if (known[i].magic == magic)
            return &known[i];
    return &local;
}

static void look_at_file_system(struct findings *findings, const char *path)
{
    struct statfs info;

    if (statfs(path, &info) != 0)
        return;
    const struct file_system *kind = file_system_of((unsigned long)info.f_type);
    finding_add(findings, (struct finding){.kind = "file-system",
                                           .severity = kind->magic == 0 ? FINDING_OK : FINDING_INFO,
                                           .subject = str_of(path),
                                           .message = str_of(kind->message),
                                           .remedy = str_of(kind->remedy)});
}

static void look_at_rights(struct findings *findings, const char *path, const struct stat *info)
{
    bool is_directory = S_ISDIR(info->st_mode);
    struct finding finding = {.kind = "read", .subject = str_of(path)};

    if (!may_look(path, info)) {
        finding.severity = FINDING_ERROR;
        finding.message = str_format(findings->arena, "cannot be read: %s", strerror(errno));
        finding.remedy = mend_rights(findings->arena, path, info, is_directory ? "rx" : "r");
        finding_add(findings, finding);
    }
    if (!is_directory || access(path, W_OK | X_OK) == 0)
        return;
    bool is_read_only = errno == EROFS;

    finding.kind = "write";
    finding.severity = FINDING_WARNING;
    finding.message = str_format(findings->arena,
                                 "%.*s cannot write to it (%s): programs of this user cannot write "
                                 "profiles here; jviewd itself only reads",
                                 STR_ARG(user_name(findings->arena)), strerror(errno));
    finding.remedy = is_read_only ? STR("mount it writable (docker run -v without :ro) if programs "
                                        "write profiles into it")
                                  : mend_rights(findings->arena, path, info, "rwx");
    finding_add(findings, finding);
}

void doctor_room(struct findings *findings, const char *kind, const char *path)
{
    struct statvfs info;

    if (statvfs(path, &info) != 0)
        return;
    uint64_t bytes = (uint64_t)info.f_bavail * info.f_frsize;
    bool short_of = bytes < GIB || (info.f_files > 0 && info.f_favail < 1000);

    finding_add(
        findings,
        (struct finding){
            .kind = kind,
            .severity = short_of ? FINDING_WARNING : FINDING_OK,
            .subject = str_of(path),
            .message = str_format(findings->arena, "%.*s free",
                                  STR_ARG(size_text(bytes, findings->arena))),
            .remedy = short_of ? STR("remove old profiles, or give another --cache-dir") : STR(""),
        });
}

bool doctor_place(struct findings *findings, const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0) {
        bool missing = errno == ENOENT || errno == ENOTDIR;

        finding_add(findings, (struct finding){
                                  .kind = "directory",
                                  .severity = FINDING_ERROR,
                                  .subject = str_of(path),
                                  .message = str_format(findings->arena, "%s", strerror(errno)),
                                  .remedy = missing ? mend_missing(findings->arena, path)
                                                    : mend_entry(findings->arena, path),
                              });
        return false;
    }
    look_at_file_system(findings, path);
    look_at_rights(findings, path, &info);
    doctor_room(findings, "room", path);
    return true;
}

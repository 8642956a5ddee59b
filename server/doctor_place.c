/* Where the profiles lie: what kind of file system that is, and who may do what there. */
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "doctor.h"

#define GIB (UINT64_C(1) << 30)

/* What is known of file systems that behave otherwise than a local disk. */
static const struct {
    unsigned long magic;
    const char *name, *message, *remedy;
} kinds[] = {
    {0x01021997, "9p",
     "a Windows drive or another share as WSL2 and virtual machines show it (9p): slow for many "
     "small files, and it does not tell changes, so the directory is looked at every 5 s",
     "write profiles inside the Linux file system (~/profiles), not below /mnt/c"},
    {0x53464846, "drvfs", "a Windows drive as WSL1 shows it (drvfs): it does not tell changes",
     "write profiles inside the Linux file system (~/profiles), not below /mnt/c"},
    {0x6969, "nfs",
     "a network file system (NFS): what other machines write is seen some seconds later",
     "the directory is looked at every 5 s; nothing needs to be done"},
    {0xff534d42, "cifs", "a Windows share (CIFS): it does not tell changes", ""},
    {0xfe534d42, "smb2", "a Windows share (SMB): it does not tell changes", ""},
    {0x65735546, "fuse",
     "a file system of a user's program (FUSE: sshfs, gcsfuse, s3fs): it does not tell changes, "
     "and a look at a file may take long",
     "copy profiles to a local disk where looking takes long"},
    {0x794c7630, "overlayfs",
     "the writable layer of a container (overlay): what is written there ends with the container",
     "mount a directory of the host: docker run -v \"$PWD/profiles:/profiles\""},
    {0x0bd00bd0, "lustre", "a parallel file system (Lustre): it does not tell changes", ""},
    {0x47504653, "gpfs", "a parallel file system (GPFS): it does not tell changes", ""},
    {0x01021994, "tmpfs", "memory (tmpfs): what is written there ends with the machine",
     "move what shall stay to a disk"},
};

static void look_at_file_system(struct findings *findings, const char *path)
{
    struct statfs info;

    if (statfs(path, &info) != 0)
        return;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if ((unsigned long)info.f_type != kinds[i].magic)
            continue;
        finding_add(findings, (struct finding){.kind = "file-system",
                                               .severity = FINDING_INFO,
                                               .subject = str_of(path),
                                               .message = str_of(kinds[i].message),
                                               .remedy = str_of(kinds[i].remedy)});
        return;
    }
    finding_add(findings, (struct finding){.kind = "file-system",
                                           .severity = FINDING_OK,
                                           .subject = str_of(path),
                                           .message = STR("a local file system")});
}

static struct str user_name(struct arena *arena)
{
    const struct passwd *user = getpwuid(geteuid());

    return user != NULL ? str_copy(arena, str_of(user->pw_name))
                        : str_format(arena, "%u", (unsigned)geteuid());
}

/* The line that gives these rights to this user: as owner, as one of its group, or by the owner. */
static struct str mend_rights(struct arena *arena, const char *path, const struct stat *info,
                              const char *rights)
{
    const struct group *group = getgrgid(info->st_gid);
    bool of_group = (info->st_mode & S_IXGRP) != 0 && (info->st_mode & S_IRGRP) != 0;

    if (info->st_uid == geteuid())
        return str_format(arena, "chmod u+%s '%s'", rights, path);
    if (of_group && group != NULL && strchr(rights, 'w') == NULL)
        return str_format(arena, "sudo usermod -aG %s %.*s   # then log in again", group->gr_name,
                          STR_ARG(user_name(arena)));
    return str_format(arena, "sudo chmod o+%s '%s'", rights, path);
}

static void look_at_rights(struct findings *findings, const char *path, const struct stat *info)
{
    bool is_directory = S_ISDIR(info->st_mode);
    struct finding finding = {.kind = "read", .subject = str_of(path)};

    if (access(path, is_directory ? R_OK | X_OK : R_OK) != 0) {
        finding.severity = FINDING_ERROR;
        finding.message = str_format(findings->arena, "cannot be read: %s", strerror(errno));
        finding.remedy = mend_rights(findings->arena, path, info, is_directory ? "rx" : "r");
        finding_add(findings, finding);
    }
    if (!is_directory || access(path, W_OK | X_OK) == 0)
        return;
    finding.kind = "write";
    finding.severity = FINDING_WARNING;
    finding.message = str_format(findings->arena,
                                 "cannot be written by %.*s (%s): a program of this user that "
                                 "profiles into it will fail; reading is all jviewd needs",
                                 STR_ARG(user_name(findings->arena)), strerror(errno));
    finding.remedy = mend_rights(findings->arena, path, info, "rwx");
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

/* The nearest directory above that is there: what keeps `mkdir -p` from working, if anything. */
static struct str missing_remedy(struct arena *arena, const char *path)
{
    char above[PATH_MAX];
    struct stat info;

    snprintf(above, sizeof above, "%s", path);
    for (char *slash; (slash = strrchr(above, '/')) != NULL;) {
        slash[slash == above] = '\0';
        if (stat(above, &info) == 0)
            break;
        if (slash == above)
            break;
    }
    if (strchr(above, '/') == NULL)
        snprintf(above, sizeof above, ".");
    if (access(above, W_OK | X_OK) == 0)
        return str_format(arena, "mkdir -p '%s'", path);
    return str_format(arena, "sudo mkdir -p '%s' && sudo chown %.*s '%s'", path,
                      STR_ARG(user_name(arena)), path);
}

bool doctor_place(struct findings *findings, const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0) {
        bool missing = errno == ENOENT || errno == ENOTDIR;

        finding_add(findings,
                    (struct finding){
                        .kind = "directory",
                        .severity = FINDING_ERROR,
                        .subject = str_of(path),
                        .message = str_format(findings->arena, "%s", strerror(errno)),
                        .remedy = missing ? missing_remedy(findings->arena, path)
                                          : STR("a directory above it has to let you through: "
                                                "`namei -l` shows which does not"),
                    });
        return false;
    }
    look_at_file_system(findings, path);
    look_at_rights(findings, path, &info);
    doctor_room(findings, "room", path);
    return true;
}

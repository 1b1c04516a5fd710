/* Shows the stand-ins of Lustre and NFS in /proc/mounts as the kernel would show the real ones.
 *
 * This kernel has neither client, so both are FUSE mounts of a folder that is named as the real source would be:
 * "/.sandbox/fs/10.0.0.9@tcp:/abcd /fsx fuse.lustre ..." is read as "10.0.0.9@tcp:/abcd /fsx lustre ...".
 * Loaded into every program of a host by /etc/ld.so.preload. mountinfo reads so only for programs that show it:
 * systemd polls its descriptor, and rewinds it to see what has changed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PREFIX "/.sandbox/fs/"

static int is_one_of(const char *word, const char *const *words) {
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0) return 1;
    return 0;
}

static int is_table(const char *path) {
    static const char *const tables[] = {"/proc/mounts", "/proc/self/mounts", "/etc/mtab", NULL};
    static const char *const shows[] = {"findmnt", "df", "python3", NULL};
    if (path == NULL || getpid() == 1) return 0;
    if (is_one_of(path, tables)) return 1;
    return strcmp(path, "/proc/self/mountinfo") == 0 && is_one_of(program_invocation_short_name, shows);
}

static char *read_all(int fd, size_t *length) {
    size_t size = 0, room = 0;
    char *text = NULL;
    for (;;) {
        if (room - size < 65536) {
            char *more = realloc(text, room += 262144);
            if (more == NULL) break;
            text = more;
        }
        ssize_t got = read(fd, text + size, room - size - 1);
        if (got <= 0) break;
        size += (size_t)got;
    }
    if (text != NULL) text[size] = '\0';
    *length = size;
    return text;
}

static const struct { const char *from, *to; } words[] = {
    {" fuse.lustre ", " lustre "}, {" fuse.nfs4 ", " nfs4 "}, {PREFIX, ""}};

/* In place: what is put never is longer than what it replaces. */
static size_t translate(char *text) {
    char *out = text;
    for (const char *at = text; *at != '\0';) {
        size_t i = 0, count = sizeof words / sizeof *words;
        while (i < count && strncmp(at, words[i].from, strlen(words[i].from)) != 0) i++;
        if (i == count) {
            *out++ = *at++;
            continue;
        }
        memcpy(out, words[i].to, strlen(words[i].to));
        out += strlen(words[i].to);
        at += strlen(words[i].from);
    }
    return (size_t)(out - text);
}

static int translated(const char *path) {
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
    int fd = real(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fd;
    size_t length;
    char *text = read_all(fd, &length);
    close(fd);
    int copy = memfd_create("mounts", MFD_CLOEXEC);
    if (text != NULL && copy >= 0) {
        length = translate(text);
        if (write(copy, text, length) != (ssize_t)length) length = 0;
        lseek(copy, 0, SEEK_SET);
    }
    free(text);
    return copy;
}

#define OPENER(name)                                              \
    int name(const char *path, int flags, ...) {                  \
        if (is_table(path) && (flags & O_ACCMODE) == O_RDONLY)    \
            return translated(path);                              \
        va_list list;                                             \
        va_start(list, flags);                                    \
        mode_t mode = va_arg(list, mode_t);                       \
        va_end(list);                                             \
        int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, #name); \
        return real(path, flags, mode);                           \
    }

#define OPENER_AT(name)                                           \
    int name(int directory, const char *path, int flags, ...) {   \
        if (is_table(path) && (flags & O_ACCMODE) == O_RDONLY)    \
            return translated(path);                              \
        va_list list;                                             \
        va_start(list, flags);                                    \
        mode_t mode = va_arg(list, mode_t);                       \
        va_end(list);                                             \
        int (*real)(int, const char *, int, ...) = dlsym(RTLD_NEXT, #name); \
        return real(directory, path, flags, mode);                \
    }

#define FILE_OPENER(name)                                         \
    FILE *name(const char *path, const char *mode) {              \
        if (is_table(path) && mode != NULL && *mode == 'r') {     \
            int fd = translated(path);                            \
            return fd < 0 ? NULL : fdopen(fd, "r");               \
        }                                                         \
        FILE *(*real)(const char *, const char *) = dlsym(RTLD_NEXT, #name); \
        return real(path, mode);                                  \
    }

OPENER(open)
OPENER(open64)
OPENER_AT(openat)
OPENER_AT(openat64)
FILE_OPENER(fopen)
FILE_OPENER(fopen64)

int __open_2(const char *path, int flags) { return open(path, flags); }
int __open64_2(const char *path, int flags) { return open64(path, flags); }

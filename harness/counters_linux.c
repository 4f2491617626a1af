#include "harness/counters.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int list_threads(void *state, pid_t ids[KERF_COUNTED_THREADS]) {
    (void)state;
    DIR *const tasks = opendir("/proc/self/task");
    int n = 0;
    if (!tasks)
        return -errno;
    for (const struct dirent *entry; n < KERF_COUNTED_THREADS && (entry = readdir(tasks));)
        if (entry->d_name[0] != '.')
            ids[n++] = (pid_t)strtol(entry->d_name, NULL, 10);
    closedir(tasks);
    return n;
}

static int open_event(void *state, struct perf_event_attr *attr, pid_t thread, int group) {
    (void)state;
    const long file = syscall(SYS_perf_event_open, attr, thread, -1, group, (unsigned long)PERF_FLAG_FD_CLOEXEC);
    return file < 0 ? -errno : (int)file;
}

static int control(void *state, int group, unsigned long request) {
    (void)state;
    return ioctl(group, request, PERF_IOC_FLAG_GROUP) < 0 ? -errno : 0;
}

static ssize_t read_group(void *state, int group, void *data, size_t bytes) {
    (void)state;
    const ssize_t n = read(group, data, bytes);
    return n < 0 ? -errno : n;
}

static void close_event(void *state, int file) {
    (void)state;
    close(file);
}

static int paranoid(void *state) {
    (void)state;
    FILE *const file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    int level = INT_MIN;
    if (file) {
        if (fscanf(file, "%d", &level) != 1)
            level = INT_MIN;
        fclose(file);
    }
    return level;
}

kerf_counter_system kerf_counter_system_linux(void) {
    return (kerf_counter_system){.list_threads = list_threads,
                                 .open = open_event,
                                 .control = control,
                                 .read = read_group,
                                 .close = close_event,
                                 .paranoid = paranoid};
}

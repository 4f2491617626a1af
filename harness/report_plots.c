/* Runs reports/plot.py: data and drawings go through files without a name, so nothing can be left behind. */
#include "harness/report_page.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUT_S        60
#define MAX_DRAWN_BYTES  ((off_t)64 << 20)
#define NO_MATPLOTLIB    3 /* exit code of plot.py */
#define CANNOT_BE_RUN    127
#define HOW_TO_GET_PLOTS "install python3-matplotlib, or name a Python that has matplotlib in KERF_PYTHON"

extern char **environ;

/* Beside the program (as built), or where it is installed. */
static bool find_script(kerf_text *path) {
    char program[400];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    char *const slash = n > 0 ? memrchr(program, '/', (size_t)n) : NULL;
    if (!slash)
        return false;
    *slash = '\0';
    static const char *const places[] = {"plot.py", KERF_DATA_FROM_BIN "/plot.py"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
        *path = kerf_text_over(path->data, path->capacity);
        kerf_text_printf(path, "%s/%s", program, places[i]);
        if (!path->cut && access(path->data, R_OK) == 0)
            return true;
    }
    return false;
}

typedef struct drawing {
    const char *script;
    int in, out, err;
    const volatile sig_atomic_t *interrupted;
} drawing;

static pid_t start(const drawing *d, const char *python) {
    const pid_t child = fork();
    if (child != 0)
        return child;
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; ++i)
        signal(ending[i], SIG_DFL);
    setpgid(0, 0);
    if (dup2(d->in, STDIN_FILENO) < 0 || dup2(d->out, STDOUT_FILENO) < 0 || dup2(d->err, STDERR_FILENO) < 0)
        _exit(CANNOT_BE_RUN);
    execl(python, python, d->script, (char *)NULL);
    _exit(CANNOT_BE_RUN);
}

/* The exit code, -1 if it was ended for its time, -2 by a signal. The child has a group of its own, all of which ends.
 */
static int wait_for(pid_t child, const volatile sig_atomic_t *interrupted) {
    int status = 0;
    bool late = true;
    for (int ms = 0; ms < TIMEOUT_S * 1000 && !*interrupted; ms += 10) {
        if (waitpid(child, &status, WNOHANG) != 0) {
            late = false;
            break;
        }
        poll(NULL, 0, 10);
    }
    kill(-child, SIGKILL);
    if (late) {
        kill(child, SIGKILL); /* it may not have its group yet */
        waitpid(child, &status, 0);
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

static int run(const drawing *d, const char *python) {
    if (lseek(d->in, 0, SEEK_SET) != 0 || ftruncate(d->out, 0) != 0 || lseek(d->out, 0, SEEK_SET) != 0 ||
        ftruncate(d->err, 0) != 0 || lseek(d->err, 0, SEEK_SET) != 0)
        return CANNOT_BE_RUN;
    const pid_t child = start(d, python);
    return child < 0 ? CANNOT_BE_RUN : wait_for(child, d->interrupted);
}

/* /usr/bin/python3, else the first python3 of PATH that has matplotlib; KERF_PYTHON is the only one where it is set. */
static int run_first(const drawing *d) {
    const char *const chosen = getenv("KERF_PYTHON");
    if (chosen && chosen[0])
        return run(d, chosen);
    int code = access("/usr/bin/python3", X_OK) == 0 ? run(d, "/usr/bin/python3") : CANNOT_BE_RUN;
    const char *path = getenv("PATH");
    while (path && *path && (code == NO_MATPLOTLIB || code == CANNOT_BE_RUN) && !*d->interrupted) {
        const size_t n = strcspn(path, ":");
        char python[512];
        const int length = snprintf(python, sizeof python, "%.*s/python3", (int)n, path);
        path += n + (path[n] == ':');
        if (n > 0 && length > 0 && (size_t)length < sizeof python && access(python, X_OK) == 0)
            code = run(d, python);
    }
    return code;
}

static const char *read_all(int file, kerf_arena *arena, size_t *n_bytes) {
    struct stat status;
    if (fstat(file, &status) != 0 || status.st_size > MAX_DRAWN_BYTES)
        return NULL;
    *n_bytes = (size_t)status.st_size;
    char *const text = kerf_arena_alloc(arena, *n_bytes + 1, 1);
    if (!text || pread(file, text, *n_bytes, 0) != (ssize_t)*n_bytes)
        return NULL;
    text[*n_bytes] = '\0';
    return text;
}

/* The last line that it wrote on standard error, as far as it is plain. */
static const char *failure(const drawing *d, kerf_arena *arena, int code) {
    size_t n = 0;
    const char *const said = read_all(d->err, arena, &n);
    while (said && n > 0 && said[n - 1] == '\n')
        --n;
    const char *const newline = said && n > 0 ? memrchr(said, '\n', n) : NULL;
    const char *const line = newline ? newline + 1 : said;
    const int length = line ? (int)(said + n - line) : 0;
    char words[400];
    if (code == -1)
        snprintf(words, sizeof words, "plot.py did not end within %d s", TIMEOUT_S);
    else if (length == 0)
        snprintf(words, sizeof words, "plot.py failed and said nothing (exit code %d)", code);
    else
        snprintf(words, sizeof words, "plot.py failed: %.*s", length < 200 ? length : 200, line ? line : "");
    for (char *c = words; *c; ++c)
        *c = *c >= 0x20 && *c < 0x7f ? *c : '?';
    return kerf_arena_copy_text(arena, words);
}

kerf_status kerf_plots_draw(const char *data, size_t n_bytes, kerf_arena *arena,
                            const volatile sig_atomic_t *interrupted, const char **drawn, size_t *n_drawn,
                            const char **missing, kerf_error *error) {
    char memory[512];
    kerf_text script = kerf_text_over(memory, sizeof memory);
    *missing = NULL;
    if (!find_script(&script)) {
        *missing = "plot.py is neither beside bench nor where it was installed; install Kerf again";
        return KERF_OK;
    }
    drawing d = {.script = memory,
                 .in = memfd_create("data", MFD_CLOEXEC),
                 .out = memfd_create("drawn", MFD_CLOEXEC),
                 .err = memfd_create("said", MFD_CLOEXEC),
                 .interrupted = interrupted};
    int code = CANNOT_BE_RUN;
    if (d.in >= 0 && d.out >= 0 && d.err >= 0 && write(d.in, data, n_bytes) == (ssize_t)n_bytes)
        code = run_first(&d);
    *drawn = code == 0 ? read_all(d.out, arena, n_drawn) : NULL;
    if (code == NO_MATPLOTLIB || code == CANNOT_BE_RUN)
        *missing = "no Python with matplotlib was found; " HOW_TO_GET_PLOTS;
    else if (!*drawn)
        *missing = failure(&d, arena, code);
    const int files[] = {d.in, d.out, d.err};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i)
        if (files[i] >= 0)
            close(files[i]);
    return *interrupted ? kerf_fail(error, KERF_ERROR_INTERRUPTED, "interrupted") : KERF_OK;
}

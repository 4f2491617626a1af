#include "harness/annotate_code.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- addresses in memory to addresses in files --------------------------------------------------------------------
 */

typedef struct locating {
    kerf_arena *arena;
    kerf_code_points *points;
    bool no_memory;
} locating;

static const char *file_of(const struct dl_phdr_info *object, kerf_arena *arena) {
    char path[4096];
    if (object->dlpi_name[0])
        return kerf_arena_copy_text(arena, object->dlpi_name);
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return kerf_arena_copy_text(arena, path);
}

static int locate_in(struct dl_phdr_info *object, size_t bytes, void *arg) {
    (void)bytes;
    locating *const l = arg;
    const char *file = NULL;
    for (int h = 0; h < object->dlpi_phnum; ++h) {
        const ElfW(Phdr) *const segment = &object->dlpi_phdr[h];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        for (int i = 0; i < l->points->n; ++i) {
            kerf_code_point *const point = &l->points->at[i];
            if (point->file || point->address - object->dlpi_addr - segment->p_vaddr >= segment->p_memsz)
                continue;
            file = file ? file : file_of(object, l->arena);
            l->no_memory = l->no_memory || !file;
            point->file = file;
            point->address -= object->dlpi_addr;
        }
    }
    return l->no_memory;
}

static int by_place(const void *a, const void *b) {
    const kerf_code_point *const left = a, *const right = b;
    if (left->file != right->file)
        return !left->file ? 1 : !right->file ? -1 : strcmp(left->file, right->file);
    return (left->address > right->address) - (left->address < right->address);
}

kerf_status kerf_code_locate(const kerf_histogram *histogram, kerf_arena *arena, kerf_code_points *points,
                             kerf_error *error) {
    *points = (kerf_code_points){.at = KERF_ARENA_NEW(arena, kerf_code_point, KERF_HISTOGRAM_SLOTS)};
    locating l = {.arena = arena, .points = points, .no_memory = !points->at};
    for (size_t i = 0; i < KERF_HISTOGRAM_SLOTS && !l.no_memory; ++i)
        if (histogram->slot[i].count > 0)
            points->at[points->n++] =
                (kerf_code_point){.address = histogram->slot[i].address, .count = histogram->slot[i].count};
    if (!l.no_memory)
        dl_iterate_phdr(locate_in, &l);
    if (l.no_memory)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the samples");
    qsort(points->at, (size_t)points->n, sizeof *points->at, by_place);
    return KERF_OK;
}

/* Sums what lies in [begin, end) of the file. */
static uint64_t count_between(const kerf_code_points *points, const char *file, uint64_t begin, uint64_t end) {
    const kerf_code_point key = {.file = file, .address = begin};
    int low = 0, high = points->n;
    uint64_t count = 0;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (by_place(&points->at[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < points->n && points->at[low].file == file && points->at[low].address < end; ++low)
        count += points->at[low].count;
    return count;
}

/* ---- objdump ------------------------------------------------------------------------------------------------------
 */

static kerf_status cannot_run(int failure, kerf_error *error) {
    if (failure == ENOENT)
        return kerf_fail(error, KERF_ERROR_FILE,
                         "objdump is not on PATH; it comes with binutils (apt-get install binutils)");
    return kerf_fail(error, KERF_ERROR_FILE, "cannot run objdump: %s", strerror(failure));
}

/* Hands each line of its output to take(), which says whether it wants more. *failed: it ended by itself, but not well;
 * 0 if it did. */
static kerf_status run_objdump(const char *const *arguments, bool (*take)(void *arg, const char *line), void *arg,
                               int *failed, kerf_error *error) {
    int ends[2], wait_status = 0;
    pid_t child;
    posix_spawn_file_actions_t files;
    if (pipe(ends) != 0)
        return kerf_fail(error, KERF_ERROR_FILE, "cannot make a pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&files, ends[0]);
    posix_spawn_file_actions_addclose(&files, ends[1]);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const int failure = posix_spawnp(&child, "objdump", &files, NULL, (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    FILE *const output = failure ? NULL : fdopen(ends[0], "r");
    if (!output)
        close(ends[0]);
    if (failure)
        return cannot_run(failure, error);
    char *line = NULL;
    size_t capacity = 0;
    bool wanted = true;
    while (output && wanted && getline(&line, &capacity, output) >= 0)
        wanted = take(arg, line);
    free(line);
    if (output)
        fclose(output); /* what is not wanted any more ends objdump with SIGPIPE */
    while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR)
        ;
    *failed = wanted ? wait_status : 0;
    return KERF_OK;
}

static kerf_status tell_failed(int wait_status, const char *arguments, kerf_error *error) {
    return kerf_fail(error, KERF_ERROR_FILE, "objdump %.300s failed (%s %d); run it by hand to see why", arguments,
                     WIFSIGNALED(wait_status) ? "signal" : "exit code",
                     WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status));
}

static bool take_none(void *arg, const char *line) {
    (void)arg, (void)line;
    return true;
}

kerf_status kerf_code_check(kerf_error *error) {
    static const char *const arguments[] = {"objdump", "--version", NULL};
    int failed = 0;
    KERF_TRY(run_objdump(arguments, take_none, NULL, &failed, error));
    return failed ? tell_failed(failed, "--version", error) : KERF_OK;
}

static void copy_printable(char *to, size_t bytes, const char *from, size_t length) {
    size_t n = 0;
    for (; n + 1 < bytes && n < length; ++n)
        to[n] = (unsigned char)from[n] >= 0x20 && from[n] != 0x7f ? from[n] : from[n] == '\t' ? ' ' : '?';
    to[n] = '\0';
}

/* ---- functions ----------------------------------------------------------------------------------------------------
 */

/* "0000000000012340 l     F .text\t00000000000001f4              name": seven columns of flags, F a function. */
bool kerf_code_parse_symbol(const char *line, kerf_code_function *function) {
    char *end;
    *function = (kerf_code_function){.begin = strtoull(line, &end, 16)};
    if (end == line || *end != ' ' || strnlen(end, 9) < 9 || !memchr(end + 1, 'F', 7))
        return false;
    const char *const tab = strchr(end, '\t');
    if (!tab)
        return false;
    const char *const size_text = tab + 1;
    const uint64_t size = strtoull(size_text, &end, 16);
    if (end == size_text || size == 0 || __builtin_add_overflow(function->begin, size, &function->end))
        return false;
    end += strspn(end, " ");
    const size_t length = strcspn(end, "\n");
    copy_printable(function->name, sizeof function->name, end, length);
    return length > 0;
}

typedef struct finding {
    const kerf_code_points *points;
    const char *file;
    kerf_code_function *functions;
    int n;
} finding;

static bool take_symbol(void *arg, const char *line) {
    finding *const f = arg;
    kerf_code_function function;
    if (!kerf_code_parse_symbol(line, &function))
        return true;
    function.file = f->file;
    function.count = count_between(f->points, f->file, function.begin, function.end);
    if (function.count == 0)
        return true;
    for (int i = 0; i < f->n; ++i) /* another name of the same code */
        if (f->functions[i].file == f->file && f->functions[i].begin < function.end &&
            function.begin < f->functions[i].end)
            return true;
    f->functions[f->n++] = function;
    return f->n < KERF_CODE_FUNCTIONS - 1;
}

static int by_count(const void *a, const void *b) {
    const kerf_code_function *const left = a, *const right = b;
    return (left->count < right->count) - (left->count > right->count);
}

/* Files without a symbol table may have that of the dynamic linker. */
static kerf_status find_in_file(finding *f, kerf_error *error) {
    static const char *const tables[] = {"-t", "-T"};
    const uint64_t all = count_between(f->points, f->file, 0, UINT64_MAX);
    const int first = f->n;
    uint64_t found = 0;
    int failed[2] = {0, 0};
    for (int table = 0; table < 2 && f->file && f->n == first; ++table) {
        const char *const arguments[] = {"objdump", tables[table], "-w", "--", f->file, NULL};
        KERF_TRY(run_objdump(arguments, take_symbol, f, &failed[table], error));
    }
    /* Code that lies in no file, such as the vdso, has no table. */
    if (failed[0] && failed[1] && f->n == first && access(f->file, R_OK) == 0) {
        char asked[320];
        snprintf(asked, sizeof asked, "-t %s", f->file);
        return tell_failed(failed[0], asked, error);
    }
    for (int i = first; i < f->n; ++i)
        found += f->functions[i].count;
    if (all <= found || f->n == KERF_CODE_FUNCTIONS)
        return KERF_OK;
    f->functions[f->n++] =
        (kerf_code_function){.file = f->file ? f->file : "(no file)", .count = all - found, .name = "(no symbol)"};
    return KERF_OK;
}

kerf_status kerf_code_functions(const kerf_code_points *points, kerf_code_function *functions, int *n,
                                kerf_error *error) {
    finding f = {.points = points, .functions = functions};
    for (int i = 0; i < points->n; ++i) {
        if (i > 0 && points->at[i].file == points->at[i - 1].file)
            continue;
        f.file = points->at[i].file;
        KERF_TRY(find_in_file(&f, error));
    }
    qsort(functions, (size_t)f.n, sizeof *functions, by_count);
    *n = f.n;
    return KERF_OK;
}

/* ---- instructions -------------------------------------------------------------------------------------------------
 */

/* Jumps begin with j on x86-64 and with b, cb or tb on AArch64; the target is the first number behind the name that
 * stands before "<". */
static uint64_t target_of(const char *text) {
    const bool jumps = text[0] == 'j' || text[0] == 'b' || strncmp(text, "cb", 2) == 0 || strncmp(text, "tb", 2) == 0;
    const char *const place = strchr(text, '<');
    if (!jumps || !place || place == text)
        return 0;
    const char *number = place - 1;
    while (number > text && *number == ' ')
        --number;
    while (number > text && isxdigit((unsigned char)number[-1]))
        --number;
    return strtoull(number, NULL, 16);
}

/* "  40a1b0:\tvfmadd231ps (%rax),%ymm0,%ymm1" */
bool kerf_code_parse_line(const char *text, kerf_code_line *line) {
    char *end;
    *line = (kerf_code_line){.address = strtoull(text, &end, 16)};
    if (end == text || *end != ':' || (end[1] != '\t' && end[1] != ' '))
        return false;
    end += 1 + strspn(end + 1, " \t");
    const size_t length = strcspn(end, "\n");
    copy_printable(line->text, sizeof line->text, end, length);
    line->target = target_of(line->text);
    return length > 0;
}

typedef struct reading {
    kerf_code_line *lines;
    int n;
} reading;

static bool take_instruction(void *arg, const char *text) {
    reading *const r = arg;
    if (kerf_code_parse_line(text, &r->lines[r->n]))
        ++r->n;
    return r->n < KERF_CODE_LINES;
}

kerf_status kerf_code_lines(const kerf_code_function *function, const kerf_code_points *points, kerf_code_line *lines,
                            int *n, kerf_error *error) {
    char begin[48], end[48];
    reading r = {.lines = lines};
    snprintf(begin, sizeof begin, "--start-address=0x%" PRIx64, function->begin);
    snprintf(end, sizeof end, "--stop-address=0x%" PRIx64, function->end);
    const char *const arguments[] = {"objdump", "-d", "--no-show-raw-insn", "-w", begin,
                                     end,       "--", function->file,       NULL};
    int failed = 0;
    KERF_TRY(run_objdump(arguments, take_instruction, &r, &failed, error));
    if (failed) {
        char asked[320];
        snprintf(asked, sizeof asked, "-d %s", function->file);
        return tell_failed(failed, asked, error);
    }
    for (int i = 0; i < r.n; ++i)
        lines[i].count =
            count_between(points, function->file, lines[i].address, i + 1 < r.n ? lines[i + 1].address : function->end);
    *n = r.n;
    return KERF_OK;
}

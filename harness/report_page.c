#include "harness/report_page.h"

#include "harness/limits_file.h"
#include "reports/digest.h"
#include "reports/reports.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#if KERF_HAVE_JANSSON
#include <jansson.h>
#endif

#define PAGE       "index.html"
#define PART       ".index.html.part" /* the page while it is written; the lock makes it ours */
#define DATA_BYTES ((size_t)1 << 26)

static bool is_our_page(int folder) {
    static const char start[] = KERF_PAGE_START;
    char first[sizeof start - 1];
    const int file = openat(folder, PAGE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const ssize_t n = file >= 0 ? read(file, first, sizeof first) : -1;
    if (file >= 0)
        close(file);
    return n == (ssize_t)sizeof first && memcmp(first, start, sizeof first) == 0;
}

static kerf_status check_content(const kerf_page_folder *folder, kerf_error *error) {
    DIR *const content = fdopendir(openat(folder->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!content)
        return kerf_fail(error, KERF_ERROR_FILE, "--html '%.200s' cannot be read: %s", folder->path, strerror(errno));
    kerf_status status = KERF_OK;
    for (const struct dirent *entry; status == KERF_OK && (entry = readdir(content));) {
        const char *const name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, PART) == 0 ||
            (strcmp(name, PAGE) == 0 && is_our_page(folder->folder)))
            continue;
        status = kerf_fail(error, KERF_ERROR_FILE,
                           "--html '%.160s' holds '%.80s', which bench report did not write; name another folder, or "
                           "move the file away",
                           folder->path, name);
    }
    closedir(content);
    return status;
}

kerf_status kerf_page_folder_open(kerf_page_folder *folder, const char *path, kerf_error *error) {
    *folder = (kerf_page_folder){.path = path, .folder = -1};
    if (!path[0])
        return kerf_fail(error, KERF_ERROR_USAGE, "--html '': expected a folder, such as --html out");
    folder->made = mkdir(path, 0777) == 0;
    if (!folder->made && errno != EEXIST)
        return kerf_fail(error, KERF_ERROR_FILE,
                         "--html '%.200s' cannot be made: %s; name a folder that can be written", path,
                         strerror(errno));
    folder->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->folder < 0)
        return kerf_fail(error, KERF_ERROR_FILE, "--html '%.200s' is no folder that can be read: %s", path,
                         strerror(errno));
    if (flock(folder->folder, LOCK_EX | LOCK_NB) != 0)
        return kerf_fail(error, KERF_ERROR_FILE, "--html '%.200s': another bench report writes there; wait for it",
                         path);
    if (faccessat(folder->folder, ".", W_OK | X_OK, AT_EACCESS) != 0)
        return kerf_fail(error, KERF_ERROR_FILE, "--html '%.200s' cannot be written: %s; name another folder", path,
                         strerror(errno));
    return check_content(folder, error);
}

void kerf_page_folder_close(kerf_page_folder *folder) {
    if (folder->folder < 0)
        return;
    unlinkat(folder->folder, PART, 0);
    if (folder->made)
        rmdir(folder->path); /* fails, as it should, where the page is */
    close(folder->folder);
    folder->folder = -1;
}

/* The limits of the machine that a run was made on, with as many threads as it used or the next lower number. */
static kerf_ceilings ceilings_of(const kerf_record *run) {
    static kerf_kept_limits kept;
    kerf_ceilings ceilings = {0};
    if (!run)
        return ceilings;
    kerf_machine machine = {.processors = run->environment->processors};
    char path[512];
    kerf_text text = kerf_text_over(path, sizeof path);
    bool found = false;
    snprintf(machine.cpu, sizeof machine.cpu, "%s", run->environment->cpu);
    snprintf(machine.isa, sizeof machine.isa, "%s", run->environment->isa);
    if (!kerf_limits_path(&machine, &text) || kerf_limits_read(path, &machine, &found, &kept, NULL) != KERF_OK ||
        !found)
        return ceilings;
    const kerf_limit_team *team = &kept.limits.team[0];
    for (int t = 1; t < kept.limits.n_teams && kept.limits.team[t].threads <= run->threads; ++t)
        team = &kept.limits.team[t];
    kerf_limit_level level[KERF_LIMIT_KNEES + 1];
    const int n = kerf_limit_levels(team, level);
    for (int i = 0; i < n && ceilings.n_levels < 8; ++i) {
        double best = 0;
        for (int p = level[i].first; p <= level[i].last; ++p)
            best = fmax(
                best, fmax(team->point[p].read.middle, fmax(team->point[p].write.middle, team->point[p].copy.middle)));
        ceilings.level[ceilings.n_levels].bytes = (double)team->point[level[i].last].bytes;
        ceilings.level[ceilings.n_levels++].gb_per_s = best;
    }
    ceilings.threads = team->threads;
    ceilings.f32_gflop_per_s = team->f32.middle;
    ceilings.f64_gflop_per_s = team->f64.middle;
    memcpy(ceilings.utc, kept.utc, sizeof ceilings.utc);
    return ceilings;
}

/* What plot.py says of each figure. Its drawings end up in the page as they are: anything but one <svg> is refused. */
static void take_drawings(const char *drawn, size_t n_bytes, kerf_arena *arena, kerf_figure *figure, int n) {
#if KERF_HAVE_JANSSON
    json_t *const object = json_loadb(drawn, n_bytes, 0, NULL);
    const json_t *const figures = json_object_get(object, "figures");
    for (int i = 0; i < n; ++i) {
        const json_t *const one = json_array_get(figures, (size_t)i);
        const char *const svg = json_string_value(json_object_get(one, "svg"));
        const char *const missing = json_string_value(json_object_get(one, "missing"));
        if (svg && strncmp(svg, "<svg ", 5) == 0 && !strcasestr(svg, "<script"))
            figure[i].svg = kerf_arena_copy_text(arena, svg);
        figure[i].missing = missing ? kerf_arena_copy_text(arena, missing) : "plot.py gave no drawing";
    }
    json_decref(object);
#else
    (void)drawn, (void)n_bytes, (void)arena, (void)figure, (void)n;
#endif
}

static kerf_status draw_all(const kerf_records *records, kerf_arena *arena, const volatile sig_atomic_t *interrupted,
                            kerf_page *page, kerf_error *error) {
    kerf_figure *const figure = KERF_ARENA_NEW(arena, kerf_figure, KERF_MAX_FIGURES);
    kerf_ceilings *const ceilings = KERF_ARENA_NEW(arena, kerf_ceilings, records->n);
    char *const memory = kerf_arena_alloc(arena, DATA_BYTES, 1);
    if (!figure || !ceilings || !memory)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the figures");
    kerf_records run;
    int at = 0;
    for (int r = 0; kerf_digest_next_run(records, &at, &run); ++r)
        ceilings[r] = ceilings_of(kerf_digest_first(&run, KERF_RECORD_RUN));
    kerf_text text = kerf_text_over(memory, DATA_BYTES);
    kerf_json json = kerf_json_over(&text);
    page->n_figures = kerf_plot_data(records, ceilings, &json, figure);
    page->figure = figure;
    if (page->n_figures == 0)
        return KERF_OK;
    if (text.cut) {
        page->no_plots = "there are too many records to draw";
        return KERF_OK;
    }
    const char *drawn = NULL;
    size_t n_drawn = 0;
    KERF_TRY(kerf_plots_draw(memory, text.length, arena, interrupted, &drawn, &n_drawn, &page->no_plots, error));
    if (!page->no_plots)
        take_drawings(drawn, n_drawn, arena, figure, page->n_figures);
    return KERF_OK;
}

kerf_status kerf_page_write(kerf_page_folder *folder, const kerf_records *records, kerf_arena *arena,
                            const volatile sig_atomic_t *interrupted, kerf_error *error) {
    kerf_page page = {0};
    KERF_TRY(draw_all(records, arena, interrupted, &page, error));
    const int descriptor = openat(folder->folder, PART, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    FILE *const file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (!file)
        return kerf_fail(error, KERF_ERROR_FILE, "--html '%.200s' cannot be written: %s", folder->path,
                         strerror(errno));
    kerf_report_html(records, &page, file);
    const bool written = fflush(file) == 0 && !ferror(file);
    if (fclose(file) != 0 || !written)
        return kerf_fail(error, KERF_ERROR_FILE, "--html '%.200s' cannot be written: %s", folder->path,
                         strerror(errno));
    if (*interrupted)
        return kerf_fail(error, KERF_ERROR_INTERRUPTED, "interrupted");
    if (renameat(folder->folder, PART, folder->folder, PAGE) != 0)
        return kerf_fail(error, KERF_ERROR_FILE, "--html '%.200s' cannot be written: %s", folder->path,
                         strerror(errno));
    return KERF_OK;
}

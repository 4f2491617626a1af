/* The folder of a report page, and the drawing program. */
#ifndef KERF_HARNESS_REPORT_PAGE_H
#define KERF_HARNESS_REPORT_PAGE_H

#include "base/arena.h"
#include "harness/record.h"
#include <signal.h>

/* A folder that holds nothing but a page of ours, or will. */
typedef struct kerf_page_folder {
    const char *path;
    int folder; /* locked against another bench report */
    bool made;  /* by this program */
} kerf_page_folder;

/* Makes the folder if it is not there. KERF_ERROR_FILE: it cannot be written, holds foreign files (which are named), or
 * another bench report writes there. */
kerf_status kerf_page_folder_open(kerf_page_folder *folder, const char *path, kerf_error *error);
/* Writes the page and puts it in the place of the old one as a whole, or leaves everything as it was. `draw` may be
 * NULL: then what it would tell is in the page as missing. */
kerf_status kerf_page_write(kerf_page_folder *folder, const kerf_records *records, kerf_arena *arena,
                            const volatile sig_atomic_t *interrupted, kerf_error *error);
/* Also after an error: a folder that this program made and did not fill is removed. */
void kerf_page_folder_close(kerf_page_folder *folder);

/* Runs plot.py with `data` and gives what it wrote: in *drawn, or in *missing why there is nothing, in words and with
 * what to do. Both lie in the arena. KERF_ERROR_INTERRUPTED. */
kerf_status kerf_plots_draw(const char *data, size_t n_bytes, kerf_arena *arena,
                            const volatile sig_atomic_t *interrupted, const char **drawn, size_t *n_drawn,
                            const char **missing, kerf_error *error);

#endif

/* The command line, parsed. Texts point into argv. */
#ifndef KERF_HARNESS_OPTIONS_H
#define KERF_HARNESS_OPTIONS_H

#include "base/status.h"
#include "harness/casegen.h"

#define KERF_MAX_REPEATS 16
#define KERF_MAX_FILES   64

typedef enum kerf_command {
    KERF_COMMAND_RUN, /* verify, then time what passed */
    KERF_COMMAND_LIST,
    KERF_COMMAND_VERIFY,
    KERF_COMMAND_TIME,
    KERF_COMMAND_TUNE,
    KERF_COMMAND_DOCTOR,
    KERF_COMMAND_ANNOTATE,
    KERF_COMMAND_REPORT,        /* reports from files of records */
    KERF_COMMAND_TIME_WORKER,   /* the process that kerf_time_cells starts */
    KERF_COMMAND_DOCTOR_WORKER, /* the process that kerf_doctor_re_execute starts */
    KERF_COMMAND_HELP,
    KERF_COMMAND_VERSION
} kerf_command;

typedef enum kerf_format { KERF_FORMAT_TABLE, KERF_FORMAT_JSON, KERF_FORMAT_CSV, KERF_N_FORMATS } kerf_format;

typedef struct kerf_output {
    kerf_format format;
    const char *path; /* NULL: standard output */
} kerf_output;

typedef struct kerf_options {
    kerf_command command;
    const char *help_on; /* HELP: the command asked about, or NULL */
    const char *op;
    const char *variants;  /* comma-separated, NULL: all */
    const char *sets;      /* comma-separated, NULL: the command's own */
    const char *case_line; /* instead of the sets */
    const char *cases_file;
    kerf_case_filter filter;
    const char *attr[KERF_MAX_REPEATS + 1];
    const char *sweep[KERF_MAX_REPEATS + 1]; /* "C=1..256x2": sizes instead of those of the case, see sweep.h */
    const char *plugin[KERF_MAX_REPEATS + 1];
    kerf_output output[KERF_MAX_REPEATS];
    int n_outputs;
    kerf_expansion edge_expansion; /* --thorough: all */
    int threads;                   /* 0: as many as processors */
    double time_budget_s;          /* always set; its default is the command's */
    double timeout_s;
    uint64_t order_seed;
    double seconds;                               /* ANNOTATE: that the row is run for */
    const char *param[KERF_MAX_REPEATS + 1];      /* TUNE: "name=value,value" */
    const char *constraint[KERF_MAX_REPEATS + 1]; /* TUNE */
    const char *search, *resume;                  /* TUNE; NULL: not given */
    int64_t evaluations;                          /* TUNE: configurations on one case at most */
    bool cold;                                    /* TUNE: for cold caches instead of hot ones */
    bool split, counters;                         /* asked about timed rows, see timing_extra.h */
    bool quiet, verbose;
    bool quick;                       /* DOCTOR: the short form */
    const char *file[KERF_MAX_FILES]; /* REPORT */
    int n_files;
    const char *html;     /* REPORT: folder of the page, or NULL */
    int n_host_arguments; /* what stood behind `--` */
    char **host_argument;
} kerf_options;

kerf_status kerf_options_parse(int argc, char **argv, kerf_options *options, kerf_error *error);
/* Text of `bench --help` and `bench COMMAND --help`. */
const char *kerf_options_help(const char *command);

#endif

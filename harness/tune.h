/* What the parts of `bench tune` share: one case while it is tuned. Everything lives in the run's arena until the case
 * is done; texts of records in the sink's. */
#ifndef KERF_HARNESS_TUNE_H
#define KERF_HARNESS_TUNE_H

#include "harness/pipeline.h"
#include "harness/search.h"
#include "harness/stage_time.h"
#include "harness/stats.h"
#include "harness/timing_figures.h"

/* One configuration, as far as it got. */
typedef struct kerf_candidate {
    int64_t number; /* in the space; -1: the default configuration where the space lacks it */
    int row;        /* of the run */
    int threads;
    kerf_config config;
    const char *text; /* "threads=2,channel_block=16" */
    int64_t step;
    kerf_finding finding;
    kerf_outcome outcome; /* cost: its time / that of the default, timed in the same rounds */
    double time_ns;       /* 0: none */
    bool is_taken_over;
    bool is_doubted; /* since it was verified: its finding says nothing of other threads */
    const kerf_timing_cell
        *implausible;           /* faster than the machine allows, in the search: its samples, NULL: it is not */
    const kerf_held_cell *held; /* and why */
} kerf_candidate;

typedef struct kerf_tuning {
    kerf_run *run;
    const kerf_progress *clock; /* of the stage */
    const char *set, *case_text;
    const kerf_case *c;
    kerf_cache_mode mode;
    kerf_work work; /* known once the default is verified */
    int n_parts;    /* rows that can be tuned, in the run's order */
    kerf_space_part *parts;
    int *row_of_part;
    kerf_search_space space;
    kerf_candidate *tried; /* in order of steps */
    int n_tried, capacity;
    int standard; /* the default: one of `tried`, -1 before it is known */
    double standard_ns;
    int n_failures_shown;
} kerf_tuning;

/* What constraints may name beside parameters; NULL without memory. */
const kerf_symbol *kerf_space_symbols(const kerf_case *c, const kerf_row *row, kerf_arena *arena);

/* Opens what is said of the case: its parts and its space. Usage errors name the case. */
kerf_status kerf_tuning_open(kerf_run *run, const char *set, const kerf_case *c, kerf_tuning *tuning,
                             kerf_error *error);
/* A configuration of the space, or the default of a part, as the next one that is tried. */
kerf_status kerf_tuning_add(kerf_tuning *tuning, int64_t number, kerf_candidate **candidate, kerf_error *error);
kerf_status kerf_tuning_add_standard(kerf_tuning *tuning, int part, kerf_candidate **candidate, kerf_error *error);

/* Fills in the findings of these; the same settings with other threads are verified once, as teams of all sizes are
 * tried. */
kerf_status kerf_tuning_verify(kerf_tuning *tuning, kerf_candidate *const batch[], int n, kerf_error *error);
/* Times those of the batch that passed side by side with the default, in one process, holds them against the limits,
 * and fills in their outcomes. Where the default is implausible, none has a time. */
kerf_status kerf_tuning_time(kerf_tuning *tuning, kerf_candidate *const batch[], int n, double budget_s,
                             kerf_error *error);
/* The fastest ones and the default in six processes, then what seems faster than the default alone with it in six new
 * ones; records all, and which one is the result. */
kerf_status kerf_tuning_decide(kerf_tuning *tuning, double budget_s, kerf_error *error);

/* Which of n configurations is the fastest that is surely faster than the default, -1: not known. ratio[i] is time of
 * the default / time of configuration i, paired (middle 0: not known); 0 is the default itself, the answer where there
 * is no other. */
int kerf_tune_choose(const double time_ns[], const kerf_interval ratio[], int n);

/* The cell that times the candidate; what the worker found wrong with it goes into its finding. */
kerf_timing_cell kerf_tuning_cell(const kerf_tuning *tuning, const kerf_candidate *candidate);
void kerf_tuning_take_fault(kerf_tuning *tuning, const kerf_timing_cell *cell, kerf_finding *finding);

/* Records a step of the search, and shows what was wrong. */
kerf_status kerf_tuning_record_step(kerf_tuning *tuning, kerf_candidate *candidate, kerf_error *error);
/* A record with what all have in common, to be completed. */
kerf_status kerf_tuning_record_of(kerf_tuning *tuning, const kerf_candidate *candidate, kerf_tune_phase phase,
                                  kerf_recorded_tune **tune, kerf_record *record, kerf_error *error);
/* Adds times, samples and limit of a timed configuration; the verdict of one that is implausible. */
kerf_status kerf_tuning_record_times(kerf_tuning *tuning, const kerf_timing_cell *cell, const kerf_held_cell *held,
                                     const kerf_timing_figures *figures, kerf_record *record, kerf_error *error);
kerf_timed_case kerf_tuning_timed_case(const kerf_tuning *tuning);
/* The command that tunes over this one configuration, in the sink's arena. */
const char *kerf_tuning_repeat(const kerf_tuning *tuning, const kerf_record *record);
/* Counts the record's verdict; of what is wrong, names output and repeat command in it and shows it. */
void kerf_tuning_judge(kerf_tuning *tuning, kerf_record *record);

/* Reads the file of --resume into run->earlier. KERF_ERROR_USAGE: it is of another machine or build. */
kerf_status kerf_tune_read_earlier(kerf_run *run, kerf_error *error);
/* Adds what an earlier run found out about this case, and tells the search of it. The default has been added. */
kerf_status kerf_tuning_take_over(kerf_tuning *tuning, const kerf_search *search, void *state, kerf_error *error);

#endif

#include "base/cpu.h"
#include "harness/annotate.h"
#include "harness/casegen_pattern.h"
#include "harness/doctor.h"
#include "harness/list.h"
#include "harness/pipeline.h"
#include "harness/plugin.h"
#include "harness/report.h"
#include "harness/timing.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifndef KERF_VERSION
#define KERF_VERSION "0"
#endif

static volatile sig_atomic_t interrupted; /* the signal */

static void on_interrupt(int signal_number) {
    static volatile time_t first;
    if (!interrupted) {
        interrupted = signal_number;
        first = time(NULL);
    } else if (time(NULL) - first > 1) {
        /* Again, and not the same one told to the process and to its group (timeout does both). */
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
}

/* The first of these ends the run with its records kept, one that comes later ends it at once. A reader that goes away
 * or a full disk is an error of a write, not the end of the process. Children reset all of it. */
static void catch_signals(void) {
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = on_interrupt};
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; ++i) {
        struct sigaction before;
        /* Who started us with the signal ignored (nohup, a background job) meant it. */
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/* A file that is opened while standard output is closed would become standard output. */
static void fill_standard_files(void) {
    int file;
    do
        file = open("/dev/null", O_RDWR);
    while (file >= 0 && file <= STDERR_FILENO);
    if (file >= 0)
        close(file);
}

static int end_of_output(int exit_code) {
    if (exit_code != 0 || (fflush(stdout) == 0 && !ferror(stdout)))
        return exit_code;
    fputs("bench: cannot write to standard output\n", stderr);
    return 1;
}

static int end_with(kerf_command command, kerf_status status, const kerf_error *error) {
    if (status == KERF_OK)
        return 0;
    if (status == KERF_ERROR_INTERRUPTED) {
        const bool has_records =
            command != KERF_COMMAND_DOCTOR && command != KERF_COMMAND_REPORT && command != KERF_COMMAND_ANNOTATE;
        fprintf(stderr, "bench: interrupted%s\n", has_records ? "; the records so far are kept" : "");
        return 128 + interrupted;
    }
    fprintf(stderr, "bench: %s\n", error->message);
    return status == KERF_ERROR_USAGE ? 2 : 1;
}

static kerf_status run_command(const kerf_options *options, int argc, char **argv, int *exit_code, kerf_error *error) {
    kerf_arena arena;
    const kerf_registry *registry;
    if (!kerf_cpu_isa_is_known())
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "KERF_ISA='%.80s': allowed are avx512, avx2, neon and none, or a list such as avx512,avx2",
                         kerf_show(getenv("KERF_ISA")).text);
    if (options->command == KERF_COMMAND_DOCTOR) {
        catch_signals();
        return kerf_doctor(options, &interrupted, stdout, error);
    }
    if (options->command == KERF_COMMAND_DOCTOR_WORKER)
        return kerf_doctor_worker(stdin, stdout, error);
    if (options->command == KERF_COMMAND_REPORT) {
        catch_signals();
        return kerf_report(options, &interrupted, error);
    }
    KERF_TRY(kerf_arena_map_shared(&arena, (size_t)1 << 20, error));
    KERF_TRY(kerf_registry_joined(options->plugin, &arena, &registry, error));
    switch (options->command) {
    case KERF_COMMAND_LIST:
        return kerf_list(options, registry, stdout, error);
#if KERF_HAVE_BENCHMARK
    case KERF_COMMAND_TIME_WORKER:
        *exit_code = kerf_timing_worker(registry);
        return KERF_OK;
    case KERF_COMMAND_ANNOTATE:
        catch_signals();
        return kerf_annotate(options, registry, &interrupted, stdout, error);
#else
    case KERF_COMMAND_ANNOTATE:
        return kerf_fail(error, KERF_ERROR_USAGE, "this bench was built without Google Benchmark and cannot annotate");
#endif
    default:
        break;
    }
    catch_signals();
    return kerf_pipeline(options, registry, argc, argv, &interrupted, exit_code, error);
}

int main(int argc, char **argv) {
    kerf_options options;
    kerf_error error = {""};
    fill_standard_files();
    if (argc < 2) {
        fputs(kerf_options_help(NULL), stderr);
        return 2;
    }
    kerf_status status = kerf_options_parse(argc, argv, &options, &error);
    if (status != KERF_OK)
        return end_with(options.command, status, &error);
    if (options.command == KERF_COMMAND_HELP || options.command == KERF_COMMAND_VERSION) {
        if (options.command == KERF_COMMAND_HELP)
            fputs(kerf_options_help(options.help_on), stdout);
        else
            puts("kerf " KERF_VERSION);
        return end_of_output(0);
    }
    int exit_code = 0;
    status = run_command(&options, argc, argv, &exit_code, &error);
    const int code = end_with(options.command, status, &error);
    return end_of_output(code ? code : exit_code);
}

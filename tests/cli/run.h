/* Runs `bench` as a person would and keeps what it printed. */
#ifndef KERF_TESTS_CLI_RUN_H
#define KERF_TESTS_CLI_RUN_H

/* At the begin of a test that reads records. */
#define NEEDS_JANSSON                                                                                                  \
    if (!KERF_HAVE_JANSSON)                                                                                            \
    SKIP("built without libjansson")

typedef struct cli_result {
    int exit_code; /* 128 + signal if one ended it */
    char out[1 << 20], err[1 << 16];
} cli_result;

/* `arguments` as a shell reads them. The result is valid until the next call. XDG_DATA_HOME is a folder of the test, in
 * which limits of this machine are kept that nothing reaches. */
const cli_result *cli_bench(const char *arguments);
/* The same with text in front of the program: variables, or a program that starts it. */
const cli_result *cli_bench_with(const char *before, const char *arguments);
/* Interrupts it (SIGINT) once the shell command `when` succeeds, which is asked again and again, for a minute. */
const cli_result *cli_bench_interrupted(const char *before, const char *when, const char *arguments);
/* A folder of this process under /tmp, made on first use. */
const char *cli_folder(void);
/* The number of lines of text that `line` begins. */
int cli_count_lines(const char *text, const char *line);

#endif

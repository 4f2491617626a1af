/* What a child does before it serves: it forgets the parent's handlers and files, and notes faults. */
#include "harness/isolate.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* A handler has no argument of its own; set once, before any handler is installed. */
static kerf_fault *noted;

static kerf_access access_of(const void *context) {
#if defined(__x86_64__)
    const ucontext_t *const at = context;
    return at->uc_mcontext.gregs[REG_ERR] & 2 ? KERF_ACCESS_WRITE : KERF_ACCESS_READ;
#else
    (void)context;
    return KERF_ACCESS_UNKNOWN;
#endif
}

static void note_fault(int signal_number, siginfo_t *info, void *context) {
    noted->access = access_of(context);
    noted->address = (uintptr_t)info->si_addr;
    noted->has_address = info->si_code > 0 && info->si_code != SI_KERNEL;
    noted->signal = signal_number;
    /* Die of the same signal: the parent sees the truth whether the fault was an access or was sent. */
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void reset_signals(void) {
    for (int number = 1; number < NSIG; ++number)
        signal(number, SIG_DFL); /* fails for those that cannot be caught, which is as well */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    static char stack[65536]; /* so that an overflow of the main stack is noted too */
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    struct sigaction action = {.sa_sigaction = note_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

/* Standard input is empty, standard output goes to standard error (the parent's holds results only), and everything
 * else but the channel is closed: a sibling's channel kept open would hide that sibling's death. */
static void keep_only(int channel) {
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    if (channel > 3)
        close_range(3, (unsigned)channel - 1, 0);
    close_range((unsigned)channel + 1, ~0U, 0);
}

void kerf_child_enter(pid_t parent, int channel, kerf_fault *fault) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0); /* it died before the request */
    setpgid(0, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    noted = fault;
    reset_signals();
    keep_only(channel);
}

static size_t address_space_bytes(void) {
    FILE *const file = fopen("/proc/self/statm", "r");
    unsigned long long pages = 0;
    if (!file)
        return 0;
    const int n_read = fscanf(file, "%llu", &pages);
    fclose(file);
    return n_read == 1 ? (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

void kerf_child_limit_memory(size_t bytes) {
    if (SANITIZED)
        return;
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = limit.rlim_max;
    const size_t used_bytes = address_space_bytes();
    if (used_bytes > 0 && bytes < SIZE_MAX - used_bytes && used_bytes + bytes < limit.rlim_max)
        limit.rlim_cur = used_bytes + bytes;
    setrlimit(RLIMIT_AS, &limit);
}

/* How the end of a child is told: as an access relative to the operands, where it noted one. */
#include "harness/verify_job.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>

kerf_finding kerf_finding_skip(const char *reason) {
    kerf_finding finding = {.verdict = KERF_SKIP, .check = "", .output = -1, .place = ""};
    snprintf(finding.reason, sizeof finding.reason, "%s", reason);
    return finding;
}

void kerf_print_bytes(kerf_text *text, double bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 6; ++unit)
        bytes /= 1024;
    kerf_text_printf(text, "%.*f %s", unit == 0 ? 0 : 1, bytes, units[unit]);
}

static void set_verdict(kerf_slot *slot, kerf_verdict verdict, const char *check) {
    kerf_finding *const finding = &slot->finding;
    finding->verdict = verdict;
    finding->check = check;
    finding->output = -1;
    finding->got = finding->lo = finding->hi = finding->slack = NAN;
    finding->ratio = INFINITY;
}

static uintptr_t distance_to(const kerf_window *window, uintptr_t address) {
    if (address < window->begin)
        return window->begin - address;
    return address >= window->end ? address - window->end : 0;
}

static const kerf_window *nearest_window(const kerf_slot *slot, uintptr_t address) {
    const kerf_window *nearest = NULL;
    for (int i = 0; i < slot->n_windows; ++i)
        if (!nearest || distance_to(&slot->window[i], address) < distance_to(nearest, address))
            nearest = &slot->window[i];
    return nearest;
}

/* Accesses that are further away than this belong to no operand. */
static const uintptr_t near_bytes = (uintptr_t)1 << 30;

static void tell_access(kerf_slot *slot, kerf_text *reason) {
    static const char *const names[] = {"access", "read", "write"};
    const uintptr_t address = slot->fault.address;
    const char *const access = names[slot->fault.access];
    const kerf_window *const window = nearest_window(slot, address);
    if (address < 65536 || !window || distance_to(window, address) > near_bytes) {
        kerf_text_printf(reason, ": %s at address 0x%llx, far from every operand", access, (unsigned long long)address);
        return;
    }
    slot->finding.check = "guard";
    slot->finding.output = window->output;
    if (address < window->begin) {
        kerf_text_printf(reason, ": %s %llu bytes before %s", access, (unsigned long long)(window->begin - address),
                         window->name);
    } else if (address >= window->end) {
        kerf_text_printf(reason, ": %s %llu bytes behind %s", access, (unsigned long long)(address - window->end),
                         window->name);
    } else if (window->kind == KERF_WINDOW_IN) { /* mapped readable: it can only have been a write */
        slot->finding.verdict = KERF_FAIL;
        slot->finding.check = "input";
        kerf_text_printf(reason, ": write to byte %llu of the input %s", (unsigned long long)(address - window->begin),
                         window->name);
    } else {
        kerf_text_printf(reason, ": %s of byte %llu of %s", access, (unsigned long long)(address - window->begin),
                         window->name);
    }
}

void kerf_slot_tell_crash(kerf_slot *slot, int signal, const char *how) {
    kerf_text reason = kerf_text_over(slot->finding.reason, sizeof slot->finding.reason);
    set_verdict(slot, KERF_CRASH, signal ? "signal" : "exit");
    kerf_text_printf(&reason, "%s", how);
    if (slot->fault.signal && slot->fault.has_address)
        tell_access(slot, &reason);
    else if (slot->fault.signal == SIGSEGV)
        kerf_text_printf(&reason, ": no address is known (misaligned vector access, or sent by a process)");
}

void kerf_slot_tell_timeout(kerf_slot *slot, double timeout_s) {
    kerf_text reason = kerf_text_over(slot->finding.reason, sizeof slot->finding.reason);
    set_verdict(slot, KERF_TIMEOUT, "timeout");
    kerf_text_printf(&reason, "no answer within %g s; --timeout allows more", timeout_s);
}

void kerf_slot_tell_memory(kerf_slot *slot, size_t resident_bytes, size_t allowed_bytes) {
    kerf_text reason = kerf_text_over(slot->finding.reason, sizeof slot->finding.reason);
    set_verdict(slot, KERF_CRASH, "memory");
    kerf_text_printf(&reason, "took ");
    kerf_print_bytes(&reason, (double)resident_bytes);
    kerf_text_printf(&reason, " of memory where ");
    kerf_print_bytes(&reason, (double)allowed_bytes);
    kerf_text_printf(&reason, " is allowed");
}

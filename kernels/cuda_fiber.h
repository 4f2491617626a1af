/* Stacks that can be left and entered again: what cuda_sim.cc runs the threads of a block on. Private to it.
 *
 *   kerf_fiber_of_host(&host)                            the stack that the caller is on
 *   kerf_fiber_make(&fiber, memory, bytes, entry)        `entry` begins with kerf_fiber_begun(&host), never returns
 *   kerf_fiber_switch(&from, &to)                        returns when somebody switches back to `from`
 *   kerf_fiber_end(&fiber, &host)                        the last switch of a fiber
 *   kerf_fiber_forget(&fiber)                            whether it ended or was left in the middle
 *
 * By hand on x86-64, because ucontext enters the kernel at each switch to save the signal mask (30 times slower);
 * ucontext elsewhere. The sanitizers are told of each switch. */
#ifndef KERF_KERNELS_CUDA_FIBER_H
#define KERF_KERNELS_CUDA_FIBER_H

#include <cstddef>
#include <cstring>

#if !defined(__x86_64__) || defined(KERF_FIBER_UCONTEXT)
#undef KERF_FIBER_UCONTEXT
#define KERF_FIBER_UCONTEXT 1
#include <ucontext.h>
#endif

#if defined(__has_feature)
#define KERF_FIBER_HAS(feature) __has_feature(feature)
#else
#define KERF_FIBER_HAS(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || KERF_FIBER_HAS(address_sanitizer)
#define KERF_FIBER_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__) || KERF_FIBER_HAS(thread_sanitizer)
#define KERF_FIBER_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif

struct kerf_fiber {
#ifdef KERF_FIBER_UCONTEXT
    ucontext_t context;
#else
    void *stack_pointer;
#endif
    const void *memory;
    size_t bytes;
    void *shadow; /* what a sanitizer keeps for it */
};

static inline void kerf_fiber_of_host(kerf_fiber *host) {
    *host = {};
#ifdef KERF_FIBER_TSAN
    host->shadow = __tsan_get_current_fiber();
#endif
}

static inline void kerf_fiber_make(kerf_fiber *fiber, void *memory, size_t bytes, void (*entry)(void)) {
    *fiber = {};
    fiber->memory = memory;
    fiber->bytes = bytes;
#ifdef KERF_FIBER_ASAN
    __asan_unpoison_memory_region(memory, bytes); /* an earlier fiber's frames, which were left, not returned from */
#endif
#ifdef KERF_FIBER_TSAN
    fiber->shadow = __tsan_create_fiber(0);
#endif
#ifdef KERF_FIBER_UCONTEXT
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = memory;
    fiber->context.uc_stack.ss_size = bytes;
    makecontext(&fiber->context, entry, 0);
#else
    /* From the top: a return address that is never used, so that the stack is aligned as behind a call; the address
     * that the first switch returns to; six registers. */
    void **const top = reinterpret_cast<void **>(static_cast<unsigned char *>(memory) + bytes) - 8;
    std::memset(top, 0, 8 * sizeof *top);
    top[6] = reinterpret_cast<void *>(entry);
    fiber->stack_pointer = top;
#endif
}

static inline void kerf_fiber_forget(kerf_fiber *fiber) {
#ifdef KERF_FIBER_ASAN
    __asan_unpoison_memory_region(fiber->memory, fiber->bytes);
#endif
#ifdef KERF_FIBER_TSAN
    __tsan_destroy_fiber(fiber->shadow);
#endif
    *fiber = {};
}

#ifndef KERF_FIBER_UCONTEXT
/* (void **leave, void *enter): pushes what a function has to keep, exchanges the stacks, pops. The rounding mode is the
 * same in all fibers and stays. */
__attribute__((naked, noinline)) static void kerf_fiber_exchange_stacks(void **, void *) {
    __asm__("pushq %rbp\n\t"
            "pushq %rbx\n\t"
            "pushq %r12\n\t"
            "pushq %r13\n\t"
            "pushq %r14\n\t"
            "pushq %r15\n\t"
            "movq %rsp, (%rdi)\n\t"
            "movq %rsi, %rsp\n\t"
            "popq %r15\n\t"
            "popq %r14\n\t"
            "popq %r13\n\t"
            "popq %r12\n\t"
            "popq %rbx\n\t"
            "popq %rbp\n\t"
            "ret");
}
#endif

static inline void kerf_fiber_jump(kerf_fiber *from, kerf_fiber *to) {
#ifdef KERF_FIBER_TSAN
    __tsan_switch_to_fiber(to->shadow, 0);
#endif
#ifdef KERF_FIBER_UCONTEXT
    swapcontext(&from->context, &to->context);
#else
    kerf_fiber_exchange_stacks(&from->stack_pointer, to->stack_pointer);
#endif
}

static inline void kerf_fiber_switch(kerf_fiber *from, kerf_fiber *to) {
#ifdef KERF_FIBER_ASAN
    __sanitizer_start_switch_fiber(&from->shadow, to->memory, to->bytes);
#endif
    kerf_fiber_jump(from, to);
#ifdef KERF_FIBER_ASAN
    __sanitizer_finish_switch_fiber(from->shadow, nullptr, nullptr);
#endif
}

static inline void kerf_fiber_begun(kerf_fiber *host) {
    (void)host;
#ifdef KERF_FIBER_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &host->memory, &host->bytes);
#endif
}

static inline void kerf_fiber_end(kerf_fiber *fiber, kerf_fiber *host) {
#ifdef KERF_FIBER_ASAN
    __sanitizer_start_switch_fiber(nullptr, host->memory, host->bytes);
#endif
    kerf_fiber_jump(fiber, host);
}

#endif

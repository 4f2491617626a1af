/* Runs the blocks of a launch one after another. A block whose threads do not meet is a plain loop. Otherwise each
 * thread is a fiber that runs until it waits; when all of them wait, the meeting points where nobody is missing are
 * opened. If there is none, threads missed each other: on a device that is a hang or, worse, an answer. */
#include "kernels/cuda_sim.h"

#include "kernels/cuda_fiber.h"
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

__thread kerf_sim_place kerf_sim_at;

namespace {

constexpr size_t stack_bytes = 256 * 1024; /* frames of sanitizer builds are large; a page costs memory once touched */
constexpr int64_t most_threads = 1024;     /* of a block, as on all devices so far */

enum class waits { nowhere, at_block, at_warp, ended };

struct sim_thread {
    kerf_fiber fiber;
    waits state;
    int line;
    unsigned mask; /* lanes that meet */
    int source;    /* lane to take a value from, -1: none */
    uint64_t sent, received;
};

struct sim_block {
    kerf_fiber host;
    int64_t n;
    sim_thread *thread;
    void (*body)(const void *);
    const void *self;
};

__thread sim_block *running;  /* NULL while threads run in a plain loop */
__thread sim_thread *current; /* of `running` */
__thread char fault[200];

KERF_PRINTF(1, 2) void tell(const char *format, ...) {
    if (fault[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(fault, sizeof fault, format, arguments);
    va_end(arguments);
}

dim3 place_of(int64_t number, dim3 size) {
    const int64_t x = size.x, y = size.y;
    return dim3(static_cast<unsigned>(number % x), static_cast<unsigned>(number / x % y),
                static_cast<unsigned>(number / x / y));
}

/* Number of blocks or threads; 0 where an extent is more than any device takes. */
int64_t volume(dim3 size) {
    if (size.x > 0x7fffffff || size.y > 0xffff || size.z > 0xffff)
        return 0;
    return static_cast<int64_t>(size.x) * size.y * size.z;
}

void fiber_main() {
    kerf_fiber_begun(&running->host);
    running->body(running->self);
    current->state = waits::ended;
    kerf_fiber_end(&current->fiber, &running->host);
    std::abort();
}

void wait_as(waits state, int line) {
    current->state = state;
    current->line = line;
    kerf_fiber_switch(&current->fiber, &running->host);
}

unsigned lanes_that_exist(const sim_block &block, int64_t first) {
    const int64_t lanes = block.n - first;
    return lanes >= warpSize ? 0xffffffffu : (1u << lanes) - 1;
}

/* Opens the meeting point of thread `number` if all lanes that it names have come to it. */
bool open_warp(sim_block &block, int64_t number) {
    const sim_thread me = block.thread[number];
    const int64_t first = number / warpSize * warpSize;
    const unsigned mask = me.mask & lanes_that_exist(block, first);
    sim_thread *const lane = block.thread + first;
    if (!(mask >> (number - first) & 1)) {
        tell("line %d: lane %d is not among the lanes that it names", me.line, static_cast<int>(number - first));
        return false;
    }
    for (int i = 0; i < warpSize; ++i)
        if (mask >> i & 1 && (lane[i].state != waits::at_warp || lane[i].line != me.line || lane[i].mask != me.mask))
            return false;
    for (int i = 0; i < warpSize; ++i) {
        if (!(mask >> i & 1))
            continue;
        lane[i].state = waits::nowhere;
        if (lane[i].source >= 0 && !(mask >> lane[i].source & 1))
            tell("line %d: lane %d takes a value from lane %d, which does not take part", me.line, i, lane[i].source);
        else if (lane[i].source >= 0)
            lane[i].received = lane[lane[i].source].sent;
    }
    return true;
}

bool open_warps(sim_block &block) {
    bool opened = false;
    for (int64_t i = 0; i < block.n; ++i)
        if (block.thread[i].state == waits::at_warp)
            opened |= open_warp(block, i);
    return opened;
}

void tell_divergence(const sim_block &block, int64_t waiting, int64_t other) {
    const sim_thread &w = block.thread[waiting], &o = block.thread[other];
    char where[40] = "has ended";
    if (o.state != waits::ended)
        std::snprintf(where, sizeof where, "waits at line %d", o.line);
    tell("threads miss each other in block (%u,%u,%u): thread %d waits at line %d, thread %d %s", blockIdx.x,
         blockIdx.y, blockIdx.z, static_cast<int>(waiting), w.line, static_cast<int>(other), where);
}

/* No warp can go on. Either all threads wait at the same __syncthreads, or all have ended, or they missed each other.
 */
bool open_block(sim_block &block) {
    int64_t waiting = 0;
    while (waiting < block.n && block.thread[waiting].state == waits::ended)
        ++waiting;
    if (waiting == block.n)
        return false;
    const sim_thread &first = block.thread[waiting];
    for (int64_t i = 0; i < block.n; ++i) {
        const sim_thread &other = block.thread[i];
        if (first.state != waits::at_block || other.state != first.state || other.line != first.line) {
            tell_divergence(block, waiting, i == waiting && i + 1 < block.n ? i + 1 : i);
            return false;
        }
    }
    for (int64_t i = 0; i < block.n; ++i)
        block.thread[i].state = waits::nowhere;
    return true;
}

/* Threads of a block and their stacks, each above a page that may not be touched. */
bool get_fibers(sim_block *block, unsigned char **stacks) {
    const size_t bytes = static_cast<size_t>(block->n) * stack_bytes;
    void *const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    *stacks = static_cast<unsigned char *>(memory);
    for (int64_t i = 0; i < block->n; ++i)
        mprotect(*stacks + i * stack_bytes, 1, PROT_NONE);
    block->thread = static_cast<sim_thread *>(std::calloc(static_cast<size_t>(block->n), sizeof *block->thread));
    if (!block->thread)
        munmap(memory, bytes);
    return block->thread != nullptr;
}

void give_fibers(sim_block *block, unsigned char *stacks) {
    std::free(block->thread);
    munmap(stacks, static_cast<size_t>(block->n) * stack_bytes);
}

void run_block_of_fibers(sim_block &block, unsigned char *stacks) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    for (int64_t i = 0; i < block.n; ++i) {
        block.thread[i] = {};
        kerf_fiber_make(&block.thread[i].fiber, stacks + i * stack_bytes + page, stack_bytes - page, fiber_main);
    }
    kerf_fiber_of_host(&block.host);
    running = &block;
    do {
        for (int64_t i = 0; i < block.n; ++i) {
            if (block.thread[i].state != waits::nowhere)
                continue;
            current = &block.thread[i];
            kerf_sim_at.thread = place_of(i, kerf_sim_at.block_size);
            kerf_fiber_switch(&block.host, &current->fiber);
        }
    } while (!fault[0] && (open_warps(block) || open_block(block)));
    running = nullptr;
    for (int64_t i = 0; i < block.n; ++i)
        kerf_fiber_forget(&block.thread[i].fiber);
}

void run_block_as_loop(const sim_block &block) {
    for (int64_t i = 0; i < block.n && !fault[0]; ++i) {
        kerf_sim_at.thread = place_of(i, kerf_sim_at.block_size);
        block.body(block.self);
    }
}

bool meets_in_fiber(int line) {
    if (!running)
        tell("line %d: threads meet in a kernel that was launched without KERF_LAUNCH_MEETING", line);
    return running != nullptr;
}

} // namespace

const char *kerf_sim_fault(void) {
    return fault[0] ? fault : nullptr;
}

int kerf_sim_lane(void) {
    return running ? static_cast<int>((current - running->thread) % warpSize) : 0;
}

void kerf_sim_meet_block(int line) {
    if (meets_in_fiber(line))
        wait_as(waits::at_block, line);
}

void kerf_sim_meet_warp(int line, unsigned mask) {
    if (!meets_in_fiber(line))
        return;
    current->mask = mask;
    current->source = -1;
    wait_as(waits::at_warp, line);
}

void kerf_sim_exchange(int line, unsigned mask, int source, void *value, size_t bytes) {
    if (!meets_in_fiber(line))
        return;
    sim_thread *const me = current;
    me->mask = mask;
    me->source = source;
    std::memcpy(&me->sent, value, bytes);
    wait_as(waits::at_warp, line);
    std::memcpy(value, &me->received, bytes);
}

kerf_status kerf_sim_run(kerf_sim_threads threads, dim3 grid, dim3 block_size, void (*body)(const void *),
                         const void *self) {
    fault[0] = '\0';
    sim_block block = {{}, volume(block_size), nullptr, body, self};
    unsigned char *stacks = nullptr;
    if (volume(grid) < 1 || block.n < 1 || block.n > most_threads)
        tell("%lld blocks of %lld threads: there must be at least 1 of each, and at most %lld threads",
             static_cast<long long>(volume(grid)), static_cast<long long>(block.n),
             static_cast<long long>(most_threads));
    else if (threads == KERF_SIM_FIBERS && !get_fibers(&block, &stacks))
        tell("no memory for the stacks of %lld threads", static_cast<long long>(block.n));
    kerf_sim_at.block_size = block_size;
    kerf_sim_at.grid_size = grid;
    for (int64_t i = 0; i < volume(grid) && !fault[0]; ++i) {
        kerf_sim_at.block = place_of(i, grid);
        if (threads == KERF_SIM_FIBERS)
            run_block_of_fibers(block, stacks);
        else
            run_block_as_loop(block);
    }
    if (stacks)
        give_fibers(&block, stacks);
    return fault[0] ? KERF_ERROR_DEVICE : KERF_OK;
}

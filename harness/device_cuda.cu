/* The CUDA device, through the CUDA runtime. */
#include "harness/device.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int probe_limit_ms = 20000; /* a driver that hangs must not hang us */

char why_not[200];
pthread_once_t once = PTHREAD_ONCE_INIT;

/* In a child: says on `answer` why there is no device, or nothing, and is gone. */
[[noreturn]] void probe(int answer) {
    int n_devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&n_devices);
    char text[sizeof why_not] = "";
    if (status != cudaSuccess)
        std::snprintf(text, sizeof text, "no CUDA device: %s", cudaGetErrorString(status));
    else if (n_devices < 1)
        std::snprintf(text, sizeof text, "no CUDA device: the driver counts none");
    const ssize_t length = static_cast<ssize_t>(std::strlen(text));
    _exit(write(answer, text, static_cast<size_t>(length)) == length ? 0 : 1);
}

/* Reads until the other end is closed; false when that takes too long. */
bool read_answer(int from, char *text, size_t capacity) {
    size_t length = 0;
    struct pollfd wait = {from, POLLIN, 0};
    for (;;) {
        const int ready = poll(&wait, 1, probe_limit_ms);
        if (ready < 0 && errno == EINTR)
            continue;
        const ssize_t n = ready > 0 ? read(from, text + length, capacity - 1 - length) : -1;
        if (n < 0 && ready > 0 && errno == EINTR)
            continue;
        text[length + static_cast<size_t>(n > 0 ? n : 0)] = '\0';
        if (n <= 0)
            return n == 0;
        length += static_cast<size_t>(n);
    }
}

void ask_in_child() {
    int ends[2];
    if (pipe(ends) != 0) {
        std::snprintf(why_not, sizeof why_not, "no CUDA device: cannot ask, %s", std::strerror(errno));
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        probe(ends[1]);
    }
    close(ends[1]);
    if (child < 0) {
        std::snprintf(why_not, sizeof why_not, "no CUDA device: cannot ask, %s", std::strerror(errno));
    } else {
        const bool answered = read_answer(ends[0], why_not, sizeof why_not);
        if (!answered)
            kill(child, SIGKILL);
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        if (!answered)
            std::snprintf(why_not, sizeof why_not, "no CUDA device: the driver does not answer within %d s",
                          probe_limit_ms / 1000);
        else if (status != 0)
            std::snprintf(why_not, sizeof why_not, "no CUDA device: asking for it ended with wait status 0x%x", status);
    }
    close(ends[0]);
}

const char *unavailable() {
    pthread_once(&once, ask_in_child);
    return why_not[0] ? why_not : nullptr;
}

kerf_status told(cudaError_t status, const char *what, size_t bytes, kerf_error *error) {
    if (status == cudaSuccess)
        return KERF_OK;
    const kerf_status kind = status == cudaErrorMemoryAllocation ? KERF_ERROR_MEMORY : KERF_ERROR_DEVICE;
    return kerf_fail(error, kind, "CUDA: %s of %zu bytes: %s", what, bytes, cudaGetErrorString(status));
}

kerf_status allocate(size_t bytes, void **memory, kerf_error *error) {
    return told(cudaMalloc(memory, bytes), "allocation", bytes, error);
}

void release(void *memory) {
    (void)cudaFree(memory);
}

kerf_status copy_in(void *device, const void *host, size_t bytes, kerf_error *error) {
    return told(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "copy to the device", bytes, error);
}

kerf_status copy_out(void *host, const void *device, size_t bytes, kerf_error *error) {
    return told(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "copy from the device", bytes, error);
}

kerf_status synchronise(kerf_error *error) {
    const cudaError_t ran = cudaDeviceSynchronize();
    const cudaError_t launched = cudaGetLastError(); /* and forgets it */
    const cudaError_t status = ran != cudaSuccess ? ran : launched;
    if (status == cudaSuccess)
        return KERF_OK;
    return kerf_fail(error, KERF_ERROR_DEVICE, "CUDA: %s (%s)", cudaGetErrorString(status), cudaGetErrorName(status));
}

} // namespace

extern "C" const kerf_device kerf_device_cuda = {
    .kind = KERF_DEVICE_CUDA,
    .unavailable = unavailable,
    .allocate = allocate,
    .release = release,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .synchronise = synchronise,
};

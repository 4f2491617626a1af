#include "harness/google_benchmark_shim.h"

#include <benchmark/benchmark.h>
#include <exception>
#include <string>
#include <vector>

namespace {

/* The library's reporters print a context, warnings about its own build and a table: our records say what was timed. */
class Silent : public benchmark::BenchmarkReporter {
  public:
    bool ReportContext(const Context &) override {
        return true;
    }
    void ReportRuns(const std::vector<Run> &) override {
    }
};

class Collecting : public Silent {
  public:
    double call_ns = 0;
    void ReportRuns(const std::vector<Run> &runs) override {
        for (const Run &run : runs)
            if (run.iterations > 0)
                call_ns = run.real_accumulated_time / static_cast<double>(run.iterations) * 1e9;
    }
};

template <typename Function> kerf_status without_exceptions(kerf_error *error, Function function) {
    try {
        return function();
    } catch (const std::exception &exception) {
        return kerf_fail(error, KERF_ERROR_DEVICE, "Google Benchmark failed: %s", exception.what());
    } catch (...) {
        return kerf_fail(error, KERF_ERROR_DEVICE, "Google Benchmark failed with an unknown exception");
    }
}

void run_loop(benchmark::State &state, const kerf_loop_benchmark &benchmark) {
    if (const char *const reason = benchmark.open(benchmark.arg)) {
        state.SkipWithError(reason);
        return;
    }
    for (auto _ : state) {
        if (benchmark.prepare) {
            state.PauseTiming();
            benchmark.prepare(benchmark.arg);
            state.ResumeTiming();
        }
        benchmark.call(benchmark.arg);
    }
}

} // namespace

extern "C" kerf_status kerf_google_benchmark_host(const kerf_hosted_benchmark *hosted, kerf_error *error) {
    return without_exceptions(error, [&] {
        bool ran = false;
        benchmark::ClearRegisteredBenchmarks();
        /* One iteration, and all the sampling inside it: a State's loop must not be left early, and the number of its
         * iterations is fixed before the first. */
        benchmark::RegisterBenchmark(hosted->name,
                                     [&](benchmark::State &state) {
                                         for (auto _ : state)
                                             state.SetIterationTime(hosted->body(hosted->arg));
                                         ran = true;
                                     })
            ->Iterations(1)
            ->Repetitions(1)
            ->UseManualTime();
        Silent silent;
        benchmark::RunSpecifiedBenchmarks(&silent, ".");
        benchmark::ClearRegisteredBenchmarks();
        return ran ? KERF_OK : kerf_fail(error, KERF_ERROR_DEVICE, "Google Benchmark did not run `%s`", hosted->name);
    });
}

extern "C" kerf_status kerf_google_benchmark_time(const kerf_loop_benchmark *benchmark, double min_time_s,
                                                  double *call_ns, kerf_error *error) {
    return without_exceptions(error, [&] {
        Collecting collecting;
        benchmark::ClearRegisteredBenchmarks();
        benchmark::RegisterBenchmark(benchmark->name, run_loop, *benchmark)->MinTime(min_time_s)->UseRealTime();
        benchmark::RunSpecifiedBenchmarks(&collecting, ".");
        benchmark::ClearRegisteredBenchmarks();
        *call_ns = collecting.call_ns;
        return collecting.call_ns > 0
                   ? KERF_OK
                   : kerf_fail(error, KERF_ERROR_DEVICE, "Google Benchmark did not time `%s`", benchmark->name);
    });
}

extern "C" kerf_status kerf_google_benchmark_front_end(const kerf_loop_benchmark benchmarks[], int n, int argc,
                                                       char **argv, kerf_error *error) {
    return without_exceptions(error, [&] {
        char program[] = "bench";
        std::vector<char *> arguments{program};
        arguments.insert(arguments.end(), argv, argv + argc);
        arguments.push_back(nullptr);
        int left = argc + 1;
        benchmark::Initialize(&left, arguments.data());
        if (left > 1)
            return kerf_fail(
                error, KERF_ERROR_USAGE,
                "unknown argument `%s` behind `--`; only Google Benchmark's own are allowed there, such as "
                "--benchmark_list_tests; `-- --help` shows all",
                arguments[1]);
        benchmark::ClearRegisteredBenchmarks();
        for (int i = 0; i < n; ++i)
            benchmark::RegisterBenchmark(benchmarks[i].name, run_loop, benchmarks[i]);
        benchmark::RunSpecifiedBenchmarks();
        benchmark::ClearRegisteredBenchmarks();
        return KERF_OK;
    });
}

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#define CATCH_VERSION 3
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#define CATCH_VERSION 2
#endif

/* Catch2's own macros of these names would hide the ones for C. */
#undef REQUIRE
#undef CHECK
#undef SKIP
#include "tests/catch_shim.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <string>

namespace {

/* Of the test case that runs now. An exception that Catch2 throws inside a check waits in `pending` until the C frames
 * are left. */
struct {
    bool failed;
    std::exception_ptr pending;
    std::string text;
} current;

class c_test : public Catch::ITestInvoker {
  public:
    explicit c_test(const kerf_test &test) : test_(test) {
    }
    void invoke() const override {
        current = {};
        test_.run();
        if (current.pending)
            std::rethrow_exception(current.pending);
    }

  private:
    const kerf_test &test_;
};

std::string print(const char *format, va_list arguments) {
    char text[4096];
    std::vsnprintf(text, sizeof text, format, arguments);
    return text;
}

std::string selectable(std::string name) {
    constexpr char from[] = "[];*\"\\", to[] = "(),_'/";
    for (char &c : name)
        if (const char *at = std::strchr(from, c))
            c = to[at - from];
    return name;
}

template <typename Report>
void record(const char *macro, const char *expression, const char *file, int line, Report report) {
    try {
        Catch::AssertionHandler handler(Catch::StringRef(macro),
                                        Catch::SourceLineInfo(file, static_cast<std::size_t>(line)),
                                        Catch::StringRef(expression), Catch::ResultDisposition::ContinueOnFailure);
        report(handler);
        handler.complete();
    } catch (...) {
        current.pending = std::current_exception();
    }
}

} // namespace

extern "C" bool kerf_test_check(const char *macro, const char *expression, bool holds, const char *file, int line) {
    record(macro, expression, file, line, [holds](Catch::AssertionHandler &handler) {
        if (current.text.empty()) {
            handler.handleExpr(Catch::Decomposer() <= holds);
        } else {
            INFO(current.text);
            handler.handleExpr(Catch::Decomposer() <= holds);
        }
    });
    current.text.clear();
    current.failed |= !holds;
    return holds && !current.pending;
}

extern "C" void kerf_test_say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    current.text = print(format, arguments);
    va_end(arguments);
}

extern "C" void kerf_test_skip(const char *file, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const std::string text = "skipped: " + print(format, arguments);
    va_end(arguments);
    record("SKIP", "", file, line, [&text](Catch::AssertionHandler &handler) {
#if CATCH_VERSION == 3 && CATCH_VERSION_MINOR >= 3
        handler.handleMessage(Catch::ResultWas::ExplicitSkip, std::string(text));
#elif CATCH_VERSION == 3
        handler.handleMessage(Catch::ResultWas::Warning, std::string(text));
#else
        handler.handleMessage(Catch::ResultWas::Warning, Catch::StringRef(text));
#endif
    });
}

extern "C" bool kerf_test_failed(void) {
    return current.failed || current.pending;
}

extern "C" int kerf_test_session(int argc, char **argv, const kerf_test *const tables[]) {
    static std::deque<std::string> names; /* Catch2 3 keeps references */
    for (const kerf_test *const *table = tables; *table; ++table) {
        for (const kerf_test *test = *table; test->name; ++test) {
            names.push_back(selectable(test->name));
            const Catch::SourceLineInfo place(test->file, static_cast<std::size_t>(test->line));
#if CATCH_VERSION == 3
            Catch::AutoReg(Catch::Detail::make_unique<c_test>(*test), place, Catch::StringRef(),
                           Catch::NameAndTags(names.back(), test->tags));
#else
            Catch::AutoReg(new c_test(*test), place, Catch::StringRef(), Catch::NameAndTags(names.back(), test->tags));
#endif
        }
    }
    return Catch::Session().run(argc, argv);
}

#include "harness/environment.h"

#include "base/cpu.h"
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* What CMake tells of the build. */
#ifndef KERF_BUILD_TYPE
#define KERF_BUILD_TYPE "unknown"
#endif
#ifndef KERF_VARIANT_FLAGS
#define KERF_VARIANT_FLAGS "unknown"
#endif

/* First line of a small file of the system, without its newline; false if it cannot be read or is empty. */
static bool read_line(const char *path, char *line, size_t capacity) {
    FILE *const file = fopen(path, "r");
    if (!file)
        return false;
    const bool got = fgets(line, (int)capacity, file) != NULL;
    fclose(file);
    if (got)
        line[strcspn(line, "\n")] = '\0';
    return got && line[0];
}

static void print_caches(kerf_text *text) {
    for (int index = 0; index < 8; ++index) {
        char path[96], level[16], type[32], size[32];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", index);
        if (!read_line(path, level, sizeof level))
            break;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", index);
        if (!read_line(path, type, sizeof type) || strcmp(type, "Instruction") == 0)
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
        if (read_line(path, size, sizeof size))
            kerf_text_printf(text, "%sL%s %s", text->length ? ", " : "", level, size);
    }
    if (!text->length)
        kerf_text_printf(text, "unknown");
}

static const char *flush_to_zero(void) {
#if defined(__x86_64__)
    return _mm_getcsr() & 0x8040 ? "on" : "off";
#elif defined(__aarch64__)
    uint64_t control;
    __asm__("mrs %0, fpcr" : "=r"(control));
    return control >> 24 & 1 ? "on" : "off";
#else
    return "unknown";
#endif
}

static const char *virtual_machine(void) {
    FILE *const file = fopen("/proc/cpuinfo", "r");
    if (!file)
        return "unknown";
    char line[8192];
    const char *answer = "no";
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor"))
            answer = "yes";
    fclose(file);
    return answer;
}

/* Writes the linker's hash of the program into the text: the first object that is visited is the program itself. */
static int print_build_id(struct dl_phdr_info *info, size_t size, void *argument) {
    kerf_text *const text = argument;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *const header = &info->dlpi_phdr[i];
        if (header->p_type != PT_NOTE)
            continue;
        const unsigned char *note = (const unsigned char *)(info->dlpi_addr + header->p_vaddr);
        const unsigned char *const end = note + header->p_memsz;
        while (note + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *const head = (const void *)note;
            const unsigned char *const name = note + sizeof *head;
            const unsigned char *const id = name + (head->n_namesz + 3) / 4 * 4;
            if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
                for (unsigned byte = 0; byte < head->n_descsz; ++byte)
                    kerf_text_printf(text, "%02x", id[byte]);
            note = id + (head->n_descsz + 3) / 4 * 4;
        }
    }
    return 1;
}

static const char *kept(kerf_arena *arena, const char *text) {
    return kerf_arena_copy_text(arena, text[0] ? text : "unknown");
}

const kerf_environment *kerf_environment_read(kerf_arena *arena, uint64_t isa) {
    char memory[256];
    kerf_environment *const environment = KERF_ARENA_NEW(arena, kerf_environment, 1);
    if (!environment)
        return NULL;
    environment->cpu = kept(arena, kerf_cpu_model());
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_text_printf(&text, "%s%s%s", isa & KERF_ISA_AVX512 ? "avx512 " : "", isa & KERF_ISA_AVX2 ? "avx2 " : "",
                     isa & KERF_ISA_NEON ? "neon " : "");
    if (text.length)
        memory[text.length - 1] = '\0';
    environment->isa = kerf_arena_copy_text(arena, text.length ? memory : "none");
    text = kerf_text_over(memory, sizeof memory);
    print_caches(&text);
    environment->caches = kept(arena, memory);
    if (!read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", memory, sizeof memory))
        memory[0] = '\0';
    environment->governor = kept(arena, memory);
    struct utsname system;
    environment->kernel = kept(arena, uname(&system) == 0 ? system.release : "");
#if defined(__clang__)
    environment->compiler = "clang " __clang_version__;
#else
    environment->compiler = "gcc " __VERSION__;
#endif
    environment->flags = KERF_BUILD_TYPE ", variants " KERF_VARIANT_FLAGS;
    text = kerf_text_over(memory, sizeof memory);
    dl_iterate_phdr(print_build_id, &text);
    environment->build_id = kept(arena, memory);
    environment->virtual_machine = virtual_machine();
    environment->flush_to_zero = flush_to_zero();
    environment->processors = kerf_cpu_count();
    double load[1];
    environment->load_1min = getloadavg(load, 1) == 1 ? load[0] : -1;
    environment->memory_available_bytes = kerf_memory_available();
    return environment;
}

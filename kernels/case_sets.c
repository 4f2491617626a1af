/* The case files of one op as text inside the program, compiled once per op: KERF_OP is its name, KERF_SETS one
 * KERF_SET(name) per file name.txt in KERF_FOLDER. */
#include <stddef.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define SETS        JOIN(kerf_case_sets_, KERF_OP)

/* The assembler's label is local to this object, so sets of two ops may share a name. */
#define KERF_SET(set)                                                                                                  \
    __asm__(".pushsection .rodata\n"                                                                                   \
            "text_of_" #set ": .incbin \"" KERF_FOLDER #set ".txt\"\n"                                                 \
            ".byte 0\n"                                                                                                \
            ".popsection\n");                                                                                          \
    extern const char text_of_##set[] __attribute__((visibility("hidden")));
KERF_SETS
#undef KERF_SET

#define KERF_SET(set) #set, text_of_##set,
extern const char *const SETS[];
const char *const SETS[] = {KERF_SETS NULL};

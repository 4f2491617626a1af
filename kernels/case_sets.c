/* The case files of one op as text inside the program, compiled once per op: KERF_OP is its name, KERF_SETS one
 * KERF_SET(name) per file name.txt in KERF_FOLDER. */
#include "kernels/registry.h"

#define JOIN_(a, b)   a##b
#define JOIN(a, b)    JOIN_(a, b)
#define TEXT_(tokens) #tokens
#define TEXT(tokens)  TEXT_(tokens)
#define SETS          JOIN(kerf_case_sets_, KERF_OP)
#define SYMBOL(set)   JOIN(SETS, _##set)

#define KERF_SET(set)                                                                                                  \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".global " TEXT(SYMBOL(set)) "\n"                                                                          \
                                         ".hidden " TEXT(SYMBOL(set)) "\n" TEXT(                                       \
                                             SYMBOL(set)) ":\n"                                                        \
                                                          ".incbin \"" KERF_FOLDER #set ".txt\"\n"                     \
                                                          ".byte 0\n"                                                  \
                                                          ".popsection\n");                                            \
    extern const char SYMBOL(set)[] __attribute__((visibility("hidden")));
KERF_SETS
#undef KERF_SET

#define KERF_SET(set) #set, SYMBOL(set),
extern const char *const SETS[];
const char *const SETS[] = {KERF_SETS NULL};

/* The style sheet and the script of the page as text inside the program. */
#include "reports/html.h"

#define EMBED(symbol, path)                                                                                            \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".globl " #symbol "\n"                                                                                     \
            ".hidden " #symbol "\n" #symbol ": .incbin \"" path "\"\n"                                                 \
            ".byte 0\n"                                                                                                \
            ".popsection\n")

EMBED(kerf_page_css, KERF_REPORTS_FOLDER "/page.css");
EMBED(kerf_page_js, KERF_REPORTS_FOLDER "/page.js");

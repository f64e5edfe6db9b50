#pragma once

/* What the variable OWN_WORD was when this library was loaded, or "nothing". */
const char *own_library_word(void);

/* Other names by which people know a language, for who asks for a run. */
#pragma once

/*
 * The name of the runtime that `word` usually means: "py" is "python", "js" and "node" are "javascript",
 * "sh" is "bash".  NULL: it is no such word.  A runtime that is really called so comes first.
 */
const char *language_of_alias(const char *word);

#include "proto/job/language.h"
#include "tests/check.h"

TEST(short_names_mean_a_runtime)
{
	CHECK_STR(language_of_alias("py"), "python");
	CHECK_STR(language_of_alias("js"), "javascript");
	CHECK_STR(language_of_alias("node"), "javascript");
	CHECK_STR(language_of_alias("sh"), "bash");
	CHECK(!language_of_alias("python"));
	CHECK(!language_of_alias("p"));
}

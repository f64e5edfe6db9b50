#include "sandbox/runtimes/python/processors.h"

#include <dlfcn.h>
#include <stddef.h>

#include "proto/base/container.h"

/* The names of these libraries in distributions and wheels. */
static const struct {
	const char *library, *function;
} pools[] = {
	{ "libopenblas.so.0", "openblas_set_num_threads" },
	{ "libblas.so.3", "openblas_set_num_threads" },
	{ "libopenblas64_.so.0", "openblas_set_num_threads64_" },
	{ "libblis.so.4", "bli_thread_set_num_threads" },
	{ "libmkl_rt.so", "MKL_Set_Num_Threads" },
	{ "libgomp.so.1", "omp_set_num_threads" },
	{ "libomp.so.5", "omp_set_num_threads" },
};

void processors_use(int count)
{
	for (size_t i = 0; i < COUNT_OF(pools); i++) {
		void *library = dlopen(pools[i].library, RTLD_NOW | RTLD_NOLOAD);
		void (*use)(int count) = NULL;

		if (!library)
			continue;
		*(void **)&use = dlsym(library, pools[i].function);
		if (use)
			use(count);
		(void)dlclose(library);
	}
}

/* Finds the struct that holds a member, and checks the member's type. */
#pragma once

#include <stddef.h>

#define container_of(pointer, type, member)                                                      \
	({                                                                                       \
		_Static_assert(__builtin_types_compatible_p(                                     \
				       __typeof__(*(pointer)), __typeof__(((type *)0)->member)), \
			"container_of: the pointer is not of the member's type");                \
		(type *)(void *)((char *)(pointer)-offsetof(type, member));                      \
	})

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

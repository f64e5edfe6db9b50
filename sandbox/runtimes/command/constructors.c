#include "sandbox/runtimes/command/constructors.h"

#include <link.h>
#include <stdint.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/jail_dirs.h"
#include "sandbox/runtimes/command/tree.h"

#define ANY 0x100 /* a byte of an address */

/* What the compiler adds to every library, after `endbr64` if that is there. */
static const uint16_t empty_init[] = {
	0x48, 0x83, 0xec, 0x08,               /* sub $8, %rsp */
	0x48, 0x8b, 0x05, ANY, ANY, ANY, ANY, /* mov __gmon_start__, %rax */
	0x48, 0x85, 0xc0, 0x74, 0x02,         /* if it is there, */
	0xff, 0xd0,                           /* call it */
	0x48, 0x83, 0xc4, 0x08, 0xc3,         /* add $8, %rsp; ret */
};
/* It jumps to what is close in front. */
static const uint16_t empty_constructor[] = { 0xe9, ANY, 0xff, 0xff, 0xff };
static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

static bool is_code(Elf64_Addr address, const uint16_t *code, size_t len)
{
	const uint8_t *bytes = (const uint8_t *)address;

	if (memcmp(bytes, endbr64, sizeof(endbr64)) == 0)
		bytes += sizeof(endbr64);
	for (size_t i = 0; i < len; i++)
		if (code[i] != ANY && code[i] != bytes[i])
			return false;
	return true;
}

static bool contains(const struct dl_phdr_info *object, Elf64_Addr address)
{
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const Elf64_Phdr *segment = &object->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD &&
			address - object->dlpi_addr - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

static const Elf64_Dyn *dynamic_of(const struct dl_phdr_info *object)
{
	static const Elf64_Dyn none = { .d_tag = DT_NULL };

	for (unsigned i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const Elf64_Dyn *)(object->dlpi_addr +
						   object->dlpi_phdr[i].p_vaddr);
	return &none;
}

static Elf64_Addr value_of(const Elf64_Dyn *entry, Elf64_Sxword tag)
{
	for (; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == tag)
			return entry->d_un.d_val;
	return 0;
}

/* What ours do does not depend on the job. */
static bool is_ours(const struct dl_phdr_info *object)
{
	static const char *const folders[] = { JAIL_HARNESS_DIR "/", TREE_AHEAD_DIR "/" };

	for (size_t i = 0; i < COUNT_OF(folders); i++)
		if (strncmp(object->dlpi_name, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}

static bool has_own(const struct dl_phdr_info *object)
{
	const Elf64_Dyn *dynamic = dynamic_of(object);
	const Elf64_Addr init = value_of(dynamic, DT_INIT);
	const Elf64_Addr list = value_of(dynamic, DT_INIT_ARRAY);
	const size_t bytes = value_of(dynamic, DT_INIT_ARRAYSZ);

	if (init && !is_code(object->dlpi_addr + init, empty_init, COUNT_OF(empty_init)))
		return true;
	if (bytes == 0)
		return false;
	return bytes > sizeof(Elf64_Addr) ||
	       !is_code(*(const Elf64_Addr *)(object->dlpi_addr + list), empty_constructor,
		       COUNT_OF(empty_constructor));
}

struct search {
	Elf64_Addr libc;
	bool is_later; /* the interpreter itself comes first */
};

/* The interpreter's own constructors run when it begins, but for those that run before all others. */
static int look(struct dl_phdr_info *object, size_t size, void *context)
{
	struct search *search = context;
	const bool is_library = search->is_later;

	(void)size;
	search->is_later = true;
	if (!is_library)
		return value_of(dynamic_of(object), DT_PREINIT_ARRAYSZ) > 0;
	return !contains(object, search->libc) && !is_ours(object) && has_own(object);
}

bool constructors_have_run(const void *in_libc)
{
	struct search search = { .libc = (Elf64_Addr)in_libc };

	return dl_iterate_phdr(look, &search) != 0;
}

# Every foreign library, named once.  Each has one room in the house (docs/ARCHITECTURE.md);
# tests/lint/layers.py refuses its header anywhere else.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

# Where a library has several names, the first one that is there.
function(ced_dependency name)
	if(NOT TARGET PkgConfig::${name})
		pkg_search_module(${name} REQUIRED IMPORTED_TARGET GLOBAL ${ARGN})
	endif()
endfunction()

# Debian 12 calls it msgpack, Debian 13 msgpack-c; clients/c/ced.pc names the one that was found.
# The .pc of Debian 13 has a relative folder.  Its header is where the compiler looks anyway.
ced_dependency(MSGPACK "msgpack-c>=4.0" "msgpack>=4.0") # proto/wire/wire.c, clients/c
get_target_property(folders PkgConfig::MSGPACK INTERFACE_INCLUDE_DIRECTORIES)
list(FILTER folders INCLUDE REGEX "^/")
set_target_properties(PkgConfig::MSGPACK PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${folders}")
ced_dependency(JANSSON "jansson>=2.14")         # proto/json.c
ced_dependency(PCRE2   "libpcre2-8>=10.40")     # proto/schema/pattern.c
ced_dependency(SODIUM  "libsodium>=1.0.18")     # proto/digest.c
ced_dependency(SECCOMP "libseccomp>=2.5.4")     # sandbox/filter/seccomp.c
ced_dependency(CAPNG   "libcap-ng>=0.8.3")      # sandbox/jail/caps.c
ced_dependency(SQLITE3 "sqlite3>=3.40")         # store/
ced_dependency(ZSTD    "libzstd>=1.5")          # store/
ced_dependency(UV      "libuv>=1.44")           # daemon/
ced_dependency(UTF8PROC libutf8proc)            # daemon/inspector/names.c; its .pc misstates 2.8 as 2.6

# The inspector's jail holds its binary and libc, nothing else: utf8proc goes into the binary.
find_library(CED_UTF8PROC_ARCHIVE libutf8proc.a REQUIRED)
ced_dependency(PYTHON3 "python3>=3.9")          # sandbox/runtimes/python/: headers only

# The jail of ced-egress likewise holds nothing but its binary and libc.
ced_dependency(CARES   "libcares>=1.18")        # daemon/egress/names.c
find_library(CED_CARES_ARCHIVE libcares.a REQUIRED)

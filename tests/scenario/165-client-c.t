#!/bin/bash
# The C client as others get it: installed, compiled in their ways, as the page shows it; and how many
# of its lines the tests reach.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/python_client.sh"
[[ $(id -u) == 0 ]] || skip_all "sessions need cgroups"
c=$source/clients/c
patient_daemon

# --- in other people's builds --------------------------------------------------------------------
strict=(-Wall -Wextra -Wconversion -Werror -Wpedantic -O2)
for compiler in gcc clang; do
	command -v "$compiler" >/dev/null || bail "no $compiler here: ./dev setup build lint installs it"
	exits 0 "$compiler compiles it as C11 without a warning" "$compiler" -std=c11 "${strict[@]}" -c "$c/ced.c" -o "$work/ced-$compiler.o"
done
echo '#include <ced.h>' >use.cc
exits 0 "the header is C++" g++ -std=c++11 "${strict[@]}" -I"$c" -fsyntax-only use.cc
is "$(nm --defined-only --extern-only "$work/ced-gcc.o" | awk '{ print $3 }' | grep -vc '^ced_')" 0 "all its symbols begin with ced_"
is "$(nm "$work/ced-gcc.o" | grep -cE ' [BbDdC] ')" 0 "it has no global state"
unlike "$(nm --undefined-only "$work/ced-gcc.o")" ' (exit|_exit|abort|printf|fprintf|puts|signal|sigaction)$' "it neither exits nor prints nor touches signals"

# --- installed, with the examples of the page ----------------------------------------------------
exits 0 "it is installed by itself" cmake --install "$CED_BUILD" --component clients-c --prefix "$work/usr"
is "$(cd "$work/usr" && find . -name 'ced*' -o -name 'libced*' | sed 's,.*/,,' | sort | tr '\n' ' ')" \
	"ced.h ced.pc libced.a libced.so libced.so.0 libced.so.0.1.0 " "header, libraries and pkg-config's file"
# The file names the prefix of the build; pkg-config takes another.
folder=$(dirname "$(find "$work/usr" -name ced.pc)")
flags() { PKG_CONFIG_PATH=$folder pkg-config --define-variable=prefix="$work/usr" "$@" ced; }
cat >blocks.py <<'PY'
import re
import sys

blocks = re.findall(r"^```(\w+)\n(.*?)^```$", open(sys.argv[1], encoding="utf-8").read(), re.M | re.S)
programs = [number for number, (language, _) in enumerate(blocks) if language == "c"]
for number in programs:
    assert blocks[number + 1][0] == "output", f"program {number} has no output"
    for suffix, text in (("c", blocks[number][1]), ("out", blocks[number + 1][1])):
        open(f"{number}.{suffix}", "w", encoding="utf-8").write(text)
    print(number)
PY
mapfile -t programs < <(/usr/bin/python3 blocks.py "$c/README.md")
is "${#programs[@]}" 6 "the page has its six programs"
mapfile -t compile < <(flags --cflags --libs | xargs -n1)
for number in "${programs[@]}"; do
	exits 0 "program $number compiles as it stands" gcc -Wall -Wextra -Werror "$number.c" -o "$number" "${compile[@]}"
	exits 0 "and runs with the shared library" env LD_LIBRARY_PATH="$(dirname "$folder")" "./$number"
	is "$out" "$(<"$number.out")" "and prints what the page says"
done
mapfile -t compile < <(flags --static --cflags --libs | xargs -n1)
exits 0 "the static library links, too" gcc "${programs[0]}.c" -o static -Wl,-Bstatic "${compile[@]}" -Wl,-Bdynamic
exits 0 "and runs" ./static

# --- coverage ------------------------------------------------------------------------------------
mkdir coverage
cd coverage || bail "no folder"
counted=(gcc -std=gnu17 -D_GNU_SOURCE -O0 -g --coverage -I"$source" -I"$CED_BUILD/generated")
libraries=("$CED_BUILD/lib/libced_proto.a" "$CED_BUILD/lib/libced_base.a")
for module in msgpack jansson libpcre2-8 libsodium; do
	mapfile -t -O "${#libraries[@]}" libraries < <(pkg-config --libs "$module" | xargs -n1)
done
wraps=()
for name in malloc calloc realloc strdup strndup read __read_chk write recvmsg sendmsg; do wraps+=("-Wl,--wrap=$name"); done
exits 0 "the client is compiled with counters" "${counted[@]}" -c "$c/ced.c" -o ced.o
exits 0 "its own tests" "${counted[@]/--coverage/-fno-profile-arcs}" "$source/tests/unit/test_ced_client.c" \
	"$source/tests/check_main.c" "$source/tests/fault.c" ced.o "${wraps[@]}" -lgcov -o unit
exits 0 "and the cases are linked to it" "${counted[@]/--coverage/-fno-profile-arcs}" "$source/tests/clients/conformance.c" ced.o \
	"${libraries[@]}" -lm -lgcov -o cases
exits 0 "its own tests pass" env -u CED_SOCKET ./unit
exits 0 "the cases pass" ./cases "$conformance/runs.json" "$conformance/tools.json" "$conformance/sessions.json"
gcov -n ced.o >said 2>&1
share=$(sed -n "/ced\.c'/{n;s/Lines executed:\([0-9.]*\)% of \([0-9]*\)/\1 \2/p}" said)
ok "$(awk -v said="$share" 'BEGIN { split(said, n, " "); print !(n[1] >= 90 && n[2] > 500) }')" "they reach at least 90 of 100 lines: ${share/ / % of }"
exits 0 "the record holds" cectl audit verify
done_testing

#!/bin/bash
# The container files of packaging/container: one that calls the daemon of its host, and one with a
# daemon of its own.  Their base is a Debian that mmdebstrap makes, so no registry is asked.
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
[[ $(id -u) == 0 ]] || skip_all "only root makes the base"
for tool in buildah podman runc mmdebstrap cpack; do
	command -v "$tool" >/dev/null || skip_all "$tool is not installed: ./dev setup vm package"
done

# --- builder ---------------------------------------------------------------------------------------

images=$work/images
mkdir -p "$images"
cat >"$images/storage.conf" <<END
[storage]
driver = "vfs"
graphroot = "$images/graph"
runroot = "$images/run"
END
cat >"$images/containers.conf" <<'END'
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
END
export CONTAINERS_STORAGE_CONF=$images/storage.conf CONTAINERS_CONF=$images/containers.conf
# No container may have more of these than the host's own shell.
limits=(--ulimit "nofile=1024:$(ulimit -Hn)" --ulimit "nproc=1024:1024")
demo=ced-demo-$$
leave() {
	local status=$?
	timeout 60 podman rm --force --time 5 --ignore "$demo" >/dev/null 2>&1
	(exit "$status")
	ced_leave
}
trap leave EXIT

container() { timeout 300 podman run "${limits[@]}" --network none --rm "$@"; }

# done_well NAME: of the command before it, whose words are in $work/log.
done_well() {
	local status=$?
	ok "$status" "$1"
	[[ $status == 0 ]] || diag "$(tail -n 5 "$work/log")"
}

# image NAME: as the first lines of its file say, from the packages in $work/packages.
image() {
	timeout 900 buildah bud --isolation chroot --build-arg BASE=localhost/ced-base \
		-f "$CED_SOURCE/packaging/container/$1.Containerfile" -t "ced-$1" "$work/packages" >"$work/log" 2>&1
	done_well "the image ced-$1 is built"
}

cmake --build "$CED_BUILD" --target package_parts >"$work/log" 2>&1 || bail "package_parts: $(tail -n 5 "$work/log")"
(umask 022 && cd "$CED_BUILD" && cpack -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip -B "$work/packages") >"$work/log" 2>&1
done_well "packages are made"
rm -rf "$work/packages/_CPack_Packages"
timeout 900 mmdebstrap --quiet --variant=minbase "${CED_SUITE:-bookworm}" "$images/base.tar" >"$work/log" 2>&1 ||
	skip_all "no Debian packages to be had"
podman import --quiet "$images/base.tar" localhost/ced-base >"$work/log" 2>&1 || bail "podman import: $(tail -n 5 "$work/log")"
rm "$images/base.tar"
image caller
image demo

# --- one that calls --------------------------------------------------------------------------------

daemon_start
caller=(--volume "$(dirname "$CED_SOCKET"):/run/ced" --env "CED_SOCKET=/run/ced/$(basename "$CED_SOCKET")")
is "$(container "${caller[@]}" --user 0 ced-caller run -c 'print(6 * 7)' 2>&1)" 42 "a container runs a program on its host"
is "$(json "$(cectl runs --json)" '[run["uid"] for run in it["runs"]]')" "[0]" \
	"the record has the caller's uid as the host knows it"
is "$(container "${caller[@]}" --user 0 --entrypoint python3 ced-caller -c '
import ced
with ced.Client() as client: print(client.run("print(1)").outcome)' 2>&1)" ok "so does the client for Python"
is "$(container --entrypoint id ced-caller -u)" 65534 "it is nobody, if nothing else is said"
like "$(container ced-caller run -c 1 2>&1)" 'no daemon answers at /run/ced/ced.sock' "without the socket it says so"

# --- one with a daemon -----------------------------------------------------------------------------

like "$(container ced-demo 2>&1)" 'layer=memory .*repair=' "without --privileged, ced says what is missing and ends"
container --detach --name "$demo" --privileged ced-demo >"$work/log" 2>&1
done_well "the daemon starts in its container"
inside() { timeout 300 podman exec "$demo" "$@"; }
for ((tries = 0; tries < 600; tries++)); do
	! inside cectl status >/dev/null 2>&1 || break
	sleep 0.2
done
is "$(inside cectl run -c 'print(6 * 7)' 2>&1)" 42 "it runs a program"
is "$(inside cectl run --language bash -c 'id -u; ls /var/lib/ced' 2>&1 | head -1)" 1000 "in a jail"
like "$(inside cectl run -c 'x = bytearray(10**9)' 2>&1)" 'memory_limit' "whose limits hold"
like "$(inside cectl doctor 2>&1)" 'namespaces' "doctor looks at the container as at a host"
is "$(inside cectl audit verify >/dev/null 2>&1; echo $?)" 0 "its record holds"
podman stop --time 60 "$demo" >"$work/log" 2>&1
done_well "it stops"
done_testing

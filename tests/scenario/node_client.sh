# Sourced after lib.sh by scenarios of clients/node.
# shellcheck shell=bash

# node_client_build: builds a copy of clients/node in $client, with the packages that the build has fetched.
client=${work:?}/client
node_client_build() {
	local source=${here:?}/../../clients/node packages=$here/../../build/node-client/node_modules
	[[ -d $packages/typescript ]] || bail "build/node-client has no packages: build the target node_client_packages"
	mkdir -p "$client"
	cp -r "$source"/{package.json,package-lock.json,tsconfig.json,build.mjs,README.md,src,test} "$client/"
	ln -s "$(realpath "$packages")" "$client/node_modules"
	(cd "$client" && node build.mjs)
}

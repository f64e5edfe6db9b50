#!/bin/bash
# node-parts.sh SOURCE MODULES OUT: what node-ced installs.  tsc writes no path of this machine, since
# it runs in a copy with relative paths; maps of the source stay with the source.
set -euo pipefail
source=$1 modules=$2 out=$3
rm -rf "$out" "$out.work"
mkdir -p "$out.work" "$out"
cp -r "$source"/{package.json,tsconfig.json,build.mjs,README.md,src} "$out.work/"
ln -s "$modules" "$out.work/node_modules"
(cd "$out.work" && node build.mjs)
cp -r "$out.work"/{package.json,dist} "$out/"
find "$out" -name '*.map' -delete
find "$out" -name '*.js' -exec sed -i '/^\/\/# sourceMappingURL=/d' {} +
msgpack=$out/node_modules/@msgpack/msgpack
mkdir -p "$msgpack"
cp -r "$modules"/@msgpack/msgpack/{package.json,dist.cjs,dist.esm} "$msgpack/"
find "$msgpack" -name '*.map' -delete
find "$msgpack" -type f \( -name '*.cjs' -o -name '*.mjs' \) -exec sed -i '/^\/\/# sourceMappingURL=/d' {} +
find "$out" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
rm -rf "$out.work"

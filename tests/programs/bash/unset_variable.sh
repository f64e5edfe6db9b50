set -u
echo before
echo "$not_there"
echo never

echo before
if true; then
  echo open

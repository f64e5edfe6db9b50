printf '\x00\x01\xff\xfe'
head -c 16 /dev/zero | tr '\0' 'z'

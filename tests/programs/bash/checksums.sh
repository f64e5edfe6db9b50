printf 'abc' >f
md5sum f; sha1sum f; sha256sum f; cksum f; sha256sum f >sums; sha256sum -c sums
printf 'abc' | base64; printf 'YWJj' | base64 -d; echo; printf 'abc' | od -An -tx1

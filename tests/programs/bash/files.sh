mkdir -p a/b/c && echo content >a/b/file && cp a/b/file a/copy && mv a/copy a/moved
ls -R a | sort
cat a/moved; wc -c <a/moved; [[ -f a/moved && -d a/b && ! -e a/none ]] && echo tests
echo more >>a/moved; head -n 1 a/moved; tail -n 1 a/moved
chmod 640 a/moved; stat -c '%a %s' a/moved
rm -r a/b; ls a; basename /x/y.txt .txt; dirname /x/y.txt
touch -d 2020-01-01 old; [[ a/moved -nt old ]] && echo newer

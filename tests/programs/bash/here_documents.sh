name=world
cat <<END
hello $name $((1 + 1)) $(echo sub)
END
cat <<'END'
raw $name
END
cat <<-END
	tabs are taken away
END
tr a-z A-Z <<<"a here string"

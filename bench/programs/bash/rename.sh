NUMBER=0
folder=$(mktemp -d)
cd "$folder" || exit
for i in 1 2 3 4; do
	echo "text $i $NUMBER" >"photo $i.JPG"
done
for file in *.JPG; do
	name=${file%.JPG}
	mv -- "$file" "${name// /_}.jpg"
done
printf '%s\n' *
wc -l ./*.jpg | tail -n 1
rm -r "$folder"

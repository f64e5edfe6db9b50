for word in apple.txt image.PNG 42 -x "" äb; do
	case $word in
	*.txt | *.md) echo text ;;
	*.[pP][nN][gG]) echo picture ;;
	[0-9]*) echo number ;;
	-*) echo option ;;
	"") echo empty ;;
	*) echo "other ${#word}" ;;
	esac
done

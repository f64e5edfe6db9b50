# env: GREETING=hällo wörld
echo "$GREETING" "$HOME" "$LANG" "$TZ"
export OTHER=x
printenv OTHER; bash_only=1; printenv bash_only || echo "not exported"
TZ=Asia/Tokyo date -d @0 +%H:%M; date -u -d 2024-02-29 +%a

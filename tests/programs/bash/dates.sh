date -u -d '2024-02-28 +2 days' +%F; date -u -d @86400 +'%Y-%m-%d %H:%M:%S'
TZ=America/New_York date -d @1700000000 +'%F %T %Z'
printf '%(%Y)T\n' 0

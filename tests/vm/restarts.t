#!/bin/bash
# The service on a stock Debian 12 is reloaded and restarted while clients are answered, who lose nothing and
# are never refused.
# CED_RELOADS, CED_RESTARTS: how often.
export CED_VM_LIFE_S=${CED_VM_LIFE_S:-5400}
. "$(dirname "$0")/lib.sh"
vm_prepare
vm_install /usr/local
mkdir -p "$vm_payload/opt/ced/source/tests"
cp -r "$CED_SOURCE/tests/scenario" "$CED_SOURCE/tests/vm" "$vm_payload/opt/ced/source/tests/"
vm_boot
vm_run 'systemd-sysusers
	mkdir -p /etc/systemd/system/ced.service.d
	printf "[Unit]\nStartLimitIntervalSec=0\n[Service]\nTimeoutStartSec=900\n" >/etc/systemd/system/ced.service.d/slow.conf
	echo "queue_ms = 10min" >>/usr/local/etc/ced/ced.conf
	systemctl daemon-reload && systemctl enable --now ced.socket ced 2>&1'
ok $? "the service is installed and starts"
vm_tap load "python3 /opt/ced/source/tests/vm/restarts-guest.py ${CED_RELOADS:-500} ${CED_RESTARTS:-50}" "$CED_VM_LIFE_S"
is "$(vm_run 'cectl audit verify 2>/dev/null | tail -n 1' 900)" "no change found" "the record is whole"
is "$(vm_run 'systemctl --failed --no-legend')" "" "systemd has nothing to complain of"
done_testing

#!/bin/bash
# The host service on a stock Debian 12: installed, started by systemd, used, hardened, removed.
. "$(dirname "$0")/lib.sh"
vm_prepare
vm_install /usr/local
install -D -t "$vm_payload/opt" "$here/guest.sh" "$here/service-guest.sh"
vm_boot
vm_tap service 'bash /opt/service-guest.sh' 1800
done_testing

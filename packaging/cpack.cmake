# Read by each run of cpack: what Debian wants to know about each package.  The version is known only
# here, because `cpack -R VERSION` gives another one.

set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(same "= ${CPACK_PACKAGE_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs code written by language-model agents in jails")
set(about "A local agent sends a program over a Unix socket.  The daemon checks it
against a policy, runs it in a jail, kills it when it passes a limit,
and answers when the record of the run is on the disk.")

# The jails bind-mount interpreters of the host: python3 always, node and the tools of bash if they are there.
set(CPACK_DEBIAN_CED_PACKAGE_NAME ced)
set(CPACK_DEBIAN_CED_DESCRIPTION "${about}\n.\nThis package has the daemon and its programs.")
set(CPACK_DEBIAN_CED_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_CED_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_CED_PACKAGE_DEPENDS "cectl (${same}), python3 (>= 3.9), init-system-helpers (>= 1.54), systemd | systemd-standalone-sysusers, systemd | systemd-standalone-tmpfiles")
set(CPACK_DEBIAN_CED_PACKAGE_RECOMMENDS "nodejs")
set(CPACK_DEBIAN_CED_PACKAGE_SUGGESTS "python3-ced, node-ced, python3-numpy, python3-pandas, python3-matplotlib")
foreach(script postinst prerm postrm conffiles)
	list(APPEND scripts ${CPACK_CED_PACKAGING}/ced/${script})
endforeach()
set(CPACK_DEBIAN_CED_PACKAGE_CONTROL_EXTRA "${scripts}")

set(CPACK_DEBIAN_CECTL_PACKAGE_NAME cectl)
set(CPACK_DEBIAN_CECTL_DESCRIPTION "${about}\n.\nThis package has the command line, which is all that a caller needs,
on the host or in a container with the socket.")
set(CPACK_DEBIAN_CECTL_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_CECTL_PACKAGE_SUGGESTS "ced, python3")

set(CPACK_DEBIAN_PYTHON3-CED_PACKAGE_NAME python3-ced)
set(CPACK_DEBIAN_PYTHON3-CED_DESCRIPTION "${about}\n.\nThis package has the module ced for Python, and its fixtures for pytest.")
set(CPACK_DEBIAN_PYTHON3-CED_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON3-CED_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3-CED_PACKAGE_DEPENDS "python3 (>= 3.9), python3-msgpack")
set(CPACK_DEBIAN_PYTHON3-CED_PACKAGE_SUGGESTS "ced")
set(CPACK_DEBIAN_PYTHON3-CED_PACKAGE_CONTROL_EXTRA
	"${CPACK_CED_PACKAGING}/python3-ced/postinst;${CPACK_CED_PACKAGING}/python3-ced/prerm")

set(CPACK_DEBIAN_NODE-CED_PACKAGE_NAME node-ced)
set(CPACK_DEBIAN_NODE-CED_DESCRIPTION "${about}\n.\nThis package has the module ced for node, by import and by require.")
set(CPACK_DEBIAN_NODE-CED_PACKAGE_SECTION javascript)
set(CPACK_DEBIAN_NODE-CED_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_NODE-CED_PACKAGE_DEPENDS "nodejs (>= 18)")
set(CPACK_DEBIAN_NODE-CED_PACKAGE_SUGGESTS "ced")


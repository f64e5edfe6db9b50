# Run by `cmake --install`: what depends on the prefix that was chosen.

# absolute(VAR word): a folder of GNUInstallDirs below the prefix; for /usr, settings are in /etc.
function(absolute result folder)
	if(NOT IS_ABSOLUTE "${folder}")
		if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND folder STREQUAL "etc")
			set(folder /etc)
		else()
			set(folder ${CMAKE_INSTALL_PREFIX}/${folder})
		endif()
	endif()
	set(${result} ${folder} PARENT_SCOPE)
endfunction()

absolute(CED_BIN ${ced_BINDIR})
absolute(CED_LIBEXEC ${ced_LIBEXECDIR}/ced)
absolute(CED_ETC ${ced_SYSCONFDIR})
absolute(CED_DOC ${ced_DOCDIR})
set(CED_ETC ${CED_ETC}/ced)
set(CED_LIB ${CMAKE_INSTALL_PREFIX}/lib)
set(CED_SHARE ${CMAKE_INSTALL_PREFIX}/share/ced)

# fill(name...): files whose paths are filled in, from NAME.in to the folder of what was made.
function(fill)
	foreach(name ${ARGN})
		configure_file(${ced_systemd}/${name}.in ${ced_made}/${name} @ONLY)
	endforeach()
endfunction()

fill(ced.socket ced.service ced-alerts.service user/ced.socket user/ced.service ced.apparmor)
file(INSTALL ${ced_made}/ced.socket ${ced_made}/ced.service ${ced_made}/ced-alerts.service
	${ced_systemd}/ced.slice DESTINATION ${CED_LIB}/systemd/system)
file(INSTALL ${ced_made}/user/ced.socket ${ced_made}/user/ced.service DESTINATION ${CED_LIB}/systemd/user)
file(INSTALL ${ced_systemd}/ced.catalog DESTINATION ${CED_LIB}/systemd/catalog)
file(INSTALL ${ced_systemd}/ced.sysusers DESTINATION ${CED_LIB}/sysusers.d RENAME ced.conf)
file(INSTALL ${ced_systemd}/ced.tmpfiles DESTINATION ${CED_LIB}/tmpfiles.d RENAME ced.conf)
# Where AppArmor needs it, the package's script copies it to /etc/apparmor.d/.
file(INSTALL ${ced_made}/ced.apparmor DESTINATION ${CED_SHARE}/apparmor.d RENAME ced)
file(INSTALL ${ced_systemd}/../examples/private.conf DESTINATION ${CED_SHARE})

# An administrator's own settings are never written over.
if(NOT EXISTS $ENV{DESTDIR}${CED_ETC}/ced.conf)
	file(INSTALL ${ced_systemd}/ced.conf DESTINATION ${CED_ETC})
else()
	message(STATUS "Kept as it is: $ENV{DESTDIR}${CED_ETC}/ced.conf")
endif()

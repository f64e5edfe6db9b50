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

configure_file(${ced_systemd}/ced.service.in ${ced_made}/ced.service @ONLY)
configure_file(${ced_systemd}/ced-alerts.service.in ${ced_made}/ced-alerts.service @ONLY)
file(INSTALL ${ced_made}/ced.service ${ced_made}/ced-alerts.service ${ced_systemd}/ced.slice
	DESTINATION ${CED_LIB}/systemd/system)
file(INSTALL ${ced_systemd}/ced.sysusers DESTINATION ${CED_LIB}/sysusers.d RENAME ced.conf)
file(INSTALL ${ced_systemd}/ced.tmpfiles DESTINATION ${CED_LIB}/tmpfiles.d RENAME ced.conf)

# An administrator's own settings are never written over.
if(NOT EXISTS $ENV{DESTDIR}${CED_ETC}/ced.conf)
	file(INSTALL ${ced_systemd}/ced.conf DESTINATION ${CED_ETC})
else()
	message(STATUS "Kept as it is: $ENV{DESTDIR}${CED_ETC}/ced.conf")
endif()

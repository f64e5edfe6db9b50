# ced_npm(FOLDER PINS COMMENT FILE...): fetches what PINS/package-lock.json names into FOLDER, which
# all presets share.  A FILE is one of those that come with it.
function(ced_npm folder pins comment)
	add_custom_command(OUTPUT ${ARGN}
		COMMAND bash ${CMAKE_SOURCE_DIR}/cmake/fetch-npm.sh ${pins} ${folder} ${ARGN}
		DEPENDS ${pins}/package.json ${pins}/package-lock.json
			${CMAKE_SOURCE_DIR}/cmake/fetch-npm.sh
		COMMENT "${comment}"
		VERBATIM)
endfunction()

# The npm packages with which clients/node is built and tested, as its package-lock.json pins them.
# They lie in build/node-client/, which all presets share, so they are fetched once.  Tests fetch nothing.
set(node_client_pins ${CMAKE_SOURCE_DIR}/clients/node)
set(node_client_folder ${CMAKE_SOURCE_DIR}/build/node-client)
set(node_client_compiler ${node_client_folder}/node_modules/typescript/lib/tsc.js)

add_custom_command(OUTPUT ${node_client_compiler}
	COMMAND bash ${CMAKE_SOURCE_DIR}/cmake/fetch-grammars.sh ${node_client_pins} ${node_client_folder} ${node_client_compiler}
	DEPENDS ${node_client_pins}/package.json ${node_client_pins}/package-lock.json
		${CMAKE_SOURCE_DIR}/cmake/fetch-grammars.sh
	COMMENT "Fetching the packages of clients/node"
	VERBATIM)
add_custom_target(node_client_packages ALL DEPENDS ${node_client_compiler})

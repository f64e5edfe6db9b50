# The npm packages with which clients/node is built and tested.  Tests fetch nothing; a build without
# tests fetches them only for package_parts.
set(packages ${CMAKE_SOURCE_DIR}/build/node-client)
set(compiler ${packages}/node_modules/typescript/lib/tsc.js)
ced_npm(${packages} ${CMAKE_SOURCE_DIR}/clients/node "Fetching the packages of clients/node" ${compiler})
if(CED_TESTS)
	set(always ALL)
endif()
add_custom_target(node_client_packages ${always} DEPENDS ${compiler})

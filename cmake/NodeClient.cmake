# The npm packages with which clients/node is built and tested.  Tests fetch nothing.
set(packages ${CMAKE_SOURCE_DIR}/build/node-client)
set(compiler ${packages}/node_modules/typescript/lib/tsc.js)
ced_npm(${packages} ${CMAKE_SOURCE_DIR}/clients/node "Fetching the packages of clients/node" ${compiler})
add_custom_target(node_client_packages ALL DEPENDS ${compiler})

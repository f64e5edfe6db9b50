# Before cpack packs: no file is younger than the source, so that the same source gives the same bytes.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
	execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY} -exec
		touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} {} + COMMAND_ERROR_IS_FATAL ANY)
endif()

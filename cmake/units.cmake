# Sources of a target are compiled eight at a time, so that the headers they share are parsed once. Files that stand beside each other are much alike and use the same short names, so they come into different units.
# A source whose names of its own are those of another in its unit gives them better ones, or stands in cmake/alone.txt.
# Only where a preset has CMAKE_UNITY_BUILD on.
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/alone.txt alone REGEX "^[^#]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cmake/alone.txt)
list(TRANSFORM alone PREPEND ${PROJECT_SOURCE_DIR}/)

function(acu_units target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]cc$")
  list(LENGTH sources count)
  math(EXPR units "(${count} + 7) / 8")
  set(number 0)
  foreach(source IN LISTS sources)
    math(EXPR unit "${number} % ${units}")
    math(EXPR number "${number} + 1")
    if(NOT source IN_LIST alone)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${unit})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

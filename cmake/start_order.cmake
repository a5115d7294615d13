# The functions of a start next to each other, for GNU ld: cmake -DOUT=… -DNAMES=start_order.txt -P start_order.cmake
# A name that the program does not have (any more) changes nothing; one that is missing stays where it is.
file(STRINGS "${NAMES}" names)
set(text "SECTIONS\n{\n  .text.start :\n  {\n")
foreach(name IN LISTS names)
  string(APPEND text "    *(.text.${name} .text.startup.${name})\n")
endforeach()
string(APPEND text "  }\n}\nINSERT BEFORE .text;\n")
file(WRITE "${OUT}" "${text}")

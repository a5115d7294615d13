# The files of a folder as named texts in a C++ source, in the order of their names:
# cmake -DOUT=… -DFOLDER=src/scripts -DENDING=bt -DHEADER=scripts/scripts.h -DNAMESPACE=scripts -DTYPE=Script -DFUNCTION=all -P embed_folder.cmake
file(GLOB files "${FOLDER}/*.${ENDING}")
list(SORT files)
set(text "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\nstatic constexpr ${TYPE} files[] = {\n")
foreach(file IN LISTS files)
  file(READ "${file}" content)
  get_filename_component(name "${file}" NAME)
  string(APPEND text "{\"${name}\", R\"acu_file(${content})acu_file\"},\n")
endforeach()
string(APPEND text "};\n\nstd::span<const ${TYPE}> ${FUNCTION}() { return files; }\n\n} // namespace ${NAMESPACE}\n")
file(WRITE "${OUT}" "${text}")

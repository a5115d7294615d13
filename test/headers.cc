// Nothing: the headers that all tests share belong to it (CMakeLists.txt).

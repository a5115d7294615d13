#!/bin/sh
# Builds the load whose stacks are known and runs it as acu_stack: stack_load.sh [OPTION OF gcc]... -- MODE [N]
set -e
here=$(dirname "$0")
options=
while [ "$1" != -- ]; do options="$options $1"; shift; done
shift
case "$options" in
*c++*) source=$here/stack_load.cc ;;
*) source=$here/stack_load.c ;;
esac
gcc -O0 -fno-omit-frame-pointer $options -o "$TMP/acu_stack" "$source"
[ "$1" = build ] || exec "$TMP/acu_stack" "$@"

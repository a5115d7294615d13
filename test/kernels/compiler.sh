#!/bin/sh
# gcc and g++ in the machines, under their names: what was built once, in any of them, is taken from $ACU_TEST_PROGRAMS, since an
# emulated processor compiles a small program for ten seconds. It is known by the compiler, by its words and folder, and by the
# files that they name with the headers beside. Folders of the tests' own (/tmp/acu-*) have another name each time: a
# build whose result would have that name in it is not kept.
real=/usr/bin/${0##*/}
out='' last='' where=$(pwd)
case $where in /tmp/acu-*) where='' ;; esac
for word; do
    [ "$last" = -o ] && out=$word
    case $word in - | -c | -E | -S | *-rpath*) exec "$real" "$@" ;; -g) [ "$where" ] || exec "$real" "$@" ;; esac
    last=$word
done
[ -d "$ACU_TEST_PROGRAMS" ] && [ "$out" ] || exec "$real" "$@"
kept=$ACU_TEST_PROGRAMS/$({
    stat -Lc '%n %s %Y' "$real"
    echo "$where"
    for word; do
        [ "$word" = "$out" ] && continue
        case $word in /tmp/acu-*) echo "${word##*/}" ;; -L/tmp/acu-*) ;; *) echo "$word" ;; esac
        [ -f "$word" ] && cat "$word" "${word%/*}"/*.h
    done
} 2>/dev/null | sha1sum | cut -d' ' -f1)
[ -e "$kept" ] && exec cp "$kept" "$out"
"$real" "$@" || exit
cp "$out" "$kept.$$" && mv "$kept.$$" "$kept"

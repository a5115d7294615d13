#!/usr/sbin/dtrace -s
#pragma D option quiet
inline int N = 3;
self int depth;
BEGIN { x = 1; @a[x, "k"] = quantize(x * N); }
syscall::open*:entry /execname != "sh" && arg1/ { self->p = copyinstr(arg1); @[probefunc, self->p] = count(); }
syscall::open*:return /self->p != ""/ { printf("%-10s %d %s\n", execname, errno, self->p); self->p = 0; }
tick-1s { printa("%s %@d\n", @); trunc(@, 5); clear(@a); }
END { normalize(@a, 10); }

#!/usr/sbin/dtrace -s
/*
 * Files that programs try to open, with the error if there was one.
 * RUN: -c "LOAD calls"
 * EXPECT: PID +COMM +ERR PATH
 * EXPECT: acu_dload +0 /dev/zero
 * EXPECT: acu_dload +2 /nonexistent/file
 */
#pragma D option quiet

dtrace:::BEGIN
{
	printf("%6s %-16s %4s %s\n", "PID", "COMM", "ERR", "PATH");
}

syscall::open:entry    { self->path = arg0; }
syscall::openat:entry  { self->path = arg1; }

syscall::open:return, syscall::openat:return
/self->path && execname == "acu_dload"/
{
	this->err = errno;
	printf("%6d %-16s %4d %s\n", pid, execname, this->err, copyinstr(self->path));
}

syscall::open:return, syscall::openat:return
/self->path/
{
	self->path = 0;
}

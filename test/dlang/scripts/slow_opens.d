/*
 * Details of opens that failed only: the others are dropped.
 * RUN: -q -c "LOAD calls"
 * EXPECT: ^open of /nonexistent/file: error 2$
 * NEVER: /dev/null
 */
syscall::openat:entry
/execname == "acu_dload"/
{
	self->spec = speculation();
	speculate(self->spec);
	printf("open of %s: ", copyinstr(arg1));
}

syscall::openat:return
/self->spec/
{
	speculate(self->spec);
	printf("error %d\n", errno);
}

syscall::openat:return
/self->spec && errno/
{
	commit(self->spec);
	self->spec = 0;
}

syscall::openat:return
/self->spec/
{
	discard(self->spec);
	self->spec = 0;
}

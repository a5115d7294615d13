/*
 * Bytes read and written by programs, at intervals.
 * RUN: -q -c "LOAD calls"
 * EXPECT: acu_dload +read +4146 +6$
 * EXPECT: \d{4} \w{3} [ \d]\d \d\d:\d\d:\d\d
 */
syscall::read:return, syscall::write:return
/(int)arg0 > 0/
{
	@bytes[execname, probefunc] = sum(arg0);
	@calls[execname, probefunc] = count();
}

profile:::tick-10s, END
{
	printf("%Y\n", walltimestamp);
	printa("%-16s %-8s %@10d %@8d\n", @bytes, @calls);
	trunc(@bytes);
	trunc(@calls);
}

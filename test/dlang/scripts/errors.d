/*
 * System calls that fail, each error with a word of its own.
 * RUN: -c "LOAD calls"
 * EXPECT: acu_dload +openat +no such file +3$
 */
#pragma D option quiet
inline int ENOENT = 2;
inline int EAGAIN = 11;

syscall:::return
/errno != 0 && execname == "acu_dload"/
{
	this->why = errno == ENOENT ? "no such file" : errno == EAGAIN ? "try again" : "another";
	@[execname, probefunc, this->why] = count();
}

END
{
	printa("%-16s %-10s %-14s %@6d\n", @);
}

/*
 * Counts, total and largest time of system calls.
 * RUN: -q -c "LOAD calls"
 * EXPECT: CALL +COUNT +TOTAL +LARGEST
 * EXPECT: ^openat +11 +\d+ +\d+$
 * EXPECT: ^read +6 +\d+ +\d+$
 */
BEGIN { printf("%-16s %8s %12s %12s\n", "CALL", "COUNT", "TOTAL", "LARGEST"); }

syscall:::entry
/execname == "acu_dload"/
{
	self->start[probefunc] = timestamp;
}

syscall:::return
/self->start[probefunc]/
{
	this->elapsed = timestamp - self->start[probefunc];
	@n[probefunc] = count();
	@total[probefunc] = sum(this->elapsed / 1000 + 1);
	@largest[probefunc] = max(this->elapsed / 1000 + 1);
	self->start[probefunc] = 0;
}

END { printa("%-16s %@8d %@12d %@12d\n", @n, @total, @largest); }

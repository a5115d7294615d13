/*
 * Who takes the CPU from whom, and for how long threads wait.
 * RUN: -q -c "LOAD sleep"
 * EXPECT: ^slept [1-9]\d* times$
 */
sched:::off-cpu
/execname == "acu_dload"/
{
	self->off = timestamp;
	@next[args[1]->pr_fname, args[0]->pr_pri] = count();
}

sched:::sleep
/execname == "acu_dload"/
{
	sleeps++;
}

syscall::*nanosleep:return
/self->off/
{
	@waited = max(timestamp - self->off);
	self->off = 0;
}

END { printf("slept %d times\n", sleeps); }

/*
 * How long processes live, in a distribution, and who made them.
 * RUN: -q -c "/bin/sh -c '/bin/true; /bin/true; :'"
 * EXPECT: by sh: 2
 * EXPECT: Distribution
 */
proc:::create
{
	born[args[0]->pr_pid] = timestamp;
	maker[args[0]->pr_pid] = execname;
}

proc:::exit
/born[pid] && maker[pid] == "sh"/
{
	@lives["ns"] = quantize(timestamp - born[pid]);
	@by[maker[pid]] = count();
	born[pid] = 0;
	maker[pid] = 0;
}

END { printa("by %s: %@d\n", @by); }

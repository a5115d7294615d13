/*
 * What runs on which CPU: samples by program, and CPUs in a linear distribution.
 * RUN: -q -c "LOAD burn 250"
 * EXPECT: acu_dload +\d+%?$
 * EXPECT: value +-+ Distribution -+ count
 */
profile-499
/pid/
{
	@programs[execname] = count();
	@cpus = lquantize(cpu, 0, 64, 1);
}

END
{
	trunc(@programs, 10);
	printa("%-20s %@8d\n", @programs);
	printa("%@d\n", @cpus);
}

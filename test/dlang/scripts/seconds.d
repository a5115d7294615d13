/*
 * A script with an argument and a default: ends after so many hundredths of a second.
 * RUN: -q SCRIPT 5
 * EXPECT: ^5 left$
 * EXPECT: ^done after 5$
 */
#pragma D option defaultargs
int left;
int32_t ticks;

BEGIN
{
	left = $1 ? $1 : 3;
	printf("%d left\n", left);
}

tick-10ms
{
	ticks++;
	left--;
}

tick-10ms
/left == 0/
{
	printf("done after %d\n", ticks);
	exit(0);
}

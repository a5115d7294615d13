/*
 * Calls of functions, indented.
 * RUN: -q -c "LOAD calls"
 * EXPECT: ^  -> work_twice\(9\)$
 * EXPECT: ^  <- work_twice = 18$
 * EXPECT: ^13 calls$
 */
pid$target:a.out:work_*:entry
{
	self->depth += 2;
	calls++;
}

pid$target:a.out:work_*:entry
{
	printf("%*s-> %s(%d)\n", self->depth, "", probefunc, probefunc == "work_twice" ? arg0 : 0);
}

pid$target:a.out:work_*:return
/self->depth > 0/
{
	printf("%*s<- %s = %d\n", self->depth, "", probefunc, arg1);
}

pid$target:a.out:work_*:return
/self->depth > 0/
{
	self->depth -= 2;
}

END { printf("%d calls\n", calls); }

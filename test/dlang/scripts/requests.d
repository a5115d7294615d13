/*
 * Disk requests: sizes and latency by device. Nothing may happen meanwhile, so only the headings are expected.
 * RUN: -q -c "LOAD sleep"
 * EXPECT: ^requests by device$
 */
io:::start
{
	start[args[0]->b_edev, args[0]->b_blkno] = timestamp;
	@sizes[args[1]->dev_major, args[1]->dev_minor, args[0]->b_flags & 64 ? "read" : "write"] = quantize(args[0]->b_bcount);
}

io:::done
/start[args[0]->b_edev, args[0]->b_blkno]/
{
	@times[args[1]->dev_major] = avg(timestamp - start[args[0]->b_edev, args[0]->b_blkno]);
	start[args[0]->b_edev, args[0]->b_blkno] = 0;
}

END
{
	normalize(@times, 1000);
	printf("requests by device\n");
	printa("%d %d %s %@d\n", @sizes);
	printa("%d: %@d us\n", @times);
}

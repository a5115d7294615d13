io:::start { @[args[1]->dev_major] = stddev(args[0]->b_bcount); }
proc:::exit { trace(args[0]); }
sched:::off-cpu { trace(args[0]->pr_lwpid); }
fbt::vfs_read:entry { self->s = speculation(); speculate(self->s); trace(((struct file *)arg0)->f_pos); }
fbt::vfs_read:return { commit(self->s); }

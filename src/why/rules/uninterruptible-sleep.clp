; "It hangs in the kernel (state D), and not even SIGKILL ends it."
; Symptom: the process does nothing and cannot be killed; the load of the host rises while CPUs are idle.
; Cause: a thread waits in the kernel for a device or a server that does not answer (NFS, a failing disk, FUSE).
; Refutation: threads are in state D for moments, as all that read from disks are.
; Thresholds: a disk answers within milliseconds; the kernel itself gives up on most devices after 30 s. Half of the time in state D on average is the sign, 5 s in
; one stretch are no normal read.

(defrule uninterruptible-sleep-sign
  (process (by ?by) (pid ?pid) (blocked ?blocked&:(>= ?blocked 0.5)))
  (request (pid ?asked&:(or (< ?asked 0) (= ?asked ?pid))))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose uninterruptible-sleep ?subject ?by (str-cat (number ?blocked) " of its threads are in state D on average"))
  (ask uninterruptible-sleep ?subject snapshot (target ?pid) 75 "where in the kernel they wait, and since when"))

(defrule uninterruptible-sleep-seen
  (process (pid ?pid) (name ?process))
  (stuck-thread (by ?by) (pid ?pid) (thread ?thread) (state "D") (seconds ?seconds&:(>= ?seconds 5)) (kernel_function ?kernel) (what ?what)
    (function ?function) (file ?file) (line ?line))
  (not (stuck-thread (pid ?pid) (state "D") (seconds ?longer&:(> ?longer ?seconds))))
  =>
  (bind ?subject (process-subject ?pid))
  (see uninterruptible-sleep ?subject ?by (str-cat "thread " ?thread " waits in " ?kernel " for " (first-known ?what "something not known") ", for " (duration (* 1e9 ?seconds)) " now"))
  (explain uninterruptible-sleep ?subject (create$ stuck slow failing) 1 1 1 (str-cat "thread " ?thread " has not run for " (duration (* 1e9 ?seconds))))
  (describe uninterruptible-sleep ?subject
    (str-cat ?process " hangs in the kernel, waiting for " (first-known ?what "a device"))
    (str-cat ?kernel (if (eq ?function "") then "" else (str-cat ", called by " (location ?function ?file ?line))))
    "make the device or server answer again (dmesg, mount, nfsstat); NFS mounts with soft,timeo fail instead of hanging; umount -f ends waits for a dead server"
    "no thread is in state D for more than a second"
    "the thread changes: then it reads or writes a lot from a slow disk"))

(defrule uninterruptible-sleep-not-seen
  (logical (measured (by snapshot) (pid ?pid))
    (process (pid ?pid) (blocked ?blocked&:(>= ?blocked 0.5)))
    (not (stuck-thread (pid ?pid) (state "D") (seconds ?seconds&:(>= ?seconds 1)))))
  =>
  (contradict uninterruptible-sleep (process-subject ?pid) snapshot "no thread stays in state D for a second"))

; "It holds a lock while it waits for a disk or the network, and everyone else waits for that as well."
; Symptom: threads wait for a lock; CPUs and the lock's code are idle.
; Cause: most of the time that others wait, the holder reads, writes, flushes or waits for an answer.
; Refutation: the holder runs, or the lock is hardly waited for.
; Thresholds: 20% of the time in futex calls is the sign, which idle workers have as well. Waits for the lock are worth a finding from 10% of the time on, and
; the holder's I/O is their cause if it fills half of them.

(defrule lock-across-io-sign
  (syscall (by ?by) (pid ?pid) (call "futex") (time ?time&:(>= ?time 0.2)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose lock-across-io ?subject ?by (str-cat "futex calls take " (percent ?time) " of its time"))
  (ask lock-across-io ?subject locks (target ?pid) 80 "which locks are waited for, and what their holders do"))

(defrule lock-across-io-seen
  (process (pid ?pid) (name ?process))
  (lock (by ?by) (pid ?pid) (name ?lock) (holder ?holder) (file ?file) (line ?line) (hold ?hold) (meanwhile ?does&"disk"|"flush"|"network")
    (meanwhile_share ?part&:(>= ?part 0.5)) (meanwhile_where ?where) (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high))
  (not (lock (pid ?pid) (meanwhile "disk"|"flush"|"network") (meanwhile_share ?other&:(>= ?other 0.5)) (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see lock-across-io ?subject ?by
    (str-cat "others wait for " ?lock " " (percent ?share) " of the time; its holder waits for the " (if (eq ?does "flush") then "disk" else ?does) " in " (percent ?part) " of that"))
  (explain lock-across-io ?subject (create$ slow stuck) (* ?share ?part) (* ?low ?part) (* ?high ?part) (str-cat (percent (* ?share ?part)) " of its time"))
  (if (eq ?does "flush") then (follows lock-across-io ?subject fsync-bound ?subject))
  (if (eq ?does "network") then (follows lock-across-io ?subject slow-upstream ?subject))
  (describe lock-across-io ?subject
    (str-cat ?holder " of " ?process " holds " ?lock " while it waits for the " (if (eq ?does "flush") then "disk" else ?does))
    (str-cat (location ?holder ?file ?line) (if (eq ?where "") then "" else (str-cat ", in " ?where)))
    (str-cat "do it before the lock is taken or after it is released, and take " ?lock " only for the data in memory")
    (str-cat ?lock " is held for less than " (duration ?hold) ", and waits for it disappear")
    "the device or peer is the problem: if it is as fast as it can be for one request, the lock is the cause; if it is slow, look there first"))

(defrule lock-across-io-not-seen
  (logical (measured (by locks) (pid ?pid))
    (syscall (pid ?pid) (call "futex") (time ?time&:(>= ?time 0.2)))
    (not (lock (pid ?pid) (meanwhile "disk"|"flush"|"network") (share ?share&:(>= ?share 0.05)))))
  =>
  (contradict lock-across-io (process-subject ?pid) locks "no lock is waited for while its holder waits for a disk or the network"))

; "Someone sleeps with the lock in hand."
; Symptom: threads wait for a lock for milliseconds, while nothing runs.
; Cause: most of the time that others wait, the holder sleeps (a retry, a delay, a poll).
; Refutation: the holder runs, waits for I/O, or the lock is hardly waited for.
; Thresholds: as for I/O: 20% of the time in futex calls is the sign, 10% of the time in waits for the lock is a finding, half of it asleep is its cause.

(defrule lock-across-sleep-sign
  (syscall (by ?by) (pid ?pid) (call "futex") (time ?time&:(>= ?time 0.2)))
  (syscall (pid ?pid) (call "nanosleep"|"clock_nanosleep"|"poll"|"select"|"pselect6") (time ?asleep&:(>= ?asleep 0.01)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose lock-across-sleep ?subject ?by (str-cat "futex calls take " (percent ?time) " of its time, and it also sleeps"))
  (ask lock-across-sleep ?subject locks (target ?pid) 80 "which locks are waited for, and what their holders do"))

(defrule lock-across-sleep-seen
  (process (pid ?pid) (name ?process))
  (lock (by ?by) (pid ?pid) (name ?lock) (holder ?holder) (file ?file) (line ?line) (hold ?hold) (meanwhile "sleep")
    (meanwhile_share ?part&:(>= ?part 0.5)) (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high))
  (not (lock (pid ?pid) (meanwhile "sleep") (meanwhile_share ?other&:(>= ?other 0.5)) (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see lock-across-sleep ?subject ?by (str-cat "others wait for " ?lock " " (percent ?share) " of the time; its holder sleeps in " (percent ?part) " of that"))
  (explain lock-across-sleep ?subject (create$ slow stuck) (* ?share ?part) (* ?low ?part) (* ?high ?part) (str-cat (percent (* ?share ?part)) " of its time"))
  (describe lock-across-sleep ?subject
    (str-cat ?holder " of " ?process " sleeps while it holds " ?lock)
    (location ?holder ?file ?line)
    "release the lock before sleeping, or wait on a condition variable, which releases it"
    (str-cat ?lock " is held for less than " (duration ?hold) ", and waits for it disappear")
    "the sleep is there to slow others down (a rate limit)"))

(defrule lock-across-sleep-not-seen
  (logical (measured (by locks) (pid ?pid))
    (syscall (pid ?pid) (call "futex") (time ?time&:(>= ?time 0.2)))
    (syscall (pid ?pid) (call "nanosleep"|"clock_nanosleep"|"poll"|"select"|"pselect6") (time ?asleep&:(>= ?asleep 0.01)))
    (not (lock (pid ?pid) (meanwhile "sleep") (share ?share&:(>= ?share 0.05)))))
  =>
  (contradict lock-across-sleep (process-subject ?pid) locks "no lock is waited for while its holder sleeps"))

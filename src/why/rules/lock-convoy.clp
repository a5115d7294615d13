; "The lock is held for a moment only, but all threads queue for it, and each handover costs a context switch."
; Symptom: threads wait for a lock; throughput falls with more threads; many context switches.
; Cause: a lock that everyone takes often is handed from one sleeping thread to the next, thousands of times a second.
; Refutation: it is held for long: then what its holder does is the cause.
; Thresholds: a handover (wake, switch) takes 5 to 50 us, so a lock held for less than 100 us is handed over for longer than it is held; 1,000 handovers a second
; and more than one waiter on average make it a queue. Waits are worth a finding from 10% of the time on.

(defrule lock-convoy-sign
  (syscall (by ?by) (pid ?pid) (call "futex") (time ?time&:(>= ?time 0.2)) (rate ?rate&:(>= ?rate 2000)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose lock-convoy ?subject ?by (str-cat (number ?rate) " futex calls a second take " (percent ?time) " of its time"))
  (ask lock-convoy ?subject locks (target ?pid) 75 "which lock it is, how long it is held, and how often it is handed over"))

(defrule lock-convoy-seen
  (process (pid ?pid) (name ?process))
  (lock (by ?by) (pid ?pid) (name ?lock) (holder ?holder) (file ?file) (line ?line) (waiters ?waiters&:(>= ?waiters 1)) (hold ?hold&:(< ?hold 100000))
    (handoffs ?handoffs&:(>= ?handoffs 1000)) (meanwhile "runs"|"cpu") (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high))
  (not (lock (pid ?pid) (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see lock-convoy ?subject ?by
    (str-cat ?lock " is held for " (duration ?hold) " and handed over " (number ?handoffs) " times a second; " (number ?waiters) " threads wait for it on average"))
  (explain lock-convoy ?subject (create$ slow) ?share ?low ?high (str-cat (percent ?share) " of its time"))
  (describe lock-convoy ?subject
    (str-cat "threads of " ?process " queue for " ?lock ", which is held for " (duration ?hold) " only")
    (location ?holder ?file ?line)
    "take it less often (batches, data of each thread), split it (one for each part of the data), or replace it by an atomic operation"
    "context switches and futex calls of the process fall, and throughput rises with threads"
    "with fewer threads throughput stays low: then the work under the lock is the limit"))

(defrule lock-convoy-not-seen
  (logical (measured (by locks) (pid ?pid))
    (syscall (pid ?pid) (call "futex") (time ?time&:(>= ?time 0.2)) (rate ?rate&:(>= ?rate 2000)))
    (not (lock (pid ?pid) (hold ?hold&:(< ?hold 100000)) (handoffs ?handoffs&:(>= ?handoffs 1000)))))
  =>
  (contradict lock-convoy (process-subject ?pid) locks "no lock is handed over 1000 times a second"))

; "The work was ready long before the waiting thread was signalled."
; Symptom: threads wait for a condition or a queue, although what they wait for is there.
; Cause: the thread that makes it ready signals late: at the end of a batch, after a log line, after other work.
; Refutation: wakeups follow at once on what they announce.
; Thresholds: a wakeup takes 50 us on a busy host; 1 ms is twenty times that. It is worth a finding from 10% of the time on.

(defrule late-signal-sign
  (syscall (by ?by) (pid ?pid) (call "futex"|"epoll_wait"|"epoll_pwait"|"poll"|"read") (time ?time&:(>= ?time 0.2)))
  (process (pid ?pid) (busiest ?busiest&:(< ?busiest 0.7)) (threads ?threads&:(> ?threads 1)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose late-signal ?subject ?by (str-cat "its threads wait for each other or for events " (percent ?time) " of the time, and none is busy"))
  (ask late-signal ?subject signals (target ?pid) 50 "who signals, and what it does between the change and the signal"))

(defrule late-signal-seen
  (process (pid ?pid) (name ?process))
  (late-wakeup (by ?by) (pid ?pid) (what ?what) (waker ?waker) (file ?file) (line ?line) (late ?late&:(>= ?late 1e6)) (meanwhile ?meanwhile)
    (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high))
  (not (late-wakeup (pid ?pid) (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see late-signal ?subject ?by (str-cat ?waker " signals " ?what " " (duration ?late) " after the change, and does this first: " (first-known ?meanwhile "not known")))
  (explain late-signal ?subject (create$ slow) ?share ?low ?high (str-cat (percent ?share) " of its time"))
  (describe late-signal ?subject
    (str-cat ?waker " of " ?process " signals " ?what " " (duration ?late) " late")
    (location ?waker ?file ?line)
    "signal as soon as the change is made, and do the rest afterwards"
    "waiters start within 0.1 ms after the change"
    "waiters could not go on earlier, as they need something else from the waker"))

(defrule late-signal-not-seen
  (logical (measured (by signals) (pid ?pid))
    (syscall (pid ?pid) (call "futex"|"epoll_wait"|"epoll_pwait"|"poll"|"read") (time ?time&:(>= ?time 0.2)))
    (process (pid ?pid) (busiest ?busiest&:(< ?busiest 0.7)) (threads ?threads&:(> ?threads 1)))
    (not (late-wakeup (pid ?pid) (share ?share&:(>= ?share 0.05)))))
  =>
  (contradict late-signal (process-subject ?pid) signals "wakeups follow on what they announce"))

; "It wakes up thousands of times a second to find that there is nothing to do."
; Symptom: a process with little load wakes up all the time; CPUs never sleep.
; Cause: its timers have short periods, and most wakeups do nothing.
; Refutation: what wakes it are requests.
; Thresholds: 1,000 waits a second are one each millisecond, the shortest period that a program needs without being a real-time one. Half of the wakeups must be
; idle. A wakeup costs 5 to 20 us with what it evicts from caches, so the share is small; 5% is worth a change.

(defrule timer-storm-sign
  (process (by ?by) (pid ?pid) (voluntary ?waits&:(>= ?waits 1000)) (cpu ?cpu&:(>= ?cpu 0.05)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose timer-storm ?subject ?by (str-cat "it goes to sleep " (number ?waits) " times a second"))
  (ask timer-storm ?subject timers (target ?pid) 40 "what wakes it"))

(defrule timer-storm-seen
  (process (pid ?pid) (name ?process))
  (timers (by ?by) (pid ?pid) (rate ?rate&:(>= ?rate 1000)) (idle ?idle&:(>= ?idle 0.5)) (function ?function) (file ?file) (line ?line)
    (share ?share&:(>= ?share 0.05)) (low ?low) (high ?high))
  (not (timers (pid ?pid) (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see timer-storm ?subject ?by (str-cat "timers wake it " (number ?rate) " times a second, " (percent ?idle) " of them for nothing"))
  (explain timer-storm ?subject (create$ slow) ?share ?low ?high (str-cat (percent ?share) " of its time"))
  (describe timer-storm ?subject
    (str-cat ?process " is woken " (number ?rate) " times a second by its timers, mostly for nothing")
    (location ?function ?file ?line)
    "wait for the event itself (a condition variable, an eventfd) instead of looking for it, or look less often"
    "context switches of the process fall with the load"
    "wakeups do something each time: then it is its work"))

(defrule timer-storm-not-seen
  (logical (measured (by timers) (pid ?pid))
    (process (pid ?pid) (voluntary ?waits&:(>= ?waits 1000)) (cpu ?cpu&:(>= ?cpu 0.05)))
    (not (timers (pid ?pid) (rate ?rate&:(>= ?rate 500)) (idle ?idle&:(>= ?idle 0.3)))))
  =>
  (contradict timer-storm (process-subject ?pid) timers "timers wake it less than 500 times a second, or for work"))

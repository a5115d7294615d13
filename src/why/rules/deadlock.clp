; "Two threads wait for each other, and will forever."
; Symptom: the process does nothing, and requests never end.
; Cause: each of some threads holds a lock that the next one waits for, in a circle; or a thread takes a lock that it holds already.
; Refutation: threads wait, but for something that will come (a request, a timer, a peer).
; Thresholds: no thread runs (below 1% of the time). A circle that stays the same for one second does not end by itself, as locks that are taken in order are held
; for milliseconds; in a core dump it is one, as all threads stand still at the same time.

(defrule deadlock-sign
  (request (kind "stuck"|"any"|"slow") (pid ?asked))
  (process (by ?by) (pid ?pid&:(or (< ?asked 0) (= ?asked ?pid))) (threads ?threads&:(>= ?threads 1)) (busiest ?busiest&:(< ?busiest 0.01)))
  (syscall (pid ?pid) (call "futex") (time ?time&:(>= ?time 0.5)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose deadlock ?subject ?by (none-of-threads ?threads "does not run" "runs"))
  (ask deadlock ?subject snapshot (target ?pid) 85 "which locks its threads wait for, and who holds them"))

; Calls that last longer than the measurement are not among those that were counted: then no thread has moved at all.
(defrule deadlock-sign-of-standstill
  (request (kind "stuck"|"any") (pid ?pid&:(>= ?pid 0)))
  (process (by ?by) (pid ?pid) (threads ?threads&:(>= ?threads 1)) (busiest ?busiest&:(< ?busiest 0.01)) (voluntary ?waits&:(< ?waits 1)))
  (not (syscall (pid ?pid) (call "futex") (time ?time&:(>= ?time 0.5))))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose deadlock ?subject ?by (none-of-threads ?threads "does not move" "moves"))
  (ask deadlock ?subject snapshot (target ?pid) 85 "which locks its threads wait for, and who holds them"))

(defrule deadlock-seen
  (process (pid ?pid) (name ?process) (busiest ?busiest&:(< ?busiest 0.01)))
  (lock-cycle (by ?by) (pid ?pid) (threads ?threads) (count ?count) (locks ?locks) (function ?function) (file ?file) (line ?line) (seconds ?seconds&:(or (eq ?by core-memory) (>= ?seconds 1))))
  =>
  (bind ?subject (process-subject ?pid))
  (bind ?is-one (= ?count 1))
  (see deadlock ?subject ?by (str-cat (if ?is-one then "a thread waits for a lock that it holds: " else "threads wait for each other in a circle: ") ?threads
    (if ?is-one then "; lock: " else "; locks: ") ?locks))
  (explain deadlock ?subject (create$ stuck slow failing) 1 1 1 (if (eq ?by core-memory) then "none of them could run" else (str-cat "none of them can run, for " (duration (* 1e9 ?seconds)) " now")))
  (follows deadlock ?subject pool-exhausted ?subject)
  (describe deadlock ?subject
    (if ?is-one then (str-cat "a thread of " ?process " waits for the lock " ?locks ", which it holds itself (deadlock)")
      else (str-cat "threads of " ?process " wait for each other (deadlock)"))
    (location ?function ?file ?line)
    (if ?is-one then (str-cat "unlock " ?locks " before a function is called that locks it, or make it recursive; restart the process now")
      else (str-cat "take the locks (" ?locks ") in the same order everywhere, or together (std::scoped_lock); restart the process now"))
    "the same load runs without threads that wait for each other"
    "one of the threads goes on by itself: then it was slow, and not stuck"))

(defrule deadlock-not-seen
  (logical (measured (by snapshot) (pid ?pid))
    (process (pid ?pid) (threads ?threads&:(>= ?threads 1)) (busiest ?busiest&:(< ?busiest 0.01)))
    (syscall (pid ?pid) (call "futex") (time ?time&:(>= ?time 0.5)))
    (not (lock-cycle (pid ?pid))))
  =>
  (contradict deadlock (process-subject ?pid) snapshot "no threads wait for each other in a circle"))

(defrule deadlock-not-seen-at-standstill
  (logical (measured (by snapshot) (pid ?pid))
    (request (kind "stuck"|"any") (pid ?pid))
    (process (pid ?pid) (threads ?threads&:(>= ?threads 1)) (busiest ?busiest&:(< ?busiest 0.01)) (voluntary ?waits&:(< ?waits 1)))
    (not (syscall (pid ?pid) (call "futex") (time ?time&:(>= ?time 0.5))))
    (not (lock-cycle (pid ?pid))))
  =>
  (contradict deadlock (process-subject ?pid) snapshot "no threads wait for each other in a circle"))

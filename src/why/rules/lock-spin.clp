; "Threads burn CPUs while they wait for a lock: the host looks busy, and little gets done."
; Symptom: several threads run at the same time in user mode, and more of them do not get more done.
; Cause: most of the profile is in a loop that waits for a lock or a flag.
; Refutation: the profile shows work instead of loops that wait.
; Thresholds: it takes two threads that run at the same time (runnable from 1.5 on). Adaptive locks spin for some microseconds before they sleep, which is below
; 5% of the profile; 20% is more than any lock saves by not sleeping.

(defrule lock-spin-sign
  (process (by ?by) (pid ?pid) (busiest ?busiest&:(>= ?busiest 0.7)) (user ?user&:(>= ?user 0.7)) (runnable ?runnable&:(>= ?runnable 1.5)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose lock-spin ?subject ?by (str-cat (number ?runnable) " of its threads run or want to run, mostly outside the kernel"))
  (ask lock-spin ?subject cpu-profile (target ?pid) 75 "whether they work or wait in a loop"))

(defrule lock-spin-seen
  (process (pid ?pid) (name ?process) (busiest ?busiest))
  (hot-function (by ?by) (pid ?pid) (name ?name) (caller ?caller) (file ?file) (line ?line) (class "spin")
    (share ?share&:(>= ?share 0.2)) (low ?low) (high ?high))
  (not (hot-function (pid ?pid) (class "spin") (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see lock-spin ?subject ?by (str-cat ?name " waits in a loop for " (percent ?share) " of the CPU time"))
  (explain lock-spin ?subject (create$ slow stuck) (* ?share ?busiest) (* ?low ?busiest) (* ?high ?busiest)
    (str-cat (percent (* ?share ?busiest)) " of the time of the busiest thread"))
  (follows lock-spin ?subject hot-function ?subject)
  (describe lock-spin ?subject
    (str-cat "threads of " ?process " spend " (percent ?share) " of their CPU time waiting in a loop")
    (location (first-known ?caller ?name) ?file ?line)
    "hold the lock for less time, split it, or use a lock that sleeps; never spin with more threads than CPUs"
    (str-cat "the process uses fewer CPUs for the same number of requests, and " ?name " leaves the top of the profile")
    "throughput does not rise with fewer threads: then they do not wait for each other"))

; Whoever spins takes CPUs from all others.
(defrule lock-spin-delays
  (evidence (cause lock-spin) (subject ?subject) (decisive yes))
  (evidence (cause run-queue-delay) (subject ?delayed) (decisive yes))
  =>
  (follows lock-spin ?subject run-queue-delay ?delayed))

(defrule lock-spin-crowds
  (evidence (cause lock-spin) (subject ?subject) (decisive yes))
  =>
  (follows lock-spin ?subject thread-oversubscription ?subject))

(defrule lock-spin-not-seen
  (logical (measured (by cpu-profile) (pid ?pid))
    (process (pid ?pid) (busiest ?busiest&:(>= ?busiest 0.7)) (user ?user&:(>= ?user 0.7)) (runnable ?runnable&:(>= ?runnable 1.5)))
    (not (hot-function (pid ?pid) (class "spin") (share ?share&:(>= ?share 0.05)))))
  =>
  (contradict lock-spin (process-subject ?pid) cpu-profile "loops that wait use less than 5% of the CPU time"))

; "It fails all the time, and handling the failures costs more than the work."
; Symptom: high CPU use, low throughput; system calls fail thousands of times a second.
; Cause: exceptions are thrown and caught for each request, and unwinding stacks takes most of the time.
; Refutation: failures are part of normal work (EAGAIN) and cost nothing.
; Thresholds: a C++ exception costs 1 to 10 us, with a deep stack 100 us: 1,000 a second are 1 to 10% of a CPU. Failing calls are a sign from 1,000 a second and half
; of all on; EAGAIN and the like are how programs look whether there is something to do. It is a finding from 10% of the CPU time on.

(defrule error-storm-sign
  (syscall (by ?by) (pid ?pid) (call ?call) (rate ?rate) (failed ?failed&:(>= ?failed 0.5))
    (error ?error&~"EAGAIN"&~"EINPROGRESS"&~"EINTR"&~"ENOENT"&~"EALREADY"&~"ETIMEDOUT"&~"ECONNREFUSED"&~""))
  (test (>= (* ?rate ?failed) 1000))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose error-storm ?subject ?by (str-cat (percent ?failed) " of the calls of " ?call " fail with " ?error ", " (number (* ?rate ?failed)) " a second"))
  (ask error-storm ?subject exceptions (target ?pid) 65 "whether exceptions are thrown, and what they cost"))

; Whatever fails: stacks are unwound.
(defrule error-storm-sign-of-unwinding
  (hot-function (by ?by) (pid ?pid) (class "unwind") (share ?share&:(>= ?share 0.1)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose error-storm ?subject ?by (str-cat "unwinding stacks uses " (percent ?share) " of its CPU time"))
  (ask error-storm ?subject exceptions (target ?pid) 65 "which exceptions are thrown, and where"))

(defrule error-storm-seen
  (process (pid ?pid) (name ?process) (busiest ?busiest))
  (exceptions (by ?by) (pid ?pid) (type ?type) (rate ?rate&:(>= ?rate 100)) (function ?function) (file ?file) (line ?line)
    (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high))
  (not (exceptions (pid ?pid) (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see error-storm ?subject ?by (str-cat ?function " throws " ?type " " (number ?rate) " times a second, which takes " (percent ?share) " of the CPU time"))
  (explain error-storm ?subject (create$ slow failing) (* ?share ?busiest) (* ?low ?busiest) (* ?high ?busiest)
    (str-cat (percent (* ?share ?busiest)) " of the time of the busiest thread"))
  (follows error-storm ?subject hot-function ?subject)
  (describe error-storm ?subject
    (str-cat ?process " throws " ?type " " (number ?rate) " times a second")
    (location ?function ?file ?line)
    "remove what fails (look at the first error in its log); where failures are normal, return them as values"
    "exceptions and failing calls end, and CPU use falls for the same number of requests"
    "the number of exceptions stays, and the CPU time falls: then they were not what took it"))

(defrule error-storm-not-seen
  (logical (covered (measurement exceptions) (pid ?pid) (subject ?subject))
    (evidence (cause error-storm) (subject ?subject) (side for) (decisive no))
    (not (exceptions (pid ?pid) (share ?share&:(>= ?share 0.05)))))
  =>
  (contradict error-storm (process-subject ?pid) exceptions "exceptions take less than 5% of the CPU time"))

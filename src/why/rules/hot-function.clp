; "One function uses most of the CPU time: a cheaper one, or fewer calls of it, makes the program faster."
; Symptom: a thread of the process runs nearly all the time.
; Cause: the profile has one function at its top, far above the others, that is no spin lock, regular expression or the like (these have files of their own).
; Refutation: the profile is flat: then no single function is worth the work.
; Thresholds: a thread that runs 70% of the time is limited by its CPU, as waits are the smaller part of what it does. A function is worth a change from
; 25% on: without it the thread is a third faster, which users notice. Below that all functions together are the cause.

(defrule hot-function-sign
  (process (by ?by) (pid ?pid) (name ?name) (busiest ?busiest&:(>= ?busiest 0.7)))
  (not (measured (by comparison) (pid ?pid))) ; then what has changed is asked about (function-grew)
  =>
  (bind ?subject (process-subject ?pid))
  (suppose hot-function ?subject ?by (str-cat "the busiest thread of " ?name " runs " (percent ?busiest) " of the time"))
  (ask hot-function ?subject cpu-profile (target ?pid) 80 "which functions it runs"))

(defrule hot-function-seen
  (process (pid ?pid) (name ?process) (busiest ?busiest))
  (hot-function (by ?by) (pid ?pid) (name ?name) (module ?module) (file ?file) (line ?line)
    (class ?class&~"regex"&~"serialization"&~"spin"&~"poll"&~"path"&~"unwind")
    (share ?share&:(>= ?share 0.25)) (low ?low) (high ?high))
  (not (hot-function (pid ?pid) (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see hot-function ?subject ?by (str-cat ?name " uses " (percent ?share) " of the CPU time"))
  (explain hot-function ?subject (create$ slow stuck) (* ?share ?busiest) (* ?low ?busiest) (* ?high ?busiest)
    (str-cat (percent (* ?share ?busiest)) " of the time of the busiest thread"))
  (describe hot-function ?subject
    (str-cat ?name " uses " (percent ?share) " of the CPU time of " ?process)
    (location ?name ?file ?line)
    (str-cat "make " ?name " cheaper, call it less often, or keep its results")
    (str-cat "the share of " ?name " in a new profile is smaller, and requests take less time")
    (str-cat "without " ?name " the time of a request stays the same: then the thread that runs it is not the one that requests wait for")))

(defrule hot-function-not-seen
  (logical (measured (by cpu-profile) (pid ?pid))
    (process (pid ?pid) (busiest ?busiest&:(>= ?busiest 0.7)))
    (not (hot-function (pid ?pid) (share ?share&:(>= ?share 0.25)))))
  =>
  (contradict hot-function (process-subject ?pid) cpu-profile "the profile is flat: no function uses 25% of the CPU time"))

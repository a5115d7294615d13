; "A regular expression backtracks: some inputs take a thousand times as long as others."
; Symptom: a thread runs nearly all the time in user mode.
; Cause: most of the profile is in the matching functions of a library for regular expressions.
; Refutation: these functions are a small part of the profile; expressions are matched often, but are no problem.
; Thresholds: a healthy program that matches expressions spends a few percent on them; at 30% they are the largest thing that it does. A thread is limited
; by its CPU if it runs 70% of the time, and matching needs no kernel: 80% of it is in user mode.

(defrule regex-hot-sign
  (process (by ?by) (pid ?pid) (busiest ?busiest&:(>= ?busiest 0.7)) (user ?user&:(>= ?user 0.8)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose regex-hot ?subject ?by (str-cat "its busiest thread runs " (percent ?busiest) " of the time, " (percent ?user) " of it outside the kernel"))
  (ask regex-hot ?subject cpu-profile (target ?pid) 70 "whether it matches regular expressions"))

(defrule regex-hot-seen
  (process (pid ?pid) (name ?process) (busiest ?busiest))
  (hot-function (by ?by) (pid ?pid) (name ?name) (caller ?caller) (file ?file) (line ?line) (class "regex")
    (share ?share&:(>= ?share 0.3)) (low ?low) (high ?high))
  (not (hot-function (pid ?pid) (class "regex") (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see regex-hot ?subject ?by (str-cat "matching regular expressions (" ?name ") uses " (percent ?share) " of the CPU time"))
  (explain regex-hot ?subject (create$ slow stuck) (* ?share ?busiest) (* ?low ?busiest) (* ?high ?busiest)
    (str-cat (percent (* ?share ?busiest)) " of the time of the busiest thread"))
  (follows regex-hot ?subject hot-function ?subject)
  (describe regex-hot ?subject
    (str-cat ?process " spends " (percent ?share) " of its CPU time on matching a regular expression")
    (location (first-known ?caller ?name) ?file ?line)
    "rewrite the expression so that no part of the input can match in two ways (nested repetition such as (a+)+), limit the input, or use an engine that does not backtrack (RE2)"
    (str-cat "the share of " ?name " in a new profile is a few percent")
    "the time for one match does not grow faster than its input: then it is called too often, and no expression is at fault"))

(defrule regex-hot-not-seen
  (logical (measured (by cpu-profile) (pid ?pid))
    (process (pid ?pid) (busiest ?busiest&:(>= ?busiest 0.7)) (user ?user&:(>= ?user 0.8)))
    (not (hot-function (pid ?pid) (class "regex") (share ?share&:(>= ?share 0.1)))))
  =>
  (contradict regex-hot (process-subject ?pid) cpu-profile "matching regular expressions uses less than 10% of the CPU time"))

; "This function uses more of the CPU time than before: look at what changed in it, or in how often it is called."
; Symptom: the program takes more CPU time for the same work than it did, or does less with the same.
; Cause: of two recordings the later one has a function of the program that takes a larger part of the CPU time with what it calls, and more time. Its callers grow as
; much: of those that do, the innermost is meant, which has the smallest part.
; Refutation: its part grew only because others shrank, or by chance.
; Thresholds: 10 points of the CPU time are what users of a saturated program notice; below 5% of a CPU nobody does, nor of a thread that
; runs less than half of the time. More than chance: the whole interval of the
; later share is above the earlier one.

(defrule function-grew-sign
  (measured (by comparison) (pid ?pid))
  (process (by ?by) (pid ?pid) (name ?name) (busiest ?busiest&:(>= ?busiest 0.5)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose function-grew ?subject ?by (str-cat "the busiest thread of " ?name " runs " (percent ?busiest) " of the time"))
  (ask function-grew ?subject comparison (target ?pid) 80 "which functions take a larger part than before"))

(defrule function-grew-seen
  (process (pid ?pid) (name ?process))
  (function-change (pid ?pid) (growth ?most&:(>= ?most 0.05)))
  (not (function-change (pid ?pid) (growth ?larger&:(> ?larger ?most))))
  (function-change (by ?by) (pid ?pid) (name ?name) (before ?before) (share ?share) (low ?low) (growth ?growth&:(>= ?growth (* 0.9 ?most))))
  (not (function-change (pid ?pid) (share ?smaller&:(< ?smaller ?share)) (growth ?other&:(>= ?other (* 0.9 ?most)))))
  (test (and (>= (- ?share ?before) 0.1) (> ?low ?before)))
  =>
  (bind ?subject (process-subject ?pid))
  (see function-grew ?subject ?by (str-cat ?name " uses " (percent ?share) " of the CPU time, " (percent ?before) " before"))
  (explain function-grew ?subject (create$ slow) (/ ?growth ?most) 0 0 (str-cat (percent (/ ?growth ?most)) " of the largest growth of a function"))
  (describe function-grew ?subject
    (str-cat ?name " uses " (percent ?share) " of the CPU time of " ?process ", " (percent ?before) " before")
    ?name
    (str-cat "look at what changed in " ?name ", in what it is given, and in how often it is called: `acu diff` shows its callers in both recordings")
    (str-cat "a recording after the change has the earlier share of " ?name)
    (str-cat "as many calls of " ?name " as before take as long as before: then there is more work, not dearer work")))

(defrule function-grew-not-seen
  (logical (measured (by comparison) (pid ?pid))
    (process (pid ?pid) (busiest ?busiest&:(>= ?busiest 0.5)))
    (not (and (function-change (pid ?pid) (before ?before) (share ?share) (growth ?growth&:(>= ?growth 0.05)))
      (test (>= (- ?share ?before) 0.1)))))
  =>
  (contradict function-grew (process-subject ?pid) comparison "no function takes 10 points of the CPU time more than before"))

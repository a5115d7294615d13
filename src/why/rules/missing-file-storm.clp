; "It looks for files that are not there, thousands of times a second."
; Symptom: much CPU time in the kernel, in looking up paths.
; Cause: open, stat or access fail with ENOENT again and again: a search path that is too long, a file that should be there, a cache that does not work.
; Refutation: few look-ups, as at the start of a program.
; Thresholds: a failed look-up takes 2 to 10 us, over a network file system 1 ms. 500 a second are more than a start of a program needs for long. The look-ups are a
; finding from 10% of the CPU time on.

(defrule missing-file-storm-sign
  (syscall (by ?by) (pid ?pid) (call ?call) (rate ?rate) (failed ?failed&:(>= ?failed 0.5)) (error "ENOENT") (path ?path))
  (test (>= (* ?rate ?failed) 500))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose missing-file-storm ?subject ?by (str-cat (number (* ?rate ?failed)) " calls of " ?call " a second fail with ENOENT, for files such as " (first-known ?path "(not known)")))
  (ask missing-file-storm ?subject cpu-profile (target ?pid) 65 "what looking up paths costs"))

(defrule missing-file-storm-seen
  (process (pid ?pid) (name ?process) (busiest ?busiest))
  (syscall (pid ?pid) (call ?call) (rate ?rate) (failed ?failed&:(>= ?failed 0.5)) (error "ENOENT") (path ?path))
  (test (>= (* ?rate ?failed) 500))
  (hot-function (by ?by) (pid ?pid) (name ?name) (caller ?caller) (file ?file) (line ?line) (class "path") (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high))
  (not (hot-function (pid ?pid) (class "path") (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see missing-file-storm ?subject ?by (str-cat "looking up paths (" ?name ") uses " (percent ?share) " of the CPU time"))
  (explain missing-file-storm ?subject (create$ slow failing) (* ?share ?busiest) (* ?low ?busiest) (* ?high ?busiest)
    (str-cat (percent (* ?share ?busiest)) " of the time of the busiest thread"))
  (follows missing-file-storm ?subject hot-function ?subject)
  (describe missing-file-storm ?subject
    (str-cat ?process " looks for missing files " (number (* ?rate ?failed)) " times a second")
    (str-cat (location (first-known ?caller ?name) ?file ?line) (if (eq ?path "") then "" else (str-cat ", " ?path)))
    (str-cat "put the file where it is searched first, shorten the search path, or keep the answer; acu trace -e %file -p " ?pid " shows all names")
    (str-cat ?call " fails less than a hundred times a second")
    "the look-ups belong to a start that ends"))

(defrule missing-file-storm-not-seen
  (logical (measured (by cpu-profile) (pid ?pid))
    (syscall (pid ?pid) (rate ?rate) (failed ?failed&:(>= ?failed 0.5)) (error "ENOENT"))
    (test (>= (* ?rate ?failed) 500))
    (not (hot-function (pid ?pid) (class "path") (share ?share&:(>= ?share 0.05)))))
  =>
  (contradict missing-file-storm (process-subject ?pid) cpu-profile "looking up paths uses less than 5% of the CPU time"))

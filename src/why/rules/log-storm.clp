; "It spends its time writing its log."
; Symptom: many small writes; the disk fills up; requests are slow.
; Cause: a log file gets thousands of lines a second, usually the same one over and over.
; Refutation: what it writes is data, or the log is small.
; Thresholds: 1,000 writes a second are a line for each request at best. A log that repeats half of its lines has no use for them. It is a finding from 10% of the
; time on.

(defrule log-storm-sign
  (syscall (by ?by) (pid ?pid) (call ?call&"write"|"writev"|"pwrite64"|"sendto"|"sendmsg") (rate ?rate&:(>= ?rate 1000)) (time ?time&:(>= ?time 0.05)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose log-storm ?subject ?by (str-cat (number ?rate) " calls of " ?call " a second take " (percent ?time) " of its time"))
  (ask log-storm ?subject files (target ?pid) 65 "which files it writes"))

(defrule log-storm-seen
  (process (pid ?pid) (name ?process))
  (file-write (by ?by) (pid ?pid) (path ?path) (is_log 1) (rate ?rate) (writes ?writes&:(>= ?writes 500)) (sample ?sample) (repeated ?repeated)
    (function ?function) (file ?file) (line ?line) (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high))
  (not (file-write (pid ?pid) (is_log 1) (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see log-storm ?subject ?by (str-cat "writes " ?path " " (number ?writes) " times a second, " (bytes ?rate) " a second; " (percent ?repeated) " of the lines repeat another one"
    (if (eq ?sample "") then "" else (str-cat ": " ?sample))))
  (explain log-storm ?subject (create$ slow growing) ?share ?low ?high (str-cat (percent ?share) " of its time"))
  (describe log-storm ?subject
    (str-cat ?process " spends " (percent ?share) " of its time writing its log " ?path)
    (if (eq ?function "") then ?path else (location ?function ?file ?line))
    "remove what the message complains about, log it once in a while (rate limit), raise the log level, or write through a buffer"
    "the log grows by less than a few lines for each request"
    "without the log requests take as long"))

(defrule log-storm-not-seen
  (logical (measured (by files) (pid ?pid))
    (syscall (pid ?pid) (call "write"|"writev"|"pwrite64"|"sendto"|"sendmsg") (rate ?rate&:(>= ?rate 1000)) (time ?time&:(>= ?time 0.05)))
    (not (file-write (pid ?pid) (is_log 1) (share ?share&:(>= ?share 0.05)))))
  =>
  (contradict log-storm (process-subject ?pid) files "writing logs takes less than 5% of its time"))

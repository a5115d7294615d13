; "It crashes: a signal ends it, and a supervisor starts it again."
; Symptom: requests fail for moments; the process is always young.
; Cause: a signal ended it (SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE), at a location that the core dump shows.
; Refutation: it ended by itself or by a request to stop.
; Thresholds: whoever asks why something fails and finds a process younger than ten minutes asks what ended the one before. A single crash is enough.

(defrule crash-sign
  (request (kind "failing"|"any") (pid ?asked))
  (process (by ?by) (pid ?pid&:(or (< ?asked 0) (= ?asked ?pid))) (name ?name) (uptime ?uptime&:(> ?uptime 0)&:(< ?uptime 600)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose crash ?subject ?by (str-cat ?name " started " (duration (* 1e9 ?uptime)) " ago"))
  (ask crash ?subject crashes (target ?pid) 80 "whether a process of that name crashed before"))

; A core dump: the kernel's note of the signal is one measurement, the memory another.
(defrule crash-sign-of-core
  (request (kind "failing"|"any") (pid ?pid))
  (crash-report (by ?by&core-notes) (pid ?pid) (name ?name) (signal ?signal&~"") (reason ?reason))
  =>
  (suppose crash (process-subject ?pid) ?by (str-cat "the kernel ended " ?name " by " ?signal (if (eq ?reason "") then "" else (str-cat " (" ?reason ")")))))

; One of its own processes, or the one before it: of the same name, and started by it or by what started it. The kernel's log has names alone, which say
; nothing of programs that an interpreter runs.
(defrule crash-seen
  (process (pid ?pid) (name ?name) (parent ?parent) (language ?language))
  (crash-report (by ?by&~core-notes) (pid ?dead) (name ?name) (parent ?starter&:(or (= ?starter ?pid) (= ?starter ?parent) (and (= ?starter 0) (eq ?language "")))) (signal ?signal&~"") (reason ?reason) (detail ?detail) (function ?function) (file ?file) (line ?line))
  =>
  (bind ?subject (process-subject ?pid))
  (bind ?why (str-cat ?signal (if (eq ?reason "") then "" else (str-cat ", " ?reason)) (if (eq ?detail "") then "" else (str-cat ": " ?detail))))
  (see crash ?subject ?by (str-cat ?name " (process " ?dead ") was ended by " ?why))
  (explain crash ?subject (create$ failing) 1 1 1 (str-cat "it ended " ?name))
  (describe crash ?subject
    (str-cat ?name " crashes in " (first-known ?function "code without a name") ": " ?why)
    (location ?function ?file ?line)
    "acu core FILE shows the stacks of all threads with arguments and variables"
    "no new core dump after the same requests"
    "all crashes are at different locations: then memory is overwritten earlier (or hardware fails)"))

(defrule crash-not-seen
  (logical (measured (by crashes) (pid ?pid))
    (request (kind "failing"|"any"))
    (process (pid ?pid) (name ?name) (uptime ?uptime&:(> ?uptime 0)&:(< ?uptime 600)))
    (not (crash-report (name ?name))))
  =>
  (contradict crash (process-subject ?pid) crashes "no process of that name crashed"))

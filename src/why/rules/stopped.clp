; "It does nothing, although nothing is wrong with it: somebody has stopped it."
; Symptom: no thread runs, requests wait forever, and CPUs are idle.
; Cause: a signal stopped it (SIGSTOP, Ctrl-Z), a debugger has it, or its control group is frozen (a paused container).
; Refutation: its threads wait for requests or for each other.
; Thresholds: below one wait a second no thread moves. In all of an interval in state T or t, or in the freezer: tools that copy memory stop a process for
; milliseconds.

(defrule stopped-sign
  (request (kind "stuck"|"slow"|"any") (pid ?pid&:(>= ?pid 0)))
  (process (by ?by) (pid ?pid) (threads ?threads) (busiest ?busiest&:(< ?busiest 0.01)) (voluntary ?waits&:(< ?waits 1)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose stopped ?subject ?by (none-of-threads ?threads "does not move" "moves"))
  (ask stopped ?subject snapshot (target ?pid) 85 "whether it is stopped"))

(deffunction stopped-by (?pid ?state ?what)
  (switch ?state
    (case "T" then (create$ "is stopped by a signal (SIGSTOP, or Ctrl-Z in its terminal)"
      (str-cat "kill -CONT " ?pid " lets it go on; a job of a shell goes on with fg or bg, a background job that reads from its terminal stops again")))
    (case "t" then (create$ (str-cat "is stopped by " (first-known ?what "a debugger")) "let the debugger go on or detach from it, or end the debugger"))
    (default (create$ "is frozen with its control group"
      (str-cat "let the group go on: docker unpause, systemctl thaw, or 0 into the cgroup.freeze of its group (/proc/" ?pid "/cgroup)")))))

(defrule stopped-seen
  (process (pid ?pid) (name ?name))
  (stuck-thread (by ?by) (pid ?pid) (thread ?thread) (state ?state&"T"|"t"|"frozen") (seconds ?seconds) (what ?what) (function ?function) (file ?file) (line ?line))
  (not (stuck-thread (pid ?pid) (state "T"|"t"|"frozen") (thread ?before&:(< ?before ?thread))))
  =>
  (bind ?subject (process-subject ?pid))
  (bind ?words (stopped-by ?pid ?state ?what))
  (see stopped ?subject ?by (str-cat "thread " ?thread (if (eq ?state "frozen") then " is in the kernel's freezer" else (str-cat " is in state " ?state)) ", for " (duration (* 1e9 ?seconds)) " now"))
  (explain stopped ?subject (create$ stuck slow) 1 1 1 "none of its threads can run")
  (describe stopped ?subject
    (str-cat ?name " " (nth$ 1 ?words))
    (location ?function ?file ?line)
    (nth$ 2 ?words)
    (str-cat "the state in /proc/" ?pid "/status is R or S, and its threads run")
    "it goes on by itself: then whoever stopped it has let it go on"))

(defrule stopped-not-seen
  (logical (measured (by snapshot) (pid ?pid))
    (process (pid ?pid) (busiest ?busiest&:(< ?busiest 0.01)) (voluntary ?waits&:(< ?waits 1)))
    (not (stuck-thread (pid ?pid) (state "T"|"t"|"frozen"))))
  =>
  (contradict stopped (process-subject ?pid) snapshot "none of its threads is stopped"))

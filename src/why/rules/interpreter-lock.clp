; "Only one thread of the interpreter runs at a time; the others wait for its lock."
; Symptom: a program in Python or Ruby with several threads uses one CPU at most.
; Cause: its threads wait for the lock of the interpreter.
; Refutation: threads wait for I/O, during which the lock is free.
; Thresholds: more than half of a CPU is used by several threads, but not more than one CPU. A single thread that runs leaves the lock free whenever it waits, so
; waits below 5% of the time are normal; 15% are a finding.

(defrule interpreter-lock-sign
  (process (by ?by) (pid ?pid) (language ?language&"python"|"ruby") (threads ?threads&:(>= ?threads 2)) (cpu ?cpu&:(>= ?cpu 0.5)&:(<= ?cpu 1.3)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose interpreter-lock ?subject ?by (str-cat ?threads " threads of " ?language " use " (number ?cpu) " CPUs together"))
  (ask interpreter-lock ?subject interpreters (target ?pid) 75 "how long threads wait for the interpreter's lock"))

(defrule interpreter-lock-seen
  (process (pid ?pid) (name ?process))
  (interpreter (by ?by) (pid ?pid) (language ?language) (threads ?waiting) (holder ?holder) (share ?share&:(>= ?share 0.15)) (low ?low) (high ?high))
  =>
  (bind ?subject (process-subject ?pid))
  (see interpreter-lock ?subject ?by (str-cat (number ?waiting) " threads wait for the lock of " ?language " on average; " ?holder " holds it longest"))
  (explain interpreter-lock ?subject (create$ slow) ?share ?low ?high (str-cat (percent ?share) " of its time"))
  (follows interpreter-lock ?subject lock-convoy ?subject)
  (follows interpreter-lock ?subject pool-exhausted ?subject)
  (describe interpreter-lock ?subject
    (str-cat "threads of " ?process " wait for the lock of " ?language " " (percent ?share) " of the time")
    ?holder
    "use processes instead of threads for what computes, or move it to code that releases the lock (numpy, C extensions)"
    "the process group uses more than one CPU, and requests take less time"
    "with a single thread each request takes as long: then the work itself is the limit"))

(defrule interpreter-lock-not-seen
  (logical (measured (by interpreters) (pid ?pid))
    (process (pid ?pid) (language ?language&"python"|"ruby") (threads ?threads&:(>= ?threads 2)) (cpu ?cpu&:(>= ?cpu 0.5)&:(<= ?cpu 1.3)))
    (not (interpreter (pid ?pid) (share ?share&:(>= ?share 0.05)))))
  =>
  (contradict interpreter-lock (process-subject ?pid) interpreters "threads wait for the interpreter's lock less than 5% of the time"))

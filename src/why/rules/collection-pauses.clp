; "The garbage collector stops the program again and again."
; Symptom: some requests take much longer than most; the program has a garbage collector and allocates a lot.
; Cause: collections stop all threads for a large part of the time.
; Refutation: pauses are short and few.
; Thresholds: collectors are tuned for 1 to 5% of the time; from 10% on they are a cause. As a sign it is enough that the language has a collector and the
; process is at work (10% of a CPU).

(defrule collection-pauses-sign
  (process (by ?by) (pid ?pid) (language ?language&"java"|"go"|"python"|"ruby"|"node"|"php"|"dotnet") (cpu ?cpu&:(>= ?cpu 0.1)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose collection-pauses ?subject ?by (str-cat ?language " collects garbage, and the process uses " (number ?cpu) " CPUs"))
  (ask collection-pauses ?subject collectors (target ?pid) 45 "how often it collects, and for how long"))

(defrule collection-pauses-seen
  (process (pid ?pid) (name ?process))
  (collector (by ?by) (pid ?pid) (rate ?rate) (pause ?pause) (longest ?longest) (allocates ?allocates) (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high))
  =>
  (bind ?subject (process-subject ?pid))
  (see collection-pauses ?subject ?by (str-cat (number ?rate) " collections a second stop it for " (duration ?pause) " each, up to " (duration ?longest)))
  (explain collection-pauses ?subject (create$ slow stuck) ?share ?low ?high (str-cat (percent ?share) " of its time"))
  (follows collection-pauses ?subject hot-function ?subject)
  (describe collection-pauses ?subject
    (str-cat "the garbage collector stops " ?process " " (percent ?share) " of the time")
    ?allocates
    "allocate less where most is allocated, give it a larger heap, or use a concurrent collector (ZGC, GOGC, gc.freeze)"
    "pauses take less than 5% of the time"
    "the heap is as large as what it holds needs: then it is a leak"))

(defrule collection-pauses-not-seen
  (logical (measured (by collectors) (pid ?pid))
    (process (pid ?pid) (language ~"") (cpu ?cpu&:(>= ?cpu 0.1)))
    (not (collector (pid ?pid) (share ?share&:(>= ?share 0.05)))))
  =>
  (contradict collection-pauses (process-subject ?pid) collectors "collections take less than 5% of its time"))

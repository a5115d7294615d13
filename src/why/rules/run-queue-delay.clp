; "Its threads are ready to run, and there is no CPU for them."
; Symptom: threads wait for a CPU for a large part of the time in which they could run.
; Cause: the host has fewer CPUs than threads that want to run. Who they are is a cause of its own, if it is known: this is then a consequence.
; Refutation: threads get a CPU as soon as they are ready.
; Thresholds: a fully used CPU with random arrivals makes each wait as long as it runs; 20% is the wait at about a fifth above the usual load of a host
; that has enough CPUs (5%). Of the whole time, 10% is what users begin to notice.

(defrule run-queue-delay-sign
  (process (by ?by) (pid ?pid) (run_delay ?delay&:(>= ?delay 0.2)) (cpu ?cpu&:(>= ?cpu 0.02)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose run-queue-delay ?subject ?by (str-cat "its threads wait for a CPU " (percent ?delay) " of the time in which they could run"))
  (ask run-queue-delay ?subject run-queues (target ?pid) 85 "how long each wait is, and who runs meanwhile"))

(defrule run-queue-delay-seen
  (process (pid ?pid) (name ?process))
  (run-queue (by ?by) (pid ?pid) (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high) (delay ?delay) (ahead ?ahead) (ahead_share ?ahead-share))
  =>
  (bind ?subject (process-subject ?pid))
  (see run-queue-delay ?subject ?by (str-cat "waits for a CPU take " (duration ?delay) " on average, while " ?ahead " runs (" (percent ?ahead-share) " of them)"))
  (explain run-queue-delay ?subject (create$ slow) ?share ?low ?high (str-cat (percent ?share) " of its time"))
  (describe run-queue-delay ?subject
    (str-cat ?process " waits for a CPU " (percent ?share) " of its time")
    ""
    (str-cat "give it more CPUs or a higher weight (cpu.weight), or move " ?ahead " elsewhere or to another time")
    "its waits for a CPU are below 5% of the time in which it could run"
    "other processes on the same CPUs are idle: then it is bound to CPUs that it must share (affinity, cpuset)"))

(defrule run-queue-delay-not-seen
  (logical (measured (by run-queues) (pid ?pid))
    (process (pid ?pid) (run_delay ?delay&:(>= ?delay 0.2)) (cpu ?cpu&:(>= ?cpu 0.02)))
    (not (run-queue (pid ?pid) (share ?share&:(>= ?share 0.05)))))
  =>
  (contradict run-queue-delay (process-subject ?pid) run-queues "waits for a CPU are less than 5% of its time"))

; "The container has used up its CPU quota and is stopped until the next period, while CPUs are idle."
; Symptom: requests are slow in steps of some 10 ms; the host is not busy.
; Cause: the control group's quota (cpu.max) is smaller than what its threads use at the same time.
; Refutation: its threads wait for other things; throttled periods are rare or idle.
; Thresholds: a group that is throttled 5% of the time makes one request in twenty wait for the next period (100 ms by default); of what threads wait for,
; 5% is what users begin to notice.

(defrule cgroup-throttled-sign
  (cgroup (by ?by) (name ?name) (quota ?quota&:(> ?quota 0)) (throttled ?throttled&:(>= ?throttled 0.05)))
  (process (pid ?pid) (cgroup ?name))
  (request (pid ?asked&:(or (< ?asked 0) (= ?asked ?pid))))
  =>
  (bind ?subject (cgroup-subject ?name))
  (suppose cgroup-throttled ?subject ?by (str-cat "throttled " (percent ?throttled) " of the time by its quota of " (number ?quota) " CPUs"))
  (ask cgroup-throttled ?subject run-queues (target ?pid) 85 "how much of the process's time that takes"))

; A thread that is throttled waits for a CPU, though others are idle. Its waits may have other reasons, too: the group's own count is the most it can be.
(defrule cgroup-throttled-seen
  (process (pid ?pid) (name ?process) (cgroup ?name))
  (cgroup (name ?name) (quota ?quota&:(> ?quota 0)) (throttled ?throttled&:(>= ?throttled 0.05)))
  (run-queue (by ?by) (pid ?pid) (share ?share&:(>= ?share 0.05)) (low ?low) (high ?high) (delay ?delay))
  =>
  (bind ?subject (cgroup-subject ?name))
  (see cgroup-throttled ?subject ?by (str-cat ?process " waits for a CPU " (percent ?share) " of its time, " (duration ?delay) " on average"))
  (explain cgroup-throttled ?subject (create$ slow) (min ?share ?throttled) (min ?low ?throttled) (min ?high ?throttled)
    (str-cat (percent (min ?share ?throttled)) " of the time of " ?process))
  (follows cgroup-throttled ?subject run-queue-delay (process-subject ?pid))
  (follows cgroup-throttled ?subject thread-oversubscription (process-subject ?pid))
  (describe cgroup-throttled ?subject
    (str-cat ?process " is stopped by the CPU quota of its control group")
    (str-cat ?name ", cpu.max: " (number ?quota) " CPUs")
    "raise cpu.max (the CPU limit of the container), or run fewer threads than it has CPUs (GOMAXPROCS, worker_processes, -XX:ActiveProcessorCount)"
    "nr_throttled in cpu.stat of the group stops growing"
    "with a higher quota requests take as long: then the quota ends bursts that nobody waits for"))

(defrule cgroup-throttled-not-seen
  (logical (measured (by run-queues) (pid ?pid))
    (process (pid ?pid) (cgroup ?name))
    (cgroup (name ?name) (throttled ?throttled&:(>= ?throttled 0.05)))
    (not (run-queue (pid ?pid) (share ?share&:(>= ?share 0.02)))))
  =>
  (contradict cgroup-throttled (cgroup-subject ?name) run-queues "its threads wait for a CPU less than 2% of their time"))

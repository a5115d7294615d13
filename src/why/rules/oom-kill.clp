; "The kernel killed it, as memory ran out; the process that took the memory may be another one."
; Symptom: a process disappears without a message, or is restarted again and again.
; Cause: the host, or the control group with its limit, had no memory left, and the kernel chose this process.
; Refutation: the kernel's log has no such kill; the process ended by itself.
; Thresholds: a single kill is enough. The victim is also the cause if it had most of the memory.

(defrule oom-kill-sign
  (cgroup (by ?by) (name ?name) (oom_kills ?kills&:(>= ?kills 1)))
  (process (pid ?pid) (cgroup ?name))
  (request (pid ?asked&:(or (< ?asked 0) (= ?asked ?pid))))
  =>
  (bind ?subject (cgroup-subject ?name))
  (suppose oom-kill ?subject ?by (str-cat "the kernel killed " ?kills " of its processes for lack of memory"))
  (ask oom-kill ?subject kernel-log "" 80 "which process was killed, and who had the memory"))

(defrule oom-kill-seen
  (oom-kill (by ?by) (victim ?victim) (name ?process) (cgroup ?name) (limit ?limit) (rss ?rss) (largest ?largest) (largest_pid ?largest-pid) (largest_rss ?most))
  (cgroup (name ?name) (oom_kills ?kills&:(>= ?kills 1)))
  ; It concerns the process that is asked about, or all.
  (or (request (pid -1))
      (test (eq ?name "/"))
      (and (request (pid ?asked&:(>= ?asked 0))) (process (pid ?asked) (cgroup ?name))))
  =>
  (bind ?subject (cgroup-subject ?name))
  (see oom-kill ?subject ?by (str-cat "the kernel killed " ?process " (process " ?victim "), which had " (bytes ?rss)
    "; " ?largest " (process " ?largest-pid ") had most: " (bytes ?most)))
  (explain oom-kill ?subject (create$ failing growing) 1 1 1 (str-cat ?process " was ended by it"))
  (describe oom-kill ?subject
    (str-cat "the kernel killed " ?process " for lack of memory" (if (> ?limit 0) then (str-cat " (limit " (bytes ?limit) ")") else ""))
    (str-cat ?name ", memory.max")
    (if (= ?victim ?largest-pid)
     then "raise the limit if it needs that much, or find out what grows (acu flame alloc --leaks)"
     else (str-cat "look at " ?largest ", which has most of the memory; the victim is only what the kernel chose (oom_score_adj)"))
    "oom_kill in memory.events of the group does not grow"
    "the process was killed by someone else (SIGKILL by a supervisor): then the kernel's log is silent"))

(defrule oom-kill-not-seen
  (logical (measured (by kernel-log))
    (cgroup (name ?name) (oom_kills ?kills&:(>= ?kills 1)))
    (not (oom-kill (cgroup ?name))))
  =>
  (contradict oom-kill (cgroup-subject ?name) kernel-log "the kernel's log has no such kill since the process started"))

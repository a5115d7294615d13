; "Another tenant of the host takes the CPUs that this one needs."
; Symptom: a process waits for a CPU although its own control group does not use much.
; Cause: most of these waits end only after a process of another control group ran.
; Refutation: processes of its own control group run meanwhile; then its own load is the cause.
; Or it shares a CPU with itself, because the other group has the rest: its threads would all fit if that one was not there.
; Thresholds: another group that uses less than 30% of the CPUs leaves enough for everyone. Waits are worth a finding from 10% of the time on; the neighbour
; is their cause if it runs in half of them.

(defrule noisy-neighbour-sign
  (host-cpu (cpus ?cpus))
  (process (pid ?pid) (cgroup ?own) (run_delay ?delay&:(>= ?delay 0.2)) (cpu ?cpu&:(>= ?cpu 0.02)))
  (request (pid ?asked&:(or (< ?asked 0) (= ?asked ?pid))))
  (cgroup (by ?by) (name ?name&~?own&~"/"&~"") (cpu ?used&:(>= ?used (* 0.3 ?cpus))))
  (test (not (eq (str-index ?name ?own) 1)))
  =>
  (bind ?subject (cgroup-subject ?name))
  (suppose noisy-neighbour ?subject ?by (str-cat "uses " (number ?used) " of " ?cpus " CPUs"))
  (ask noisy-neighbour ?subject run-queues (target ?pid) 75 "who runs while the process waits for a CPU"))

(defrule noisy-neighbour-seen
  (process (pid ?pid) (name ?process) (cgroup ?own))
  (request (pid ?asked&:(or (< ?asked 0) (= ?asked ?pid))))
  (run-queue (by ?by) (pid ?pid) (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high) (delay ?delay)
    (ahead_cgroup ?name&~?own&~"") (cgroup_share ?part&:(>= ?part 0.5)) (ahead ?ahead) (ahead_pid ?ahead-pid))
  (not (cgroup (name ?own) (throttled ?throttled&:(>= ?throttled 0.05)))) ; else its own quota stops it
  =>
  (bind ?subject (cgroup-subject ?name))
  (see noisy-neighbour ?subject ?by (str-cat ?name " runs in " (percent ?part) " of the time that " ?process " waits for a CPU, mostly " ?ahead " (process " ?ahead-pid ")"))
  (explain noisy-neighbour ?subject (create$ slow) (* ?share ?part) (* ?low ?part) (* ?high ?part) (str-cat (percent (* ?share ?part)) " of the time of " ?process))
  (follows noisy-neighbour ?subject run-queue-delay (process-subject ?pid))
  (describe noisy-neighbour ?subject
    (str-cat ?name " takes the CPUs that " ?process " needs")
    (str-cat ?ahead " (process " ?ahead-pid ")")
    (str-cat "limit " ?name " (cpu.max), lower its weight (cpu.weight), or give " ?process " CPUs of its own (cpuset)")
    (str-cat "waits of " ?process " for a CPU, " (duration ?delay) " on average, become shorter")
    (str-cat "without " ?name " the waits stay: then the host has too few CPUs for " ?process " alone")))

(defrule noisy-neighbour-has-the-other-cpus
  (host-cpu (cpus ?cpus) (busy ?busy&:(>= ?busy 0.9)))
  (process (pid ?pid) (name ?process) (cgroup ?own) (runnable ?runnable&:(<= ?runnable (* 1.1 ?cpus))))
  (request (pid ?asked&:(or (< ?asked 0) (= ?asked ?pid))))
  (cgroup (name ?name&~?own&~"/"&~"") (cpu ?used&:(>= ?used (* 0.3 ?cpus))))
  (run-queue (by ?by) (pid ?pid) (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high) (delay ?delay) (ahead_pid ?pid) (ahead_share ?part&:(>= ?part 0.5)))
  (not (cgroup (name ?own) (throttled ?throttled&:(>= ?throttled 0.05))))
  =>
  (bind ?subject (cgroup-subject ?name))
  (see noisy-neighbour ?subject ?by (str-cat ?process " waits for its own threads, though it has no more than " (number ?runnable) " busy ones: " ?name " has " (number ?used) " of the " ?cpus " CPUs"))
  (explain noisy-neighbour ?subject (create$ slow) ?share ?low ?high (str-cat (percent ?share) " of the time of " ?process))
  (follows noisy-neighbour ?subject run-queue-delay (process-subject ?pid))
  (describe noisy-neighbour ?subject
    (str-cat ?name " takes the CPUs that " ?process " needs")
    ?name
    (str-cat "limit " ?name " (cpu.max), lower its weight (cpu.weight), or give " ?process " CPUs of its own (cpuset)")
    (str-cat "waits of " ?process " for a CPU, " (duration ?delay) " on average, become shorter")
    (str-cat "without " ?name " the waits stay: then " ?process " is bound to one CPU (affinity)")))

(defrule noisy-neighbour-not-seen
  (logical (host-cpu (cpus ?cpus))
    (process (pid ?pid) (cgroup ?own) (run_delay ?delay&:(>= ?delay 0.2)))
    (measured (by run-queues) (pid ?pid))
    (cgroup (name ?name&~?own&~"/"&~"") (cpu ?used&:(>= ?used (* 0.3 ?cpus))))
    (not (run-queue (pid ?pid) (ahead_cgroup ?name) (cgroup_share ?part&:(>= ?part 0.3))))
    (not (run-queue (pid ?pid) (ahead_pid ?pid))))
  =>
  (contradict noisy-neighbour (cgroup-subject ?name) run-queues "runs in less than 30% of the time that the process waits for a CPU"))

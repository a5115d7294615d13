; "Something starts programs all the time; each lives for a moment, and no list of processes shows them."
; Symptom: the CPUs are busy, but the processes that are there do not use them.
; Cause: a process starts many short-lived programs a second.
; Refutation: the new processes live long: they are workers, and what they do counts.
; Thresholds: fork, exec, dynamic linking and exit take 1 to 5 ms of CPU time, so 20 a second use up to a tenth of a CPU; below that nobody notices. A worker
; that is started to work lives for seconds; half of these live for less than one. They must use 20% of a CPU together.

(defrule exec-storm-sign
  (births (by ?by) (parent ?parent) (name ?name) (rate ?rate&:(>= ?rate 20)))
  (request (pid ?asked))
  =>
  (bind ?subject (process-subject ?parent))
  (suppose exec-storm ?subject ?by (str-cat ?name " starts " (number ?rate) " processes a second"))
  (ask exec-storm ?subject run-queues (target ?asked) 60 "whether others wait for a CPU while these programs run"))

(defrule exec-storm-seen
  (host-cpu (by ?host-by) (cpus ?cpus&:(> ?cpus 0)) (busy ?busy&:(> ?busy 0)) (forks ?forks))
  (births (by ?by) (parent ?parent) (name ?name) (program ?program) (rate ?rate&:(>= ?rate 20)&:(>= ?forks (* 0.5 ?rate)))
    (cpu ?cpu&:(>= ?cpu 0.2)) (lifetime ?lifetime&:(< ?lifetime 1e9)))
  =>
  (bind ?subject (process-subject ?parent))
  (bind ?share (clamp (/ ?cpu (* ?busy ?cpus))))
  (see exec-storm ?subject ?by (str-cat (number ?rate) " new processes a second use " (number ?cpu) " CPUs; half of them live for less than " (duration ?lifetime)))
  (suppose exec-storm ?subject ?host-by (str-cat "the kernel counts " (number ?forks) " new processes and threads a second"))
  (explain exec-storm ?subject (create$ slow) ?share ?share ?share (str-cat (percent ?share) " of the host's CPU time in use"))
  (describe exec-storm ?subject
    (str-cat ?name " starts " ?program " " (number ?rate) " times a second")
    (str-cat ?name " (process " ?parent ")")
    (str-cat "let one process of " ?program " handle many requests, or call a library instead; in shell scripts, replace commands in loops by builtins")
    "the kernel starts fewer processes (acu execsnoop), and the CPUs are less busy"
    "the host is as busy without them: then they are many, but cheap"))

(defrule exec-storm-ahead
  (births (by ?births) (parent ?parent) (program ?program&~"") (rate ?rate&:(>= ?rate 20)) (lifetime ?lifetime&:(< ?lifetime 1e9)))
  (evidence (cause exec-storm) (subject ?subject&:(eq ?subject (process-subject ?parent))) (by ?births) (decisive yes))
  (run-queue (by ?by) (ahead ?program) (ahead_share ?part&:(>= ?part 0.3)))
  =>
  (see exec-storm ?subject ?by (str-cat ?program " runs in " (percent ?part) " of the time that others wait for a CPU")))

; They take CPUs from all others.
(defrule exec-storm-delays
  (evidence (cause exec-storm) (subject ?subject) (decisive yes))
  (evidence (cause run-queue-delay) (subject ?delayed) (decisive yes))
  =>
  (follows exec-storm ?subject run-queue-delay ?delayed))

(defrule exec-storm-not-seen
  (births (by ?by) (parent ?parent) (rate ?rate&:(>= ?rate 20)) (lifetime ?lifetime&:(>= ?lifetime 1e9)))
  =>
  (contradict exec-storm (process-subject ?parent) ?by (str-cat "half of the new processes live longer than " (duration ?lifetime) ": they are workers")))

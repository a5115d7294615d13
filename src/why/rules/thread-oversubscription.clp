; "It has more busy threads than there are CPUs: they take turns, and each takes longer."
; Symptom: a process has many threads that are ready to run, and the kernel switches between them all the time.
; Cause: while one of its threads waits for a CPU, another one of the same process runs.
; Refutation: other processes run meanwhile, or its threads get a CPU at once.
; Thresholds: twice as many ready threads as CPUs make each take at least twice as long. The kernel lets a thread run for about 3 ms: 300 preemptions a second
; are a CPU that changes threads each time. Of the waits, 60% behind its own threads are more than any other cause has.

(defrule thread-oversubscription-sign
  (host-cpu (cpus ?cpus))
  (process (by ?by) (pid ?pid) (threads ?threads&:(> ?threads ?cpus)) (runnable ?runnable&:(>= ?runnable (* 2 ?cpus))) (involuntary ?switches&:(>= ?switches 300)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose thread-oversubscription ?subject ?by (str-cat (number ?runnable) " of its " ?threads " threads are ready to run, on " ?cpus " CPUs"))
  (ask thread-oversubscription ?subject run-queues (target ?pid) 75 "who runs while its threads wait for a CPU"))

(defrule thread-oversubscription-seen
  (host-cpu (cpus ?cpus))
  (process (pid ?pid) (name ?process) (threads ?threads&:(> ?threads ?cpus)) (runnable ?runnable&:(> ?runnable ?cpus)))
  (run-queue (by ?by) (pid ?pid) (ahead_pid ?pid) (ahead_share ?part&:(>= ?part 0.6)) (share ?share&:(>= ?share 0.2)) (low ?low) (high ?high))
  =>
  (bind ?subject (process-subject ?pid))
  (see thread-oversubscription ?subject ?by (str-cat "its own threads run in " (percent ?part) " of the time that one of them waits for a CPU"))
  (explain thread-oversubscription ?subject (create$ slow) (* ?share ?part) (* ?low ?part) (* ?high ?part) (str-cat (percent (* ?share ?part)) " of its time"))
  (follows thread-oversubscription ?subject run-queue-delay ?subject)
  (describe thread-oversubscription ?subject
    (str-cat ?process " has " (number ?runnable) " busy threads on " ?cpus " CPUs")
    ""
    "use about as many threads as CPUs for what computes; the libraries OpenMP, BLAS and the like each start their own (OMP_NUM_THREADS)"
    "with fewer threads, throughput is the same and each request takes less time"
    "with fewer threads throughput falls: then threads wait for something else in between, and more of them are right"))

(defrule thread-oversubscription-not-seen
  (logical (measured (by run-queues) (pid ?pid))
    (host-cpu (cpus ?cpus))
    (process (pid ?pid) (threads ?threads&:(> ?threads ?cpus)) (runnable ?runnable&:(>= ?runnable (* 2 ?cpus))) (involuntary ?switches&:(>= ?switches 300)))
    (not (run-queue (pid ?pid) (ahead_pid ?pid) (ahead_share ?part&:(>= ?part 0.3)))))
  =>
  (contradict thread-oversubscription (process-subject ?pid) run-queues "its own threads run in less than 30% of its waits for a CPU"))

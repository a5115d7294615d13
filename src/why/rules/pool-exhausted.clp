; "All workers (or connections) are busy, so requests wait until one is free."
; Symptom: requests take long although nothing on the host is busy; the wait is before the work begins.
; Cause: a pool of fixed size is used up, usually because its members wait for something slow.
; Refutation: members are free while requests wait, or no request waits.
; Thresholds: at 95% busy members a request finds a free one hardly ever; at least one request must be waiting on average. Waits are worth a finding from 10% of
; the time on. Below 80% busy, a random arrival waits in one of five cases at most, and the pool is large enough.

(defrule pool-exhausted-sign
  (process (pid ?pid) (threads ?threads&:(> ?threads 1)) (busiest ?busiest&:(< ?busiest 0.9)))
  (syscall (by ?by) (pid ?pid) (call "futex") (time ?time&:(>= ?time 0.2)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose pool-exhausted ?subject ?by (str-cat "its threads wait for each other " (percent ?time) " of the time, and none is busy"))
  (ask pool-exhausted ?subject wait-graph (target ?pid) 70 "whether requests wait for a free worker or connection"))

(defrule pool-exhausted-seen
  (process (pid ?pid) (name ?process))
  (pool (by ?by) (pid ?pid) (name ?pool) (size ?size&:(> ?size 0)) (busy ?busy&:(>= ?busy (* 0.95 ?size))) (queued ?queued&:(>= ?queued 1))
    (members_do ?do) (members_share ?part) (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high))
  (not (pool (pid ?pid) (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see pool-exhausted ?subject ?by (str-cat (number ?busy) " of " ?size " members of " ?pool " are busy, and " (number ?queued) " requests wait for one on average"))
  (explain pool-exhausted ?subject (create$ slow stuck failing) ?share ?low ?high (str-cat (percent ?share) " of its time"))
  (describe pool-exhausted ?subject
    (str-cat "requests of " ?process " wait for one of the " ?size " members of " ?pool)
    (str-cat ?pool (if (eq ?do "") then "" else (str-cat ", which spend " (percent ?part) " of their time on " ?do)))
    "make members faster (what they wait for is the first place to look), give up on slow peers earlier (timeouts), or enlarge the pool if CPUs are idle"
    "requests wait for less than a tenth of their time before work on them begins"
    "with a larger pool requests take as long: then what members share is the limit"))

; What is not taken over stays in the queue of the socket.
(defrule pool-exhausted-queues
  (evidence (cause pool-exhausted) (subject ?subject) (decisive yes))
  =>
  (follows pool-exhausted ?subject accept-queue-full ?subject))

(defrule pool-exhausted-not-seen
  (logical (measured (by wait-graph) (pid ?pid))
    (process (pid ?pid) (threads ?threads&:(> ?threads 1)) (busiest ?busiest&:(< ?busiest 0.9)))
    (syscall (pid ?pid) (call "futex") (time ?time&:(>= ?time 0.2)))
    (not (pool (pid ?pid) (size ?size) (busy ?busy&:(>= ?busy (* 0.8 ?size))) (share ?share&:(>= ?share 0.02)))))
  =>
  (contradict pool-exhausted (process-subject ?pid) wait-graph "no request waits for a pool with all members busy"))

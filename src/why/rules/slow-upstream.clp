; "It waits for another service; that one is slow, not this one."
; Symptom: requests are slow, and the process is idle.
; Cause: most of the time goes by between a request to a peer and its answer, much longer than the network needs.
; Refutation: answers come as fast as the network allows; or the wait is for the next request of a client.
; Thresholds: an answer within ten round trips is mostly network; above that, and above 5 ms, the peer works or waits for long. It is worth a finding from 20% of
; the time on, as each request to a peer takes some time.

(defrule slow-upstream-sign
  (process (by ?by) (pid ?pid) (busiest ?busiest&:(< ?busiest 0.5)))
  (syscall (pid ?pid) (call ?call&"recvfrom"|"recvmsg"|"read"|"readv"|"poll"|"epoll_wait"|"epoll_pwait"|"select") (time ?time&:(>= ?time 0.3)))
  (request (pid ?asked&:(or (< ?asked 0) (= ?asked ?pid))))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose slow-upstream ?subject ?by (str-cat "its busiest thread runs " (percent ?busiest) " of the time only, and waits in " ?call))
  (ask slow-upstream ?subject connections (target ?pid) 75 "which peer it waits for"))

(defrule slow-upstream-seen
  (process (pid ?pid) (name ?process) (busiest ?busiest&:(< ?busiest 0.5)))
  (peer (by ?by) (pid ?pid) (address ?address) (latency ?latency&:(>= ?latency 5e6)) (round_trip ?trip&:(>= ?latency (* 10 ?trip)))
    (share ?share&:(>= ?share 0.2)) (low ?low) (high ?high) (failures ?failures&:(< ?failures 0.5)))
  (not (peer (pid ?pid) (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see slow-upstream ?subject ?by (str-cat ?address " answers after " (duration ?latency) "; the network needs " (duration ?trip) " of that"))
  (explain slow-upstream ?subject (create$ slow stuck) ?share ?low ?high (str-cat (percent ?share) " of its time"))
  (follows slow-upstream ?subject pool-exhausted ?subject)
  (describe slow-upstream ?subject
    (str-cat ?process " waits for answers of " ?address " " (percent ?share) " of its time")
    ?address
    "look for the cause there (acu why on that host); here: ask less often, at the same time instead of one after the other, or keep answers"
    (str-cat ?address " answers faster, or is asked less often")
    "the peer answers others quickly: then the question is expensive (a query without an index)"))

(defrule slow-upstream-not-seen
  (logical (covered (measurement connections) (pid ?pid) (subject ?subject))
    (evidence (cause slow-upstream) (subject ?subject) (side for) (decisive no))
    (not (peer (pid ?pid) (share ?share&:(>= ?share 0.1)))))
  =>
  (contradict slow-upstream (process-subject ?pid) connections "it waits for answers of peers less than 10% of its time"))

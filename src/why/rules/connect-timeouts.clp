; "It tries to reach a host that does not answer, and waits for the timeout each time."
; Symptom: requests take a round number of seconds; nothing is busy.
; Cause: packets to a peer disappear (a firewall, a host that is down, a wrong address), so connects end by timeout.
; Refutation: connects succeed, or are refused at once.
; Thresholds: the kernel repeats a request for a connection after 1, 3, 7, … s, so one that takes 1 s lost a packet. One failure in ten is more than a bad network
; has. It is worth a finding from 10% of the time on.

(defrule connect-timeouts-sign
  (syscall (by ?by) (pid ?pid) (call ?call&"connect"|"poll"|"epoll_wait"|"select") (error ?error&"ETIMEDOUT"|"EHOSTUNREACH"|"ENETUNREACH") (failed ?failed))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose connect-timeouts ?subject ?by (str-cat ?call " fails with " ?error))
  (ask connect-timeouts ?subject connections (target ?pid) 80 "which peer does not answer"))

(defrule connect-timeouts-sign-of-host
  (network (by ?by) (connect_failures ?failures&:(>= ?failures 0.1)))
  (request (pid ?pid&:(>= ?pid 0)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose connect-timeouts ?subject ?by (str-cat (number ?failures) " attempts to connect fail in a second on this host"))
  (ask connect-timeouts ?subject connections (target ?pid) 60 "which peer does not answer"))

(defrule connect-timeouts-seen
  (process (pid ?pid) (name ?process))
  (peer (by ?by) (pid ?pid) (address ?address) (reason ?reason&"timed out"|"unreachable") (failures ?failures&:(>= ?failures 0.1)) (connect_latency ?latency)
    (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high))
  (not (peer (pid ?pid) (reason "timed out"|"unreachable") (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see connect-timeouts ?subject ?by (str-cat (percent ?failures) " of the connects to " ?address " end as " ?reason ", after " (duration ?latency) " on average"))
  (explain connect-timeouts ?subject (create$ slow stuck failing) ?share ?low ?high (str-cat (percent ?share) " of its time"))
  (follows connect-timeouts ?subject pool-exhausted ?subject)
  (describe connect-timeouts ?subject
    (str-cat ?process " waits for " ?address ", which does not answer")
    ?address
    "check the address, the route and firewalls on the way; give connects a timeout of about a second, and stop trying for a while after failures (circuit breaker)"
    "connects to it succeed within the round trip time"
    "the peer answers others: then something between the two drops packets"))

(defrule connect-timeouts-not-seen
  (logical (covered (measurement connections) (pid ?pid) (subject ?subject))
    (evidence (cause connect-timeouts) (subject ?subject) (side for) (decisive no))
    (not (peer (pid ?pid) (reason "timed out"|"unreachable") (failures ?failures&:(> ?failures 0)))))
  =>
  (contradict connect-timeouts (process-subject ?pid) connections "no connect times out"))

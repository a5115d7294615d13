; "The service that it needs is not running: connections are refused."
; Symptom: requests fail at once, or are repeated for long.
; Cause: nobody listens at the address that the process connects to.
; Refutation: connects succeed, or are refused now and then (a restart).
; Thresholds: half of the connects to a peer refused is no restart: that lasts for seconds, and measurements for longer.

(defrule refused-peer-sign
  (syscall (by ?by) (pid ?pid) (call "connect") (error "ECONNREFUSED") (failed ?failed))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose refused-peer ?subject ?by (str-cat (percent ?failed) " of its connects fail, most with ECONNREFUSED"))
  (ask refused-peer ?subject connections (target ?pid) 75 "which peer refuses"))

(defrule refused-peer-seen
  (process (pid ?pid) (name ?process))
  (peer (by ?by) (pid ?pid) (address ?address) (reason "refused") (failures ?failures&:(>= ?failures 0.5)) (connects ?connects))
  (not (peer (pid ?pid) (reason "refused") (connects ?larger&:(> ?larger ?connects))))
  =>
  (bind ?subject (process-subject ?pid))
  (see refused-peer ?subject ?by (str-cat ?address " refuses " (percent ?failures) " of " (number ?connects) " connects a second"))
  (explain refused-peer ?subject (create$ failing slow stuck) ?failures ?failures ?failures (str-cat (percent ?failures) " of the connects to " ?address " fail"))
  (follows refused-peer ?subject error-storm ?subject)
  (describe refused-peer ?subject
    (str-cat "nobody listens at " ?address ", which " ?process " needs")
    ?address
    "start the service, or correct the address and port; repeat attempts with growing delays"
    (str-cat "connects to " ?address " succeed")
    "the service listens, but on another address (ss -ltnp on its host)"))

(defrule refused-peer-not-seen
  (logical (measured (by connections) (pid ?pid))
    (syscall (pid ?pid) (call "connect") (error "ECONNREFUSED"))
    (not (peer (pid ?pid) (reason "refused") (failures ?failures&:(>= ?failures 0.2)))))
  =>
  (contradict refused-peer (process-subject ?pid) connections "each peer accepts at least 80% of the connects"))

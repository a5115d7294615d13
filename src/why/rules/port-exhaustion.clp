; "It has opened so many connections to one peer that no local port is left."
; Symptom: connect fails with EADDRNOTAVAIL, though the peer is up.
; Cause: connections are opened for each request and closed by this side; each keeps its port for 60 s in TIME_WAIT.
; Refutation: ports towards the peer are free.
; Thresholds: there are 28,232 local ports for each peer by default, so 470 new connections a second use them all. At 90% the search for a free one becomes slow,
; and bursts fail.

(defrule port-exhaustion-sign
  (syscall (by ?by) (pid ?pid) (call ?call&"connect"|"bind") (error "EADDRNOTAVAIL") (failed ?failed))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose port-exhaustion ?subject ?by (str-cat (percent ?failed) " of the calls of " ?call " fail with EADDRNOTAVAIL"))
  (ask port-exhaustion ?subject connections (target ?pid) 75 "how many local ports are in use towards its peers"))

(defrule port-exhaustion-seen
  (process (pid ?pid) (name ?process))
  (syscall (pid ?pid) (call "connect"|"bind") (error "EADDRNOTAVAIL") (failed ?failed))
  (ports (by ?by) (pid ?pid) (peer ?peer) (used ?used&:(>= ?used 0.9)) (closing ?closing) (connects ?connects))
  (not (ports (pid ?pid) (used ?larger&:(> ?larger ?used))))
  =>
  (bind ?subject (process-subject ?pid))
  (see port-exhaustion ?subject ?by (str-cat (percent ?used) " of the local ports are in use towards " ?peer ", " (percent ?closing) " of them in TIME_WAIT"))
  (explain port-exhaustion ?subject (create$ failing slow) ?failed ?failed ?failed (str-cat (percent ?failed) " of its connects fail"))
  (follows port-exhaustion ?subject error-storm ?subject)
  (describe port-exhaustion ?subject
    (str-cat ?process " has no local port left towards " ?peer)
    (str-cat ?peer ", " (number ?connects) " new connections a second")
    "keep connections open and reuse them (a pool, keep-alive); until then more ports (net.ipv4.ip_local_port_range), net.ipv4.tcp_tw_reuse=1, or several addresses"
    "connects do not fail, and few sockets are in TIME_WAIT (ss -s)"
    "ports are in use by established connections: then they are not closed at all"))

(defrule port-exhaustion-not-seen
  (logical (measured (by connections) (pid ?pid))
    (syscall (pid ?pid) (call "connect"|"bind") (error "EADDRNOTAVAIL"))
    (not (ports (pid ?pid) (used ?used&:(>= ?used 0.7)))))
  =>
  (contradict port-exhaustion (process-subject ?pid) connections "at least 30% of the local ports are free towards each peer: the local address itself is not available"))

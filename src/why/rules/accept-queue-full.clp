; "Connections arrive faster than the program accepts them; the kernel drops the rest."
; Symptom: clients wait 1, 3 or 7 s for a connection, or get none.
; Cause: the listen queue is full: the program accepts too slowly, or the queue is very short.
; Refutation: overflows are counted, but the queues of this process are empty.
; Thresholds: one overflow in ten seconds is a client that waits a second. A queue is full if it holds 90% of its limit on average, as it empties in between.

(defrule accept-queue-full-sign
  (network (by ?by) (listen_overflows ?overflows&:(>= ?overflows 0.1)))
  (request (pid ?pid&:(>= ?pid 0)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose accept-queue-full ?subject ?by (str-cat (number ?overflows) " connections a second do not fit into a listen queue of this host"))
  (ask accept-queue-full ?subject connections (target ?pid) 70 "whose queue is full"))

(defrule accept-queue-full-seen
  (process (pid ?pid) (name ?process))
  (listen-queue (by ?by) (pid ?pid) (port ?port) (length ?length) (limit ?limit&:(> ?limit 0)) (overflows ?overflows&:(>= ?overflows 0.1)) (accepts ?accepts))
  (test (>= ?length (* 0.9 ?limit)))
  (not (listen-queue (pid ?pid) (overflows ?larger&:(> ?larger ?overflows))))
  =>
  (bind ?subject (process-subject ?pid))
  (bind ?share (/ ?overflows (+ ?overflows ?accepts)))
  (see accept-queue-full ?subject ?by (str-cat (number ?length) " of " ?limit " places of the queue of port " ?port " are taken; " (number ?overflows) " connections a second do not fit"))
  (explain accept-queue-full ?subject (create$ slow failing) ?share ?share ?share (str-cat (percent ?share) " of the connections to port " ?port " do not fit"))
  (describe accept-queue-full ?subject
    (str-cat ?process " does not accept connections to port " ?port " as fast as they come")
    (str-cat "port " ?port ", a queue of " ?limit)
    "find out what the accepting thread does instead; a longer queue (the backlog of listen, net.core.somaxconn) helps only against bursts"
    "ListenOverflows in /proc/net/netstat does not grow"
    "the queue is full for moments only: then it is too short for bursts"))

(defrule accept-queue-full-not-seen
  (logical (measured (by connections) (pid ?pid))
    (network (listen_overflows ?overflows&:(>= ?overflows 0.1)))
    (not (listen-queue (pid ?pid) (overflows ?own&:(> ?own 0)))))
  =>
  (contradict accept-queue-full (process-subject ?pid) connections "no queue of this process overflows"))

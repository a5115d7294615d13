; "Each request waits 40 ms for nothing: one side holds back a small segment, the other one its acknowledgement."
; Symptom: answers take 40 ms (or 200 ms) more than the peer needs, over a fast network.
; Cause: a request is written in two or more small pieces, and Nagle's algorithm meets delayed acknowledgements.
; Refutation: no segment is held back; the peer needs that long.
; Thresholds: Linux delays acknowledgements by 40 ms at least: latencies from 35 to 60 ms are the sign. A segment held back for 20 ms waited for such a timer, as a
; round trip in one site takes less than 1 ms. It is worth a finding from 10% of the time on.

(defrule nagle-delay-sign
  (peer (by ?by) (pid ?pid) (address ?address) (latency ?latency&:(>= ?latency 3.5e7)&:(<= ?latency 6e7)) (round_trip ?trip&:(< ?trip 5e6)) (share ?share&:(>= ?share 0.1)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose nagle-delay ?subject ?by (str-cat ?address " answers after " (duration ?latency) ", near the 40 ms of a delayed acknowledgement"))
  (ask nagle-delay ?subject packets (target ?pid) 70 "whether segments are held back"))

(defrule nagle-delay-seen
  (process (pid ?pid) (name ?process))
  (delayed-acks (by ?by) (pid ?pid) (peer ?peer) (stall ?stall&:(>= ?stall 2e7)) (rate ?rate) (where ?where) (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high))
  (not (delayed-acks (pid ?pid) (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see nagle-delay ?subject ?by (str-cat (number ?rate) " small segments a second to " ?peer " are held back for " (duration ?stall)))
  (explain nagle-delay ?subject (create$ slow) ?share ?low ?high (str-cat (percent ?share) " of its time"))
  (follows nagle-delay ?subject slow-upstream ?subject)
  (describe nagle-delay ?subject
    (str-cat ?process " waits " (duration ?stall) " before the second part of each request to " ?peer " is sent")
    ?where
    "write each request in one piece (a buffer, writev, MSG_MORE), or set TCP_NODELAY"
    (str-cat "answers of " ?peer " come " (duration ?stall) " earlier")
    "with TCP_NODELAY answers take as long: then the peer needs that time"))

(defrule nagle-delay-not-seen
  (logical (measured (by packets) (pid ?pid))
    (peer (pid ?pid) (latency ?latency&:(>= ?latency 3.5e7)&:(<= ?latency 6e7)) (round_trip ?trip&:(< ?trip 5e6)) (share ?share&:(>= ?share 0.1)))
    (not (delayed-acks (pid ?pid) (stall ?stall&:(>= ?stall 2e7)) (share ?held&:(>= ?held 0.02)))))
  =>
  (contradict nagle-delay (process-subject ?pid) packets "no segment is held back for 20 ms"))

; "The network loses packets, and TCP waits before it sends them again."
; Symptom: some requests take 200 ms or seconds more than others; many segments are sent again.
; Cause: packets are dropped on the way to a peer, or by a full queue here.
; Refutation: the peer that is waited for gets its packets at the first attempt.
; Thresholds: a good network loses 1 of 10,000 segments. At 1% each request of a hundred segments loses one, and waits for at least 200 ms. Below 0.5% it does not
; explain what users feel. It is worth a finding from 10% of the time on.

(defrule packet-loss-sign
  (network (by ?by) (retransmits ?lost&:(>= ?lost 0.01)) (segments ?segments&:(>= ?segments 10)))
  (request (pid ?pid&:(>= ?pid 0)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose packet-loss ?subject ?by (str-cat (percent ?lost) " of the host's segments are sent again"))
  (ask packet-loss ?subject connections (target ?pid) 70 "which peer it is"))

(defrule packet-loss-seen
  (process (pid ?pid) (name ?process))
  (peer (by ?by) (pid ?pid) (address ?address) (retransmits ?lost&:(>= ?lost 0.01)) (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high))
  (not (peer (pid ?pid) (retransmits ?also&:(>= ?also 0.01)) (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see packet-loss ?subject ?by (str-cat (percent ?lost) " of the segments to " ?address " are sent again"))
  (explain packet-loss ?subject (create$ slow stuck failing) ?share ?low ?high (str-cat (percent ?share) " of its time"))
  (follows packet-loss ?subject slow-upstream ?subject)
  (follows packet-loss ?subject connect-timeouts ?subject)
  (describe packet-loss ?subject
    (str-cat ?process " waits for " ?address ", on the way to which packets are lost")
    ?address
    "look for drops on the way: ip -s link, ethtool -S, tc -s qdisc here (acu tcpdrop shows those of the kernel); then switches, tunnels (MTU) and the limits of a cloud network"
    "less than 0.1% of the segments are sent again"
    "segments are sent again that had arrived (spurious retransmits): then acknowledgements are late"))

(defrule packet-loss-not-seen
  (logical (measured (by connections) (pid ?pid))
    (network (retransmits ?lost&:(>= ?lost 0.01)) (segments ?segments&:(>= ?segments 10)))
    (not (peer (pid ?pid) (retransmits ?own&:(>= ?own 0.005)))))
  =>
  (contradict packet-loss (process-subject ?pid) connections "less than 0.5% of the segments to its peers are sent again"))

; "The disk itself is slow: single requests take long, although it has little to do."
; Symptom: reads and writes take 10 ms and more while the disk is mostly idle.
; Cause: the device (a worn SSD, a failing disk, a throttled cloud volume, a network disk) needs that long for a request.
; Refutation: the device is quick, and requests wait in the queue instead.
; Thresholds: an SSD answers in 0.1 to 1 ms, a rotating disk in 5 to 15 ms: from 20 ms on neither is well. Single requests that take 200 ms (1 of 100) are what a
; device does that repeats failed reads, or a volume that has used up its budget.

(defrule slow-device-sign
  (disk (by ?by) (device ?device) (latency ?latency&:(>= ?latency 1e7)) (queue ?queue&:(< ?queue 4)))
  =>
  (bind ?subject (disk-subject ?device))
  (suppose slow-device ?subject ?by (str-cat "a request takes " (duration ?latency) " on average, with " (number ?queue) " requests in it"))
  (ask slow-device ?subject block-io "" 70 "whether the device or its queue takes that long"))

(defrule slow-device-seen
  (disk-latency (by ?by) (device ?device) (service ?service) (tail ?tail) (queued ?queued&:(< ?queued ?service)))
  (test (or (>= ?service 2e7) (>= ?tail 2e8)))
  =>
  (bind ?subject (disk-subject ?device))
  (see slow-device ?subject ?by (str-cat "the device needs " (duration ?service) " for a request, " (duration ?tail) " for the slowest 1%; they wait only " (duration ?queued) " before"))
  (describe slow-device ?subject
    (str-cat "disk " ?device " needs " (duration ?service) " for each request")
    (str-cat "disk " ?device)
    "look at its health (smartctl -a, dmesg), at the budget of a cloud volume, at the network of a network disk; replace it or move the data"
    "the device needs less than 10 ms for a request (acu biolatency)"
    "requests are large: 20 ms for some MB is what a disk can do"))

(defrule slow-device-explained
  (evidence (cause slow-device) (subject ?subject) (decisive yes))
  (request (pid ?asked))
  (wait (pid ?pid&:(or (< ?asked 0) (= ?asked ?pid))) (reason "disk"|"flush") (share ?share) (low ?low) (high ?high))
  (not (wait (pid ?other&:(or (< ?asked 0) (= ?asked ?other))) (reason "disk"|"flush") (share ?larger&:(> ?larger ?share))))
  =>
  (explain slow-device ?subject (create$ slow stuck) ?share ?low ?high (str-cat (percent ?share) " of the time of process " ?pid " waits for a disk"))
  (follows slow-device ?subject fsync-bound (process-subject ?pid)))

(defrule slow-device-not-seen
  (disk (device ?device) (latency ?latency&:(>= ?latency 1e7)) (queue ?queue&:(< ?queue 4)))
  (disk-latency (by ?by) (device ?device) (service ?service&:(< ?service 1e7)) (tail ?tail&:(< ?tail 1e8)))
  =>
  (contradict slow-device (disk-subject ?device) ?by (str-cat "the device needs " (duration ?service) " for a request, " (duration ?tail) " for the slowest 1%")))

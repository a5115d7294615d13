; "The disk has more requests than it can work off; they queue."
; Symptom: the disk is in use all the time, and its requests take many times as long as the device needs.
; Cause: requests wait in the kernel's queue longer than the device works on them.
; Refutation: the device works on many requests in parallel and none of them waits: then 100% utilisation is no limit.
; Thresholds: 90% utilisation and two requests in it on average are the sign, which a fast SSD has as well. The queue is the limit if a request waits at least
; as long as it is served; it is not, if it waits for less than a quarter of that.

(defrule disk-saturated-sign
  (disk (by ?by) (device ?device) (utilisation ?used&:(>= ?used 0.9)) (queue ?queue&:(>= ?queue 2)))
  =>
  (bind ?subject (disk-subject ?device))
  (suppose disk-saturated ?subject ?by (str-cat "in use " (percent ?used) " of the time, with " (number ?queue) " requests on average"))
  (ask disk-saturated ?subject block-io "" 75 "how long requests wait in the queue, and whose they are")
  (ask disk-saturated ?subject waits "" 60 "who waits for the disk"))

(defrule disk-saturated-seen
  (disk-latency (by ?by) (device ?device) (service ?service) (queued ?queued&:(> ?queued 0)&:(>= ?queued ?service)))
  (disk (device ?device) (utilisation ?used&:(>= ?used 0.9)))
  (disk-user (device ?device) (pid ?user-pid) (name ?user) (bytes ?bytes) (share ?part))
  (not (disk-user (device ?device) (share ?larger&:(> ?larger ?part))))
  =>
  (bind ?subject (disk-subject ?device))
  (see disk-saturated ?subject ?by (str-cat "requests wait " (duration ?queued) " in the queue, and take " (duration ?service) " in the device"))
  (describe disk-saturated ?subject
    (str-cat "disk " ?device " has more requests than it can work off")
    (str-cat ?user " (process " ?user-pid ") makes " (percent ?part) " of its load, " (bytes ?bytes) " a second")
    (str-cat "make " ?user " read and write less (memory for the cache, larger requests, other times), limit it (io.max), or use a faster disk")
    "the queue of the disk is empty most of the time (acu biolatency)"
    "the process that is slow does not wait for this disk"))

(defrule disk-saturated-explained-by-waits
  (evidence (cause disk-saturated) (subject ?subject) (decisive yes))
  (request (pid ?asked))
  (wait (pid ?pid&:(or (< ?asked 0) (= ?asked ?pid))) (reason "disk"|"flush") (share ?share) (low ?low) (high ?high))
  (not (wait (pid ?other&:(or (< ?asked 0) (= ?asked ?other))) (reason "disk"|"flush") (share ?larger&:(> ?larger ?share))))
  =>
  (explain disk-saturated ?subject (create$ slow stuck) ?share ?low ?high (str-cat (percent ?share) " of the time of process " ?pid " waits for a disk")))

; Asked about the host, pressure is what its tasks feel.
(defrule disk-saturated-explained-by-pressure
  (evidence (cause disk-saturated) (subject ?subject) (decisive yes))
  (request (pid -1))
  (pressure (resource "io") (cgroup "") (some ?some&:(>= ?some 0.05)) (full ?full))
  (not (wait (reason "disk"|"flush")))
  =>
  (explain disk-saturated ?subject (create$ slow stuck) ?some ?full ?some (str-cat "some task waits for a disk " (percent ?some) " of the time")))

(defrule disk-saturated-not-seen
  (disk (device ?device) (utilisation ?used&:(>= ?used 0.9)) (queue ?queue&:(>= ?queue 2)))
  (disk-latency (by ?by) (device ?device) (service ?service) (queued ?queued&:(< ?queued (* 0.25 ?service))) (parallel ?parallel))
  =>
  (contradict disk-saturated (disk-subject ?device) ?by
    (str-cat "requests hardly wait in the queue; the device works on " (number ?parallel) " of them at a time")))

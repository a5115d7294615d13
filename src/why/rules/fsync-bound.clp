; "It makes each small change durable by itself, and waits for the disk every time."
; Symptom: writes are slow, the disk has few requests in it.
; Cause: most of the time is spent in fsync, fdatasync or synchronous writes.
; Refutation: these calls are few, or return at once.
; Thresholds: a flush takes 0.1 ms (server SSD) to 30 ms (rotating disk). 10% of the time in such calls is the sign; from 15% on it is a finding, as a commit now
; and then is normal.

(defrule fsync-bound-sign
  (syscall (by ?by) (pid ?pid) (call ?call&"fsync"|"fdatasync"|"sync_file_range"|"msync"|"syncfs"|"sync") (rate ?rate) (time ?time&:(>= ?time 0.1)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose fsync-bound ?subject ?by (str-cat (number ?rate) " calls of " ?call " a second take " (percent ?time) " of its time"))
  (ask fsync-bound ?subject files (target ?pid) 70 "which files it makes durable, and where"))

(defrule fsync-bound-seen
  (process (pid ?pid) (name ?process))
  (file-sync (by ?by) (pid ?pid) (path ?path) (rate ?rate) (latency ?latency) (bytes ?bytes) (function ?function) (file ?file) (line ?line)
    (share ?share&:(>= ?share 0.15)) (low ?low) (high ?high))
  (not (file-sync (pid ?pid) (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see fsync-bound ?subject ?by (str-cat "makes " ?path " durable " (number ?rate) " times a second, " (bytes ?bytes) " and " (duration ?latency) " each"))
  (explain fsync-bound ?subject (create$ slow) ?share ?low ?high (str-cat (percent ?share) " of its time"))
  (describe fsync-bound ?subject
    (str-cat ?process " waits for flushes of " ?path " " (percent ?share) " of its time")
    (location ?function ?file ?line)
    "make many changes durable at once (group commit, one transaction for many rows), or not at all where losing the last second is acceptable"
    "there are fewer flushes for the same number of requests"
    "each flush takes far longer than the device needs: then others fill the disk"))

(defrule fsync-bound-not-seen
  (logical (measured (by files) (pid ?pid))
    (syscall (pid ?pid) (call "fsync"|"fdatasync"|"sync_file_range"|"msync"|"syncfs"|"sync") (time ?time&:(>= ?time 0.1)))
    (not (file-sync (pid ?pid) (share ?share&:(>= ?share 0.05)))))
  =>
  (contradict fsync-bound (process-subject ?pid) files "making files durable takes less than 5% of its time"))

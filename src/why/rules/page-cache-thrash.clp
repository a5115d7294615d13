; "What it reads does not fit into memory: each page is dropped before it is needed again."
; Symptom: much is read from disk, the same files again and again.
; Cause: the files in use are larger than the memory left for the page cache, or another program pushes them out.
; Refutation: data is read once: a scan, not a working set.
; Thresholds: refaults (pages read again soon after they were dropped) of 10 MB a second are 10% of what a simple disk reads. Half of what is read must have been
; read before. Waiting for it is worth a finding from 10% of the time on.

(defrule page-cache-thrash-sign
  (memory (by ?by) (refaults ?refaults&:(>= ?refaults 1e7)))
  =>
  (suppose page-cache-thrash "host" ?by (str-cat (bytes ?refaults) " a second are read again soon after they were dropped"))
  (ask page-cache-thrash "host" files "" 70 "which files, and who reads them"))

(defrule page-cache-thrash-seen
  (memory (refaults ?refaults&:(>= ?refaults 1e7)) (available ?available))
  (request (pid ?asked))
  (process (pid ?pid) (name ?process))
  (file-read (by ?by) (pid ?pid&:(or (< ?asked 0) (= ?asked ?pid))) (path ?path) (rate ?rate) (again ?again&:(>= ?again 0.5)) (size ?size)
    (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high))
  (not (file-read (again ?other&:(>= ?other 0.5)) (share ?larger&:(> ?larger ?share))))
  =>
  (see page-cache-thrash "host" ?by (str-cat ?process " reads " ?path " (" (bytes ?size) ") from disk at " (bytes ?rate) " a second, " (percent ?again) " of it not for the first time"))
  (explain page-cache-thrash "host" (create$ slow) ?share ?low ?high (str-cat (percent ?share) " of the time of " ?process))
  (describe page-cache-thrash "host"
    (str-cat ?process " reads the same parts of " ?path " from disk again and again")
    (str-cat ?path ", " (bytes ?size) "; available memory: " (bytes ?available))
    "give it memory (a larger limit, fewer other programs), read less of it (an index, compression), or protect it (memory.low); programs that read much once should say so (posix_fadvise DONTNEED)"
    "refaults fall to almost none (workingset_refault_file in /proc/vmstat)"
    "with more memory it reads as much: then it never reads a page twice"))

; A disk is full of such reads.
(defrule page-cache-thrash-fills-disk
  (evidence (cause page-cache-thrash) (subject ?subject) (decisive yes))
  (evidence (cause disk-saturated) (subject ?disk))
  =>
  (follows page-cache-thrash ?subject disk-saturated ?disk))

(defrule page-cache-thrash-not-seen
  (logical (measured (by files) (pid ?asked)) (request (pid ?asked))
    (memory (refaults ?refaults&:(>= ?refaults 1e7)))
    (not (file-read (again ?again&:(>= ?again 0.3)) (share ?share&:(>= ?share 0.05)))))
  =>
  (contradict page-cache-thrash "host" files "nobody waits for files that were read before"))

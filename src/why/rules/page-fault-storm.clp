; "It gets memory from the kernel and gives it back all the time, and pays for each page again."
; Symptom: much CPU time in the kernel, many page faults.
; Cause: memory is mapped, touched once and unmapped (large blocks of malloc, new mappings, fork and copy on write), so each use faults anew.
; Refutation: faults are many, but take little time.
; Thresholds: a fault takes 0.5 to 1 us with the page cleared, and waits for others of the same process; 20,000 a second are 1 to 2% of a CPU and the first
; sign. It is a cause from 10% of the time on.

(defrule page-fault-storm-sign
  (process (by ?by) (pid ?pid) (minor_faults ?faults&:(>= ?faults 20000)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose page-fault-storm ?subject ?by (str-cat (number ?faults) " page faults a second"))
  (ask page-fault-storm ?subject page-faults (target ?pid) 65 "which code faults, and how long it takes"))

(defrule page-fault-storm-seen
  (process (pid ?pid) (name ?process))
  (page-faults (by ?by) (pid ?pid) (what ?what&~"swap") (function ?function) (file ?file) (line ?line) (rate ?rate)
    (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high))
  (not (page-faults (pid ?pid) (what ~"swap") (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see page-fault-storm ?subject ?by (str-cat (number ?rate) " page faults a second (" ?what ") take " (percent ?share) " of its time"))
  (explain page-fault-storm ?subject (create$ slow) ?share ?low ?high (str-cat (percent ?share) " of its time"))
  (describe page-fault-storm ?subject
    (str-cat ?process " spends " (percent ?share) " of its time on page faults")
    (location ?function ?file ?line)
    "keep and reuse large buffers; make malloc keep them (MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_, jemalloc); use huge pages for large areas"
    "page faults a second fall to a few hundred (acu stat -e page-faults -p PID)"
    "the faults are those of a start or of new data, and end by themselves"))

(defrule page-fault-storm-not-seen
  (logical (measured (by page-faults) (pid ?pid))
    (process (pid ?pid) (minor_faults ?faults&:(>= ?faults 20000)))
    (not (page-faults (pid ?pid) (what ~"swap") (share ?share&:(>= ?share 0.05)))))
  =>
  (contradict page-fault-storm (process-subject ?pid) page-faults "page faults take less than 5% of its time"))

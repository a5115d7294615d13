; "The memory that it needs is on disk."
; Symptom: pages are read from swap all the time.
; Cause: programs use more memory than the host (or the control group) has, and wait for their own pages.
; Refutation: swap is in use, but nothing is read from it: what is there is not needed.
; Thresholds: 1 MB a second is 250 reads of a page, each of which stops a thread for 0.1 to 10 ms. It is a cause from 10% of the time on.

(defrule swapping-sign
  (memory (by ?by) (swap_in ?in&:(>= ?in 1e6)))
  =>
  (suppose swapping "host" ?by (str-cat (bytes ?in) " a second are read from swap"))
  (ask swapping "host" page-faults "" 75 "who waits for pages from swap"))

(defrule swapping-seen
  (memory (swap_in ?in&:(>= ?in 1e6)) (total ?total))
  (request (pid ?asked))
  (process (pid ?pid) (name ?process) (rss ?rss))
  (page-faults (by ?by) (pid ?pid&:(or (< ?asked 0) (= ?asked ?pid))) (what "swap") (function ?function) (file ?file) (line ?line) (rate ?rate)
    (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high))
  (not (page-faults (what "swap") (share ?larger&:(> ?larger ?share))))
  =>
  (see swapping "host" ?by (str-cat ?process " waits for " (number ?rate) " pages a second from swap, " (percent ?share) " of its time"))
  (explain swapping "host" (create$ slow stuck) ?share ?low ?high (str-cat (percent ?share) " of the time of " ?process))
  (follows swapping "host" reclaim-stall "host")
  (describe swapping "host"
    (str-cat ?process " waits for pages from swap " (percent ?share) " of its time")
    (location ?function ?file ?line)
    (str-cat "run fewer or smaller programs on " (bytes ?total) " of memory, or add memory; it has " (bytes ?rss) " in memory now")
    "nothing is read from swap (acu swapin)"
    "reads from swap end after a while: then it was idle for long, and needed its pages back once"))

(defrule swapping-not-seen
  (logical (measured (by page-faults))
    (memory (swap_in ?in&:(>= ?in 1e6)))
    (not (page-faults (what "swap") (share ?share&:(>= ?share 0.02)))))
  =>
  (contradict swapping "host" page-faults "no process waits for swap 2% of its time"))

; "It allocates memory that it never frees."
; Symptom: the memory of the process grows without end.
; Cause: blocks that one function allocates stay for longer than any others, and nothing frees them.
; Refutation: what it allocates is freed later (a cache that fills, a start); growth ends by itself.
; Thresholds: growth by 1% a minute doubles the memory in an hour; 10 kB a second are 1 GB a day. In its first minute a process grows as it should: it is looked
; at if its growth is asked about and would double its memory in a minute. A function is the leak if it makes 30% of the growth, as leaks have one place as a rule.

(deffunction leak-is-young (?uptime) (< ?uptime 60))

(deffunction leak-age "What is said of a process in its first minute." (?uptime)
  (if (leak-is-young ?uptime) then (str-cat ", which started " (duration (* 1e9 ?uptime)) " before") else ""))

(deffunction leak-found (?pid ?process ?growth ?uptime ?by ?text ?function ?file ?line ?share ?low ?high)
  (bind ?subject (process-subject ?pid))
  (see leak ?subject ?by ?text)
  (explain leak ?subject (create$ growing failing) ?share ?low ?high (str-cat (percent ?share) " of the growth of " ?process))
  (describe leak ?subject
    (str-cat ?process (leak-age ?uptime) (if (leak-is-young ?uptime) then ", grows by " else " grows by ") (bytes ?growth) " a second, as " ?function
      " does not free what it allocates")
    (location ?function ?file ?line)
    "free the blocks where their last user is done, or bound the container that holds them"
    "its memory stays the same under the same load"
    (if (leak-is-young ?uptime)
      then "growth ends after a while: then the process was starting, or a cache fills; ask again after a minute"
      else "growth ends after a while: then it is a cache that fills")))

(defrule leak-sign
  (process (by ?by) (pid ?pid) (rss ?rss) (rss_growth ?growth&:(>= ?growth 1e4)) (uptime ?uptime))
  (test (>= (* 6000 ?growth) ?rss))
  (or (test (not (leak-is-young ?uptime)))
      (and (request (kind "growing") (pid ?pid)) (test (>= (* 60 ?growth) ?rss))))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose leak ?subject ?by (str-cat "its memory grows by " (bytes ?growth) " a second, from " (bytes ?rss)))
  (ask leak ?subject allocations (target ?pid) 80 "which allocations are not freed")
  (ask leak ?subject heap (target ?pid) 40 "which blocks nothing frees"))

; The kernel sees who touches new memory. In a heap that may be another function than the one that keeps what it allocates; collectors of languages move or reuse
; memory less, and most have an allocator of their own, which `heap` does not see.
(defrule leak-seen
  (process (pid ?pid) (name ?process) (language ~"") (rss_growth ?growth&:(>= ?growth 1e4)) (uptime ?uptime))
  (allocation (by ?by) (pid ?pid) (function ?function) (file ?file) (line ?line) (kept ?kept&:(> ?kept 0)) (share ?share&:(>= ?share 0.3)) (low ?low) (high ?high))
  (not (allocation (pid ?pid) (share ?larger&:(> ?larger ?share))))
  =>
  (leak-found ?pid ?process ?growth ?uptime ?by (str-cat ?function " makes it grow by " (bytes ?kept) " a second") ?function ?file ?line ?share ?low ?high))

(defrule leak-grows
  (process (pid ?pid) (language "") (rss_growth ?growth&:(>= ?growth 1e4)))
  (allocation (by ?by) (pid ?pid) (function ?function) (kept ?kept&:(> ?kept 0)) (share ?share&:(>= ?share 0.3)))
  (not (allocation (pid ?pid) (share ?larger&:(> ?larger ?share))))
  =>
  (suppose leak (process-subject ?pid) ?by (str-cat (bytes ?kept) " a second of memory that it did not have before are first touched in " ?function)))

; Followed from the allocation to the end: nothing frees them.
(defrule leak-kept
  (process (pid ?pid) (name ?process) (rss_growth ?growth&:(>= ?growth 1e4)) (uptime ?uptime))
  (kept-blocks (by ?by) (pid ?pid) (function ?function) (file ?file) (line ?line) (kept ?kept&:(>= ?kept 5e3)) (blocks ?blocks) (share ?share&:(>= ?share 0.3)) (low ?low) (high ?high))
  (not (kept-blocks (pid ?pid) (share ?larger&:(> ?larger ?share))))
  =>
  (leak-found ?pid ?process ?growth ?uptime ?by (str-cat ?function " allocates " (number ?blocks) " blocks, " (bytes ?kept) ", a second that nothing frees") ?function ?file ?line ?share ?low ?high))

(defrule leak-not-seen
  (logical (measured (by allocations) (pid ?pid))
    (process (pid ?pid) (rss_growth ?growth&:(>= ?growth 1e4)))
    (not (allocation (pid ?pid) (kept ?kept&:(> ?kept 0)) (share ?share&:(>= ?share 0.1))))
    (not (kept-blocks (pid ?pid) (kept ?lost&:(>= ?lost 5e3)))))
  =>
  (contradict leak (process-subject ?pid) allocations "no function makes it grow by 10% of that: what it allocates is freed"))

; Memory that is touched for the first time, in place of older blocks that are freed, or only for a moment.
(defrule leak-turnover
  (logical (measured (by heap) (pid ?pid))
    (process (pid ?pid) (language ?language) (rss_growth ?growth&:(>= ?growth 1e4)))
    (or (test (eq ?language "")) (kept-blocks (pid ?pid) (rate ?rate&:(>= ?rate (* 0.5 ?growth)))))
    (not (kept-blocks (pid ?pid) (kept ?lost&:(> ?lost (* 0.1 ?growth))))))
  =>
  (contradict leak (process-subject ?pid) heap "it frees as much as it allocates: what it has is replaced"))

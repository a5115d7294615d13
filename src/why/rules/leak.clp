; "It allocates memory that it never frees."
; Symptom: the memory of the process grows without end.
; Cause: blocks that one function allocates stay for longer than any others, and nothing frees them.
; Refutation: what it allocates is freed later (a cache that fills, a start); growth ends by itself.
; Thresholds: growth by 1% a minute doubles the memory in an hour; 10 kB a second are 1 GB a day. In its first minute a process grows as it should. A function is
; the leak if it makes 30% of the growth, as leaks have one place as a rule.

(defrule leak-sign
  (process (by ?by) (pid ?pid) (rss ?rss) (rss_growth ?growth&:(>= ?growth 1e4)) (uptime ?uptime&:(>= ?uptime 60)))
  (test (>= (* 6000 ?growth) ?rss))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose leak ?subject ?by (str-cat "its memory grows by " (bytes ?growth) " a second, from " (bytes ?rss)))
  (ask leak ?subject allocations (target ?pid) 80 "which allocations are not freed")
  (ask leak ?subject heap (target ?pid) 40 "which blocks nothing refers to"))

(defrule leak-seen
  (process (pid ?pid) (name ?process) (rss_growth ?growth&:(>= ?growth 1e4)))
  (allocation (by ?by) (pid ?pid) (function ?function) (file ?file) (line ?line) (kept ?kept&:(> ?kept 0)) (share ?share&:(>= ?share 0.3)) (low ?low) (high ?high))
  (not (allocation (pid ?pid) (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see leak ?subject ?by (str-cat ?function " allocates " (bytes ?kept) " a second that are not freed"))
  (explain leak ?subject (create$ growing failing) ?share ?low ?high (str-cat (percent ?share) " of the growth of " ?process))
  (describe leak ?subject
    (str-cat ?process " grows by " (bytes ?growth) " a second, as " ?function " does not free what it allocates")
    (location ?function ?file ?line)
    "free the blocks where their last user is done, or bound the container that holds them"
    "its memory stays the same under the same load"
    "growth ends after a while: then it is a cache that fills"))

; Blocks that nothing refers to can never be freed.
(defrule leak-unreachable
  (process (pid ?pid) (name ?process) (rss_growth ?growth&:(>= ?growth 1e4)))
  (unreachable (by ?by) (pid ?pid) (bytes ?bytes) (share ?share&:(>= ?share 0.1)) (function ?function))
  =>
  (see leak (process-subject ?pid) ?by
    (str-cat (bytes ?bytes) " of its heap are blocks that nothing refers to" (if (eq ?function "") then "" else (str-cat ", allocated by " ?function)))))

(defrule leak-not-seen
  (logical (measured (by allocations) (pid ?pid))
    (process (pid ?pid) (rss_growth ?growth&:(>= ?growth 1e4)))
    (not (allocation (pid ?pid) (kept ?kept&:(> ?kept 0)) (share ?share&:(>= ?share 0.1))))
    (not (unreachable (pid ?pid) (share ?lost&:(>= ?lost 0.1)))))
  =>
  (contradict leak (process-subject ?pid) allocations "what it allocates is freed: no function keeps 10% of the growth"))

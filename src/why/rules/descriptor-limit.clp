; "It has run out of file descriptors: every new file and connection fails."
; Symptom: accept, open, socket or connect fail with EMFILE; clients wait or are refused.
; Cause: the process has as many descriptors open as it may have.
; Refutation: many descriptors are open, but no call fails for lack of them.
; Thresholds: at 95% of the limit a burst of connections reaches it. One failure in a hundred calls is what clients notice and no program makes on purpose.

(defrule descriptor-limit-sign
  (process (by ?by) (pid ?pid) (descriptors ?open) (descriptor_limit ?limit&:(> ?limit 0)))
  (test (>= ?open (* 0.95 ?limit)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose descriptor-limit ?subject ?by (str-cat ?open " of " ?limit " file descriptors are open"))
  (ask descriptor-limit ?subject syscalls (target ?pid) 70 "whether calls fail for lack of descriptors"))

(defrule descriptor-limit-seen
  (process (pid ?pid) (name ?process) (descriptors ?open) (descriptor_limit ?limit&:(> ?limit 0)))
  (test (>= ?open (* 0.95 ?limit)))
  (syscall (by ?by) (pid ?pid) (call ?call) (error "EMFILE") (failed ?failed&:(>= ?failed 0.01)) (rate ?rate))
  (not (syscall (pid ?pid) (error "EMFILE") (failed ?larger&:(> ?larger ?failed))))
  =>
  (bind ?subject (process-subject ?pid))
  (see descriptor-limit ?subject ?by (str-cat (percent ?failed) " of the calls of " ?call " fail with EMFILE (" (number ?rate) " calls a second)"))
  (explain descriptor-limit ?subject (create$ slow failing stuck) ?failed ?failed ?failed (str-cat (percent ?failed) " of the calls of " ?call " fail"))
  (follows descriptor-limit ?subject accept-queue-full ?subject)
  (follows descriptor-limit ?subject error-storm ?subject)
  (describe descriptor-limit ?subject
    (str-cat ?process " has all of its " ?limit " file descriptors open")
    (str-cat ?call " fails with EMFILE")
    "raise the limit (LimitNOFILE of the service, ulimit -n) if it needs that many; if their number only grows, it does not close them: ls -l /proc/PID/fd shows which"
    "no call fails with EMFILE, and the number of open descriptors stays below the limit"
    "the number of descriptors follows the number of clients, and falls with it: then the limit is too low, and nothing leaks"))

(defrule descriptor-limit-not-seen
  (logical (measured (by syscalls) (pid ?pid))
    (process (pid ?pid) (descriptors ?open) (descriptor_limit ?limit&:(> ?limit 0)))
    (test (>= ?open (* 0.95 ?limit)))
    (not (syscall (pid ?pid) (error "EMFILE"))))
  =>
  (contradict descriptor-limit (process-subject ?pid) syscalls "no call fails for lack of descriptors"))

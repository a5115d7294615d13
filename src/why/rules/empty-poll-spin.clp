; "It asks again and again whether there is something to do, and there is not."
; Symptom: a process without much load uses a CPU.
; Cause: poll, epoll_wait, select, read or recv return at once without a result, thousands of times a second.
; Refutation: the calls return something each time: it is busy with work.
; Thresholds: the shortest timeout of these calls is 1 ms, so a loop that sleeps makes at most 1,000 calls a second and thread; 5,000 that return nothing
; at once are a loop that does not sleep. It must be seen in the profile (20%), as a call costs less than a microsecond.

(defrule empty-poll-spin-sign
  (syscall (by ?by) (pid ?pid) (call ?call&"poll"|"ppoll"|"epoll_wait"|"epoll_pwait"|"epoll_pwait2"|"select"|"pselect6"|"read"|"recvfrom"|"recvmsg"|"io_getevents")
    (rate ?rate&:(>= ?rate 5000)) (empty ?empty&:(>= ?empty 0.9)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose empty-poll-spin ?subject ?by (str-cat (number ?rate) " calls of " ?call " a second, " (percent ?empty) " of them return at once without a result"))
  (ask empty-poll-spin ?subject cpu-profile (target ?pid) 70 "what these calls cost, and who makes them"))

(defrule empty-poll-spin-seen
  (syscall (pid ?pid) (call ?call) (rate ?rate&:(>= ?rate 5000)) (empty ?empty&:(>= ?empty 0.9)))
  (process (pid ?pid) (name ?process) (busiest ?busiest))
  (hot-function (by ?by) (pid ?pid) (name ?name) (caller ?caller) (file ?file) (line ?line) (class "poll")
    (share ?share&:(>= ?share 0.2)) (low ?low) (high ?high))
  (not (hot-function (pid ?pid) (class "poll") (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see empty-poll-spin ?subject ?by (str-cat "asking for events uses " (percent ?share) " of the CPU time"))
  (explain empty-poll-spin ?subject (create$ slow) (* ?share ?busiest) (* ?low ?busiest) (* ?high ?busiest)
    (str-cat (percent (* ?share ?busiest)) " of the time of the busiest thread"))
  (follows empty-poll-spin ?subject hot-function ?subject)
  (describe empty-poll-spin ?subject
    (str-cat ?process " calls " ?call " " (number ?rate) " times a second for nothing")
    (location (first-known ?caller ?name) ?file ?line)
    "give the call a timeout or block in it; remove descriptors that are always ready (closed peers, a pipe that nobody reads); handle EPOLLHUP and EPOLLERR"
    (str-cat "the number of calls of " ?call " follows the number of requests")
    "most calls return an event: then it is load, not a loop"))

(defrule empty-poll-spin-delays
  (evidence (cause empty-poll-spin) (subject ?subject) (decisive yes))
  (evidence (cause run-queue-delay) (subject ?delayed) (decisive yes))
  =>
  (follows empty-poll-spin ?subject run-queue-delay ?delayed))

(defrule empty-poll-spin-not-seen
  (logical (measured (by cpu-profile) (pid ?pid))
    (syscall (pid ?pid) (rate ?rate&:(>= ?rate 5000)) (empty ?empty&:(>= ?empty 0.9)))
    (not (hot-function (pid ?pid) (class "poll") (share ?share&:(>= ?share 0.05)))))
  =>
  (contradict empty-poll-spin (process-subject ?pid) cpu-profile "asking for events uses less than 5% of the CPU time"))

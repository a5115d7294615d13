; "It spends its time on writing and parsing messages, not on what they are about."
; Symptom: a thread runs nearly all the time, mostly in user mode.
; Cause: functions that encode or decode (JSON, XML, protocol buffers, pickle, …) are the largest part of the profile.
; Refutation: these functions are a small part of the profile.
; Thresholds: services usually spend 5 to 15% on it; at 30% it outweighs the work itself. A thread is limited by its CPU if it runs 70% of the time; encoding
; needs no kernel: 70% of it is in user mode, as what is encoded is also sent.

(defrule serialization-hot-sign
  (process (by ?by) (pid ?pid) (busiest ?busiest&:(>= ?busiest 0.7)) (user ?user&:(>= ?user 0.7)))
  =>
  (bind ?subject (process-subject ?pid))
  (suppose serialization-hot ?subject ?by (str-cat "its busiest thread runs " (percent ?busiest) " of the time, mostly outside the kernel"))
  (ask serialization-hot ?subject cpu-profile (target ?pid) 70 "whether it encodes and decodes messages"))

(defrule serialization-hot-seen
  (process (pid ?pid) (name ?process) (busiest ?busiest))
  (hot-function (by ?by) (pid ?pid) (name ?name) (caller ?caller) (file ?file) (line ?line) (class "serialization")
    (share ?share&:(>= ?share 0.3)) (low ?low) (high ?high))
  (not (hot-function (pid ?pid) (class "serialization") (share ?larger&:(> ?larger ?share))))
  =>
  (bind ?subject (process-subject ?pid))
  (see serialization-hot ?subject ?by (str-cat "encoding and decoding (" ?name ") uses " (percent ?share) " of the CPU time"))
  (explain serialization-hot ?subject (create$ slow) (* ?share ?busiest) (* ?low ?busiest) (* ?high ?busiest)
    (str-cat (percent (* ?share ?busiest)) " of the time of the busiest thread"))
  (follows serialization-hot ?subject hot-function ?subject)
  (describe serialization-hot ?subject
    (str-cat ?process " spends " (percent ?share) " of its CPU time on encoding and decoding messages")
    (location (first-known ?caller ?name) ?file ?line)
    "send less (fields, records, repeated requests), keep encoded results, or use a faster library or a binary format"
    (str-cat "the share of " ?name " in a new profile is smaller, and requests take less time")
    "messages are small and few: then something encodes them many times"))

(defrule serialization-hot-not-seen
  (logical (measured (by cpu-profile) (pid ?pid))
    (process (pid ?pid) (busiest ?busiest&:(>= ?busiest 0.7)) (user ?user&:(>= ?user 0.7)))
    (not (hot-function (pid ?pid) (class "serialization") (share ?share&:(>= ?share 0.15)))))
  =>
  (contradict serialization-hot (process-subject ?pid) cpu-profile "encoding and decoding uses less than 15% of the CPU time"))

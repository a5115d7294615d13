; "It is the page cache that grows: memory that is given back when it is needed."
; Symptom: less and less memory is free on the host, but no process grows.
; Cause: a program reads or writes many files, which the kernel keeps.
; Refutation: the memory of processes or of the kernel itself grows.
; Thresholds: 1 MB a second fills 3.6 GB an hour, which people see in graphs. The program is named if it makes 30% of the growth.

(defrule page-cache-growth-sign
  (memory (by ?by) (cache_growth ?growth&:(>= ?growth 1e6)) (cache ?cache))
  =>
  (suppose page-cache-growth "host" ?by (str-cat "the page cache grows by " (bytes ?growth) " a second, from " (bytes ?cache)))
  (ask page-cache-growth "host" files "" 60 "whose files they are"))

(defrule page-cache-growth-seen
  (memory (cache_growth ?growth&:(>= ?growth 1e6)) (available ?available))
  (cache-growth (by ?by) (what "page cache") (name ?name) (pid ?pid) (path ?path) (rate ?rate) (share ?share&:(>= ?share 0.3)) (low ?low) (high ?high))
  (not (cache-growth (what "page cache") (share ?larger&:(> ?larger ?share))))
  =>
  (see page-cache-growth "host" ?by (str-cat ?name " (process " ?pid ") adds " (bytes ?rate) " a second of " ?path))
  (explain page-cache-growth "host" (create$ growing) ?share ?low ?high (str-cat (percent ?share) " of the growth of the host's memory in use"))
  (describe page-cache-growth "host"
    (str-cat "the page cache grows by files of " ?name ", not by a leak")
    ?path
    (str-cat "nothing, if memory stays available (" (bytes ?available) " now); programs that read or write much once can say so (posix_fadvise DONTNEED, O_DIRECT); a control group's memory.high bounds its cache")
    "available memory (MemAvailable in /proc/meminfo) does not fall"
    "available memory falls as well: then something else grows"))

(defrule page-cache-growth-not-seen
  (logical (measured (by files) (pid ?asked)) (request (pid ?asked))
    (memory (cache_growth ?growth&:(>= ?growth 1e6)))
    (not (cache-growth (what "page cache") (share ?share&:(>= ?share 0.1)))))
  =>
  (contradict page-cache-growth "host" files "no program's files make 10% of the growth"))

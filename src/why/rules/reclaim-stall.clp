; "Whoever needs memory has to free some first."
; Symptom: everything that allocates or reads files stalls now and then; kswapd runs.
; Cause: free memory is used up faster than the kernel reclaims it in the background, so allocations reclaim or compact memory themselves.
; Refutation: reclaim happens in the background alone, and nobody waits for it.
; Thresholds: a scan of 1,000 pages takes about 1 ms, so from 1,000 pages a second on stalls can be felt. Pressure of 5% means that some task waits for memory
; 50 ms in each second. A process suffers from 10% of its time on.

(defrule reclaim-stall-sign
  (memory (by ?by) (direct_reclaim ?pages) (compaction_stalls ?stalls))
  (pressure (resource "memory") (cgroup "") (some ?some))
  (test (or (>= ?pages 1000) (>= ?stalls 10) (>= ?some 0.05)))
  =>
  (suppose reclaim-stall "host" ?by (str-cat "tasks wait for memory " (percent ?some) " of the time; they scan " (number ?pages) " pages a second themselves"))
  (ask reclaim-stall "host" waits "" 70 "who waits for memory, and how long"))

(defrule reclaim-stall-seen
  (process (pid ?pid) (name ?process))
  (request (pid ?asked&:(or (< ?asked 0) (= ?asked ?pid))))
  (wait (by ?by) (pid ?pid) (reason "memory") (function ?function) (file ?file) (line ?line) (share ?share&:(>= ?share 0.1)) (low ?low) (high ?high) (longest ?longest))
  (not (wait (reason "memory") (share ?larger&:(> ?larger ?share))))
  =>
  (see reclaim-stall "host" ?by (str-cat ?process " waits for memory " (percent ?share) " of its time, for up to " (duration ?longest)))
  (explain reclaim-stall "host" (create$ slow stuck) ?share ?low ?high (str-cat (percent ?share) " of the time of " ?process))
  (describe reclaim-stall "host"
    (str-cat ?process " waits for free memory " (percent ?share) " of its time")
    (location ?function ?file ?line)
    "free memory for it: limit what grows, raise vm.min_free_kbytes or vm.watermark_scale_factor so that reclaim starts earlier; for compaction set transparent huge pages to madvise"
    "pressure of memory (/proc/pressure/memory) falls below 1%"
    "memory is free all the time: then a limit of the control group makes it wait (memory.high)"))

(defrule reclaim-stall-not-seen
  (logical (measured (by waits))
    (memory (direct_reclaim ?pages) (compaction_stalls ?stalls))
    (pressure (resource "memory") (cgroup "") (some ?some))
    (test (or (>= ?pages 1000) (>= ?stalls 10) (>= ?some 0.05)))
    (not (wait (reason "memory") (share ?share&:(>= ?share 0.02)))))
  =>
  (contradict reclaim-stall "host" waits "no process waits for memory 2% of its time"))

; "One CPU handles all packets, and everything else on it has to wait."
; Symptom: one CPU is busy in soft interrupts; threads that are bound to it, or were put there, are slow.
; Cause: one source (receiving packets, timers, completed disk requests) fills most of that CPU.
; Refutation: soft interrupts are spread, or few.
; Thresholds: a CPU at 50% in soft interrupts leaves each thread on it half of its speed; from there on the kernel hands work to ksoftirqd, which competes with
; all others. A single source has to make up 30%.

(defrule softirq-overload-sign
  (host-cpu (by ?by) (busiest_softirq ?share&:(>= ?share 0.5)))
  =>
  (suppose softirq-overload "host" ?by (str-cat "one CPU spends " (percent ?share) " of its time in soft interrupts"))
  (ask softirq-overload "host" interrupts "" 70 "which interrupts, and on which CPU"))

(defrule softirq-overload-seen
  (host-cpu (busiest_softirq ?busiest&:(>= ?busiest 0.5)))
  (interrupt-load (by ?by) (source ?source) (cpu ?cpu) (share ?share&:(>= ?share 0.3)) (low ?low) (high ?high) (rate ?rate))
  (not (interrupt-load (share ?larger&:(> ?larger ?share))))
  =>
  (see softirq-overload "host" ?by (str-cat ?source " takes " (percent ?share) " of CPU " ?cpu ", " (number ?rate) " times a second"))
  (explain softirq-overload "host" (create$ slow failing) ?share ?low ?high (str-cat (percent ?share) " of the time of CPU " ?cpu))
  (describe softirq-overload "host"
    (str-cat "CPU " ?cpu " spends " (percent ?share) " of its time on " ?source " interrupts")
    (str-cat "CPU " ?cpu ", " ?source)
    "spread it over CPUs: more queues of the network device (ethtool -L), RPS (rps_cpus), irqbalance; keep threads that matter off that CPU"
    "no CPU spends more than half of its time in soft interrupts"
    "what is slow does not run on that CPU"))

; What a full CPU cannot take is dropped.
(defrule softirq-overload-drops
  (evidence (cause softirq-overload) (subject ?subject) (decisive yes))
  (evidence (cause packet-loss) (subject ?loser))
  =>
  (follows softirq-overload ?subject packet-loss ?loser))

(defrule softirq-overload-not-seen
  (logical (measured (by interrupts) (pid -1))
    (host-cpu (busiest_softirq ?busiest&:(>= ?busiest 0.5)))
    (not (interrupt-load (share ?share&:(>= ?share 0.2)))))
  =>
  (contradict softirq-overload "host" interrupts "no source of interrupts takes 20% of a CPU"))

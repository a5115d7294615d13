; What rules may assert. Facts of measurements have templates of their own (src/why/fact_kinds.h), each with the slots `by` (the measurement) besides
; its own. The functions in common.clp assert these in one line.
;
; A cause is named as its rule file. A subject says what has it: "process 4711", "disk vda", "cgroup /a.service", "host".

(deftemplate evidence "Something that speaks for a cause, or against it."
  (slot cause (type SYMBOL))
  (slot subject (type STRING))
  (slot side (type SYMBOL) (allowed-symbols for against) (default for))
  (slot decisive (type SYMBOL) (allowed-symbols yes no) (default no)) ; yes: the cause itself was seen
  (slot by (type SYMBOL))                                              ; the measurement
  (slot text (type STRING)))

(deftemplate explains "The part of the symptom that a cause accounts for, 0 to 1, with its interval."
  (slot cause (type SYMBOL))
  (slot subject (type STRING))
  (multislot symptoms (type SYMBOL) (allowed-symbols slow growing stuck failing)) ; that it can account for
  (slot share (type NUMBER))
  (slot low (type NUMBER) (default 0.0))
  (slot high (type NUMBER) (default 1.0))
  (slot text (type STRING)))

(deftemplate need "A measurement that would show more."
  (slot cause (type SYMBOL))
  (slot subject (type STRING))
  (slot measurement (type SYMBOL))
  (slot target (type STRING) (default "")) ; a process's number; empty: the host
  (slot priority (type INTEGER) (default 0))
  (slot text (type STRING)))

(deftemplate effect "`effect` of `of-subject` is a consequence of the cause, and no finding of its own."
  (slot cause (type SYMBOL))
  (slot subject (type STRING))
  (slot effect (type SYMBOL))
  (slot of-subject (type STRING)))

(deftemplate remark "What is said of a cause."
  (slot cause (type SYMBOL))
  (slot subject (type STRING))
  (slot kind (type SYMBOL) (allowed-symbols title place advice check refutation))
  (slot text (type STRING)))

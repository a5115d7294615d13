; What rule files share: functions that assert conclusions, words for subjects and locations, and what holds for every cause.
;
; Functions that write numbers with their units are built in: (percent 0.78) is "78%", (duration 1.2e6) "1.2 ms", (bytes 3e6) "3 MB", (number 12.34) "12.3".

; --- conclusions

(deffunction suppose "A sign of a cause, which may have others." (?cause ?subject ?by ?text)
  (assert (evidence (cause ?cause) (subject ?subject) (by ?by) (text ?text))))

(deffunction see "The cause itself was seen." (?cause ?subject ?by ?text)
  (assert (evidence (cause ?cause) (subject ?subject) (decisive yes) (by ?by) (text ?text))))

(deffunction contradict "The cause was looked for, and is not there." (?cause ?subject ?by ?text)
  (assert (evidence (cause ?cause) (subject ?subject) (side against) (by ?by) (text ?text))))

(deffunction ask "A measurement that distinguishes the cause from its look-alikes." (?cause ?subject ?measurement ?target ?priority ?text)
  (assert (need (cause ?cause) (subject ?subject) (measurement ?measurement) (target ?target) (priority ?priority) (text ?text))))

(deffunction clamp "A share, which is a part of 1." (?n)
  (max 0.0 (min 1.0 (float ?n))))

; An interval is not known if `high` is 0: then it is the share's.
(deffunction explain "The part of the symptom that the cause accounts for." (?cause ?subject ?symptoms ?share ?low ?high ?text)
  (bind ?known (> ?high 0))
  (assert (explains (cause ?cause) (subject ?subject) (symptoms ?symptoms) (share (clamp ?share))
    (low (clamp (if ?known then ?low else ?share))) (high (clamp (if ?known then ?high else ?share))) (text ?text))))

(deffunction follows "The effect is a consequence of the cause." (?cause ?subject ?effect ?of-subject)
  (assert (effect (cause ?cause) (subject ?subject) (effect ?effect) (of-subject ?of-subject))))

(deffunction none-of-threads "With the words for one thread and for several: its only thread does not run, none of its 3 threads runs." (?threads ?one ?several)
  (if (= ?threads 1) then (str-cat "its only thread " ?one) else (str-cat "none of its " ?threads " threads " ?several)))

(deffunction remark-on (?cause ?subject ?kind ?text)
  (if (neq ?text "") then (assert (remark (cause ?cause) (subject ?subject) (kind ?kind) (text ?text)))))

(deffunction describe "What a report says of the cause; an empty text says nothing." (?cause ?subject ?title ?place ?advice ?check ?refutation)
  (remark-on ?cause ?subject title ?title)
  (remark-on ?cause ?subject place ?place)
  (remark-on ?cause ?subject advice ?advice)
  (remark-on ?cause ?subject check ?check)
  (remark-on ?cause ?subject refutation ?refutation))

; --- words

(deffunction process-subject (?pid) (str-cat "process " ?pid))
(deffunction disk-subject (?device) (str-cat "disk " ?device))
(deffunction cgroup-subject (?name) (str-cat "cgroup " ?name))

(deffunction target "A process as the target of a measurement." (?pid)
  (if (< ?pid 0) then "" else (str-cat ?pid)))

(deffunction location "f (src/a.c:12)" (?function ?file ?line)
  (if (eq ?file "") then ?function
   else (if (= ?line 0) then (str-cat ?function " (" ?file ")")
         else (str-cat ?function " (" ?file ":" ?line ")"))))

(deffunction first-known (?a ?b)
  (if (eq ?a "") then ?b else ?a))

; --- what holds for every cause

; Who asks why something fails is not helped by what makes it slow.
(defrule common-other-symptom
  (request (kind ?kind&~"any"&~""))
  ?explains <- (explains (symptoms $?symptoms))
  (test (not (member$ (sym-cat ?kind) ?symptoms)))
  =>
  (retract ?explains))

; What another process has does not slow down the one that is asked about, but through a consequence for it.
(defrule common-other-process
  (request (pid ?pid&:(>= ?pid 0)))
  ?explains <- (explains (subject ?subject))
  (test (and (eq (str-index "process " ?subject) 1) (neq ?subject (process-subject ?pid))))
  =>
  (retract ?explains))

; A measurement that ended, in the words of conclusions, so that rules find its like without comparing all with all.
(deftemplate covered "What was measured."
  (slot measurement (type SYMBOL))
  (slot pid (type INTEGER))
  (slot target (type STRING))
  (slot subject (type STRING)))

(defrule common-covered
  (measured (by ?measurement) (pid ?pid))
  =>
  (assert (covered (measurement ?measurement) (pid ?pid) (target (target ?pid)) (subject (if (< ?pid 0) then "host" else (process-subject ?pid))))))

; What was measured need not be measured again.
(defrule common-measured
  (covered (measurement ?measurement) (target ?target))
  ?need <- (need (measurement ?measurement) (target ?target))
  =>
  (retract ?need))

; A cause that something contradicts needs no further measurement.
(defrule common-contradicted
  (evidence (cause ?cause) (subject ?subject) (side against))
  ?need <- (need (cause ?cause) (subject ?subject))
  =>
  (retract ?need))

// Who woke whom. While a thread waits for a CPU, its segment refers to its waker (+ 1).
const RUNNING = 1, RUNNABLE = 2, FIRST_BLOCKED = 3;

// What ended the wait after which a thread runs at a time, or will run: { thread, waker, time }, or null.
function wakeOf(thread, time) {
  const track = threadTracks.get(thread);
  if (!track || !track.isReady) return null;
  let i = track.at(time);
  if (i >= 0 && track.classes[i] >= FIRST_BLOCKED) i++; // what will end it
  for (; i >= 0 && i < track.count && (track.classes[i] === RUNNING || track.classes[i] === RUNNABLE); i--)
    if (track.classes[i] === RUNNABLE && track.refs[i]) return { thread, waker: track.refs[i] - 1, time: track.begins[i] };
  return null;
}
// From a wait back through those whose work ended it: each waker was woken itself before it woke. Thread 0, the idle one, stands for interrupts.
const LONGEST_CHAIN = 16;
async function chainOf(thread, time) {
  const chain = [];
  for (let at = time; chain.length < LONGEST_CHAIN;) {
    if (threadTracks.has(thread)) await threadTracks.get(thread).load();
    const wake = wakeOf(thread, at);
    if (!wake) break;
    chain.push(wake);
    if (!wake.waker || !threadTracks.has(wake.waker)) break;
    await threadTracks.get(wake.waker).load();
    const of = threadTracks.get(wake.waker), i = of.at(wake.time);
    if (i < 0 || of.classes[i] !== RUNNING) break; // an interrupt, in whatever thread ran
    [thread, at] = [wake.waker, wake.time];
  }
  return chain;
}

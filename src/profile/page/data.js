// The recording, as page.cc wrote it: `data` holds flat lists of numbers that refer to each other.
// texts[], kinds[] = rows of spec/frame_kinds.h, frames[3f] = name, module, number of the kind; nodes[n] = frame of a node of the call tree, parents[n] = its caller (node 0 is
// the root, a parent's number is lower than its children's); threads[4t] = pid, tid, process, name; samples[3s] = thread,
// innermost node, weight. Optional: slices[] = [number, sample, weight, …] with samples as differences, spans[i] = how many
// slice lengths slices[i] covers (1 where missing), changes[s] = weight less the weight before (of a comparison), ranks[f] = how far a frame comes behind
// others to be charged with what is measured (not of CPU time).
// What is computed from it once is in frames.js; what depends on the reader's choices is in tree.js.
const data = JSON.parse(document.getElementById("data").textContent);
const about = data.about;
const get = (id) => document.getElementById(id);
const sampleCount = data.samples.length / 3;

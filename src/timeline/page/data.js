// The timeline, as page.cc wrote it: names as in the page of flame graphs (profile/page/data.js: texts, kinds, frames, nodes, parents, threads), and
// states[] = label, color on a light page, on a dark one; marks[3i] = ns, text, 1 if a script printed it; calls[] = texts that are names of calls; tracks[6t] = kind, owner, depth, chunk, offset in it, segments
// (tracks.h says what owners are); packed_samples[] = chunk, offset, samples; chunks[2c] = first digit of base64, bytes when packed. Times are ns since the begin of the timeline. The packed columns are the
// text of the element `packed`; store.js unpacks them.
const data = JSON.parse(document.getElementById("data").textContent);
const about = data.about;
const get = (id) => document.getElementById(id);

// Samples of the selected range, as a flame graph's page has them: thread, node, weight, …
data.samples = [];
let sampleCount = 0;

// A recording with 100,000 stacks: only what is seen becomes boxes, all of it counts.
look((seen) => {
  seen.total = acu.total();
  seen.nodes = acu.nodes();
  seen.boxes = acu.boxes().length;
  seen.rows = document.querySelectorAll("#rows tr").length;
  seen.functions = acu.table.shown.length;
  seen.painted = new Set(acu.graph.pen.getImageData(10, 0, 400, 200).data).size > 8;
});

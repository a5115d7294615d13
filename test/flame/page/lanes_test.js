// A heat map with a thousand lanes, and slices that were read late.
look((seen) => {
  pick("lanes", "thread");
  seen.first = acu.lanes();
  seen.page = get("lanePage").textContent;
  get("lanesOn").click();
  seen.second = acu.lanes();
  type("laneSearch", "worker-0777");
  seen.found = acu.lanes();
  seen.foundPage = get("lanePage").textContent;
  type("laneSearch", "nobody");
  seen.none = [acu.lanes(), get("lanePage").textContent];
  type("laneSearch", "");
  // Strokes of a hatch, by slice of the lane of all: pixels that are not of the colour that most have.
  const pen = get("heat").getContext("2d"), place = (n) => acu.slice(n).x - get("heat").getBoundingClientRect().left;
  const colours = (n) => new Set(Array.from({ length: 8 }, (_, i) => pen.getImageData(place(n) - 4 + i, 4, 1, 1).data.join())).size;
  seen.hatched = [1, 3, 4, 5, 7].map((n) => colours(n) > 1);
  seen.late = get("late").textContent;
  const shade = (n) => Math.max(...Array.from({ length: 8 }, (_, i) => pen.getImageData(place(n) - 4 + i, 4, 1, 1).data[1]));
  seen.even = [shade(3), shade(1)];
  acu.act.range([4, 5]);
  seen.told = get("when").textContent;
});

// Values over time, or over the prints of a script, by uPlot. Dragging selects a range; so do the keys of range.tsx. Saved as PNG and CSV.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { colorOf, useTheme } from "../theme";
import { csv, save } from "../save";
import { amountText, clockText } from "../units";

export interface Line { name: string; unit: string; values: (number | null)[] }
export interface SeriesData { times: number[]; lines: Line[] } // seconds since 1970

const inks = { light: ["#1661c4", "#b3541e", "#1a7f4b", "#9b2fb5", "#8a6d00", "#b3261e", "#0b7285", "#57606a"], dark: ["#7ab4ff", "#ffb074", "#6fd39a", "#d79bea", "#e0c558", "#ff9a8f", "#6cd0e0", "#a2abb5"] };

const tickText = (seconds: number, step: number): string => {
  const at = new Date(seconds * 1000), two = (n: number) => String(n).padStart(2, "0");
  if (step >= 86400) return `${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${two(at.getHours())}:${two(at.getMinutes())}` + (step < 60 ? ":" + two(at.getSeconds()) : "");
};

export function Series({ name, title, data, pick, from, to, marked, isTime = true, height = 180 }: { name: string; title: string; data: SeriesData; pick?: (from: number, to: number) => void; from?: number; to?: number; marked?: [number, number]; isTime?: boolean; height?: number }) {
  const place = useRef<HTMLDivElement>(null), plot = useRef<uPlot | null>(null), picked = useRef(pick), now = useTheme();
  picked.current = pick;
  const unit = data.lines.every((line) => line.unit === data.lines[0].unit) ? data.lines[0]?.unit ?? "" : "";
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const axis = { stroke: colorOf("dim"), grid: { stroke: colorOf("line"), width: 1 }, ticks: { stroke: colorOf("line"), width: 1 }, font: "12px system-ui, sans-serif" };
    const made = new uPlot({
      width: Math.max(200, element.clientWidth), height,
      cursor: { drag: { x: !!picked.current, y: false, setScale: false }, points: { size: 6 } },
      legend: { live: true },
      scales: { x: { time: isTime, range: from && to ? [from, to] : undefined }, y: { range: (_, min, max) => [Math.min(0, min ?? 0), (max || 1) * 1.05] } },
      axes: [!isTime ? axis : { ...axis, values: (_, ticks, __, ___, step) => ticks.map((t) => tickText(t, step)) }, { ...axis, size: 84, values: (_, ticks) => ticks.map((n) => amountText(n, unit)) }],
      series: [{ label: isTime ? "Time" : "Print", value: (_, at) => (at === null ? "–" : isTime ? clockText(at) : String(at)) }, ...data.lines.map((line, i) => ({ label: line.name, stroke: inks[now][i % 8], width: 1.5, points: { show: data.times.length < 3 }, value: (_: uPlot, n: number | null) => amountText(n, line.unit) }))],
      hooks: {
        // The range that is marked, behind the lines.
        drawClear: [(u) => {
          if (!marked) return;
          const left = Math.max(u.bbox.left, u.valToPos(marked[0], "x", true)), right = Math.min(u.bbox.left + u.bbox.width, u.valToPos(marked[1], "x", true));
          u.ctx.fillStyle = colorOf("bar");
          if (right > left) u.ctx.fillRect(left, u.bbox.top, right - left, u.bbox.height);
        }],
        setSelect: [(u) => {
          if (u.select.width < 3) return;
          const a = u.posToVal(u.select.left, "x"), b = u.posToVal(u.select.left + u.select.width, "x");
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          picked.current?.(a, b);
        }],
      },
    }, [data.times, ...data.lines.map((line) => line.values)] as uPlot.AlignedData, element);
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: Math.max(200, element.clientWidth), height }));
    watch.observe(element);
    return () => { watch.disconnect(); made.destroy(); plot.current = null; };
  }, [data, now, height, from, to, marked?.[0], marked?.[1]]);
  const last = (line: Line) => line.values.findLast((n) => n !== null);
  const spoken = `${title}: ` + data.lines.map((line) => `${line.name} ${amountText(last(line), line.unit)}`).join(", ");
  return (
    <figure class="series">
      <figcaption><b>{title}</b>
        <span class="end">
          <button type="button" aria-label={`Save ${title} as PNG`} onClick={() => plot.current?.ctx.canvas.toBlob((blob) => { if (blob) save(`acu-${name}.png`, blob); })}>PNG</button>
          <button type="button" aria-label={`Save ${title} as CSV`} onClick={() => save(`acu-${name}.csv`, csv([isTime ? "time" : "print", ...data.lines.map((l) => `${l.name} (${l.unit})`)], data.times.map((t, i) => [isTime ? new Date(t * 1000).toISOString() : t, ...data.lines.map((l) => l.values[i])])), "text/csv")}>CSV</button>
        </span>
      </figcaption>
      <div class="plot" ref={place} role="img" aria-label={spoken} />
    </figure>
  );
}

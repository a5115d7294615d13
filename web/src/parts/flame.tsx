// The flame graph of a range, with its kind and its downloads. Table, callers and callees, languages and search are in the picture itself.
import { change, useAddress } from "../address";
import { api, type Kind, type Me, type Place } from "../api";
import { Picture, type Download } from "./picture";

const formats: [string, string, string][] = [["HTML", "html", "html"], ["SVG", "svg", "svg"], ["pprof", "pprof", "pb.gz"], ["folded", "folded", "folded"], ["speedscope", "speedscope", "json"]];
export const pictureDownloads = (name: string, url: (format: string) => string): Download[] =>
  formats.map(([label, format, ending]) => ({ label, url: url(format), file: `acu-${name.replace(/[^\w.@-]+/g, "_")}.${ending}` }));

export const storedKinds = (me: Me): Kind[] => me.kinds.filter((kind) => kind.stored);
export function useKind(me: Me): Kind {
  const kinds = storedKinds(me), name = useAddress().words.get("kind");
  return kinds.find((kind) => kind.name === name) ?? kinds[0] ?? { name: "cpu", title: "CPU", unit: "ns", stored: true };
}
export function KindPicker({ me }: { me: Me }) {
  const kind = useKind(me);
  return (
    <label>Kind <select value={kind.name} onChange={(event) => change({ kind: event.currentTarget.value, picture: undefined })}>
      {storedKinds(me).map((k) => <option key={k.name} value={k.name}>{k.title}</option>)}
    </select></label>
  );
}

export function Flame({ me, place }: { me: Me; place: Place }) {
  const kind = useKind(me), name = `${place.service || "host"}-${kind.name}`;
  return <Picture url={api.flameUrl(kind.name, place, "html")} title={`${kind.title} of ${place.service || "the host"}`} downloads={pictureDownloads(name, (format) => api.flameUrl(kind.name, place, format))} />;
}

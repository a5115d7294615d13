// A flame graph, a comparison or a timeline: the page that acu also writes into files, in a frame. What the reader chooses in it (zoom, search,
// function, language) is kept in this page's address, as `picture`; the theme follows this page's.
import { useEffect, useRef, useState } from "preact/hooks";
import { change, useAddress } from "../address";
import { useTheme } from "../theme";

export interface Download { label: string; url: string; file: string }

export function Picture({ url, title, downloads }: { url: string; title: string; downloads: Download[] }) {
  const frame = useRef<HTMLIFrameElement>(null), sent = useRef<string | null>(null), now = useTheme(), [loaded, setLoaded] = useState(""), isLoaded = loaded === url;
  const chosen = useAddress().words.get("picture") ?? "", first = useRef({ url, chosen });
  if (first.current.url !== url) first.current = { url, chosen }, sent.current = null;
  const tell = (message: object) => frame.current?.contentWindow?.postMessage(message, location.origin);
  useEffect(() => {
    const listen = (event: MessageEvent) => {
      if (event.source !== frame.current?.contentWindow || event.data?.acu !== "address" || typeof event.data.address !== "string") return;
      sent.current = event.data.address;
      change({ picture: event.data.address }, event.data.isStep === true);
    };
    addEventListener("message", listen);
    return () => removeEventListener("message", listen);
  }, []);
  useEffect(() => { if (isLoaded) tell({ theme: now }); }, [now, isLoaded]);
  useEffect(() => { if (isLoaded && chosen !== (sent.current ?? first.current.chosen)) sent.current = chosen, tell({ address: chosen }); }, [chosen, isLoaded]);
  return (
    <figure class="picture">
      <figcaption><b>{title}</b>
        <span class="end">{downloads.map((d) => <a key={d.label} class="button" href={d.url} download={d.file} aria-label={`Save ${title} as ${d.label}`}>{d.label}</a>)}</span>
      </figcaption>
      {!isLoaded && <p class="dim" role="status">Loading {title} …</p>}
      <iframe key={url} ref={frame} title={title} src={url + (first.current.chosen ? "#" + first.current.chosen : "")} onLoad={() => setLoaded(url)} />
    </figure>
  );
}

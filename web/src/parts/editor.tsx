// An editor for scripts: a text field with completion of probes and builtins. It is a plain text field, so it needs no styles or scripts made
// at run time (which the page's policy forbids), and screen readers and phones know it.
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../api";

// The word before the cursor, as completion takes it.
const wordAt = (text: string, at: number): string => /[\w:.*?/@+-]*$/.exec(text.slice(0, at))![0];

export function Editor({ id, text, change, run }: { id: string; text: string; change: (text: string) => void; run: () => void }) {
  const field = useRef<HTMLTextAreaElement>(null), [offers, setOffers] = useState<string[]>([]), [at, setAt] = useState(0), asked = useRef(0);
  const close = () => { asked.current++; setOffers([]); };
  const ask = async () => {
    const area = field.current, word = area ? wordAt(area.value, area.selectionStart) : "", mine = ++asked.current;
    if (word.length < 2) return setOffers([]);
    try {
      const { words } = await api.complete(word, new AbortController().signal);
      if (mine !== asked.current) return;
      setOffers(words.filter((w) => w !== word));
      setAt(0);
    } catch { // an editor without completion is still an editor
      if (mine === asked.current) setOffers([]);
    }
  };
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const take = (offer: string) => {
    const area = field.current!, end = area.selectionStart, begin = end - wordAt(area.value, end).length;
    area.setRangeText(offer, begin, end, "end");
    change(area.value);
    close();
    area.focus();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return event.preventDefault(), close(), run();
    if (event.key === " " && event.ctrlKey) return event.preventDefault(), void ask();
    if (!offers.length) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") setAt((at + (event.key === "ArrowDown" ? 1 : offers.length - 1)) % offers.length);
    else if (event.key === "Enter" || event.key === "Tab") take(offers[at]);
    else if (event.key === "Escape") close(), event.stopPropagation();
    else return;
    event.preventDefault();
  };
  return (
    <div class="editor">
      <textarea id={id} ref={field} data-search rows={12} spellcheck={false} autocomplete="off" value={text} role="combobox" aria-autocomplete="list" aria-expanded={offers.length > 0} aria-controls={id + "-offers"}
        aria-haspopup="listbox" aria-activedescendant={offers.length ? `${id}-offer-${at}` : undefined} onKeyDown={press} onBlur={close}
        onInput={(event) => { change(event.currentTarget.value); clearTimeout(timer.current); timer.current = window.setTimeout(ask, 250); }} />
      <ul class="offers" id={id + "-offers"} role="listbox" aria-label="Completions" hidden={!offers.length}>
        {offers.map((offer, i) => <li key={offer} id={`${id}-offer-${i}`} role="option" aria-selected={i === at} onMouseDown={(event) => { event.preventDefault(); take(offer); }}>{offer}</li>)}
      </ul>
    </div>
  );
}

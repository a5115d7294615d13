// What surrounds each page: its links, the switch for light and dark, the keys.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { addressText, change, go, useAddress } from "../address";
import { api, type Host } from "../api";
import { setTheme, useTheme } from "../theme";

export interface PageLink { page: string; label: string }

// Words that pages share: the time range goes along from page to page.
function carried(words: URLSearchParams): Record<string, string | undefined> {
  return Object.fromEntries(["last", "from", "to"].map((name) => [name, words.get(name) ?? undefined]));
}

// What is odd about an agent is said beside its name: a clock that is off, recordings that its disk had no room for.
function HostChoice({ hosts }: { hosts: Host[] }) {
  const chosen = useAddress().words.get("host") ?? "";
  const remark = (h: Host) => (Math.abs(h.clock_offset) > 60 ? ` (clock off by ${Math.round(h.clock_offset)} s)` : "") + (h.lost_batches ? ` (${h.lost_batches} batches lost)` : "");
  return (
    <select class="host" aria-label="Host" value={chosen} onChange={(event) => change({ host: event.currentTarget.value || undefined })}>
      <option value="">all {hosts.length} hosts</option>
      {hosts.map((h) => <option key={h.host} value={h.host}>{h.host + remark(h)}</option>)}
    </select>
  );
}

export function Layout({ links, user, host, hosts, isReadOnly, children }: { links: PageLink[]; user?: string; host: string; hosts?: Host[]; isReadOnly: boolean; children: ComponentChildren }) {
  const { page, words } = useAddress(), help = useRef<HTMLDialogElement>(null), now = useTheme(), other = now === "dark" ? "light" : "dark";
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.altKey || event.metaKey || help.current?.open) return;
      const target = event.target as HTMLElement;
      if (event.key === "Escape" && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return target.blur();
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || target.isContentEditable) return;
      const marked = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(event.key)}"]`), link = links[Number(event.key) - 1];
      if (event.key === "/") document.querySelector<HTMLElement>("main [data-search]")?.focus();
      else if (event.key === "?") help.current?.showModal();
      else if (event.key === "d") setTheme(other);
      else if (marked) marked.click();
      else if (link) go(link.page, carried(words));
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [other, words, links]);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to content</a>
      <header>
        <a class="brand" href={addressText("overview", carried(words))}>acu</a> {hosts ? <HostChoice hosts={hosts} /> : <span class="host" title={host}>{host}</span>}{isReadOnly && <span class="tag">read-only</span>}
        <nav aria-label="Pages"><ul>
          {links.map((link) => <li key={link.page}><a href={addressText(link.page, carried(words))} aria-current={page === link.page || page.startsWith(link.page + "/") ? "page" : undefined}>{link.label}</a></li>)}
        </ul></nav>
        <span class="end">
          {user && <><span class="user">{user}</span><button type="button" onClick={() => void api.logOut().finally(() => location.assign("/login"))}>Log out</button></>}
          <button type="button" class="icon" title={`${other === "dark" ? "Dark" : "Light"} colors (d)`} aria-label={`${other === "dark" ? "Dark" : "Light"} colors`} onClick={() => setTheme(other)}>◐</button>
          <button type="button" class="icon" title="Keys (?)" aria-label="Keys" onClick={() => help.current?.showModal()}>?</button>
        </span>
      </header>
      <main id="main" tabIndex={-1}>{children}</main>
      <dialog ref={help} aria-label="Keys">
        <h2>Keys</h2>
        <table><tbody>
          <tr><td><kbd>1</kbd> … <kbd>{links.length}</kbd></td><td>{links.map((link) => link.label).join(", ")}</td></tr>
          <tr><td><kbd>/</kbd></td><td>search in the page's table or list</td></tr>
          <tr><td><kbd>[</kbd> <kbd>]</kbd></td><td>earlier, later</td></tr>
          <tr><td><kbd>-</kbd> <kbd>+</kbd></td><td>longer, shorter range</td></tr>
          <tr><td><kbd>Ctrl</kbd>+<kbd>Enter</kbd></td><td>run the script or the query that is being edited</td></tr>
          <tr><td><kbd>r</kbd></td><td>refresh a live range</td></tr>
          <tr><td><kbd>p</kbd></td><td>pause or resume live figures</td></tr>
          <tr><td><kbd>d</kbd></td><td>dark or light</td></tr>
          <tr><td><kbd>Esc</kbd></td><td>leave a field</td></tr>
        </tbody></table>
        <p class="dim">A flame graph has keys of its own: select it, then press <kbd>?</kbd>. The address holds all choices: reload, back and a copied link show the same.</p>
        <form method="dialog"><button>Close</button></form>
      </dialog>
    </>
  );
}

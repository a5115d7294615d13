// The address holds all choices: #/PAGE?name=value. Reload, back and a link that is sent show the same. A step that one would want to
// take back (page, range, service) is a new entry of the browser's history; letters typed into a field are not.
import { useEffect, useState } from "preact/hooks";

export interface Address { page: string; words: URLSearchParams }

export function readAddress(): Address {
  const [path, query] = splitOnce(location.hash.replace(/^#\/?/, ""), "?");
  return { page: path || "overview", words: new URLSearchParams(query) };
}
function splitOnce(text: string, by: string): [string, string] {
  const at = text.indexOf(by);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

const followers = new Set<() => void>();
const tellFollowers = () => followers.forEach((follow) => follow());
addEventListener("popstate", tellFollowers);
addEventListener("hashchange", tellFollowers);

export function addressText(page: string, words: Record<string, string | number | undefined> | URLSearchParams): string {
  const query = words instanceof URLSearchParams ? words : new URLSearchParams();
  const host = readAddress().words.get("host"); // of a fleet: it goes along from page to page
  if (!(words instanceof URLSearchParams) && host) query.set("host", host);
  if (!(words instanceof URLSearchParams)) for (const [name, value] of Object.entries(words)) if (value !== undefined && value !== "") query.set(name, String(value));
  const text = query.toString();
  return "#/" + page + (text ? "?" + text : "");
}
export function go(page: string, words: Record<string, string | number | undefined> | URLSearchParams = {}, isStep = true): void {
  const url = addressText(page, words);
  if (url === location.hash) return;
  history[isStep ? "pushState" : "replaceState"](null, "", url);
  tellFollowers();
}
// Changes some words of the present page's address; an empty value removes its word.
export function change(values: Record<string, string | number | undefined>, isStep = true): void {
  const { page, words } = readAddress();
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === "") words.delete(name);
    else words.set(name, String(value));
  }
  go(page, words, isStep);
}

export function useAddress(): Address {
  const [address, setAddress] = useState(readAddress);
  useEffect(() => {
    const follow = () => setAddress(readAddress());
    followers.add(follow);
    return () => void followers.delete(follow);
  }, []);
  return address;
}

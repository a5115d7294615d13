// Light or dark: as the system says, until the reader switches. The switch is kept in the address-free storage of this browser.
import { useEffect, useState } from "preact/hooks";

export type Theme = "light" | "dark";
const KEY = "acu-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const followers = new Set<(theme: Theme) => void>();

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch { // storage is switched off
    return null;
  }
}
export function theme(): Theme {
  const chosen = document.documentElement.dataset.theme || stored();
  return chosen === "dark" || chosen === "light" ? chosen : system.matches ? "dark" : "light";
}
export function setTheme(to: Theme, isChosen = true): void {
  document.documentElement.dataset.theme = to;
  if (isChosen)
    try {
      localStorage.setItem(KEY, to);
    } catch { /* not kept */ }
  followers.forEach((follow) => follow(to));
}
setTheme(theme(), false);
system.addEventListener("change", () => { if (!stored()) setTheme(system.matches ? "dark" : "light", false); });

export function useTheme(): Theme {
  const [now, setNow] = useState(theme);
  useEffect(() => { followers.add(setNow); return () => void followers.delete(setNow); }, []);
  return now;
}
export const colorOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

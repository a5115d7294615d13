// What a page asks the server: loading, value and error of one request, repeated every so often. The last value stays while the next is loaded.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "./http";

export interface Answer<T> { value: T | null; error: ApiError | null; isLoading: boolean; again: () => void }

export function useAsk<T>(ask: ((signal: AbortSignal) => Promise<T>) | null, parts: unknown[], every = 0): Answer<T> {
  const [round, setRound] = useState(0);
  const [state, setState] = useState<{ key: string; value: T | null; error: ApiError | null; isLoading: boolean }>({ key: "", value: null, error: null, isLoading: true });
  const key = JSON.stringify(parts), asked = useRef(ask);
  asked.current = ask;
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    const load = async () => {
      if (!asked.current) return setState({ key, value: null, error: null, isLoading: false });
      setState((old) => ({ ...old, value: old.key === key ? old.value : null, key, isLoading: true }));
      try {
        const value = await asked.current(stop.signal);
        if (!stop.signal.aborted) setState({ key, value, error: null, isLoading: false });
      } catch (error) {
        if (!stop.signal.aborted) setState((old) => ({ key, value: old.value, error: ApiError.of(error), isLoading: false }));
      }
      // A page in the background asks nothing.
      if (every && !stop.signal.aborted) timer = window.setTimeout(function next() { if (document.hidden) timer = window.setTimeout(next, every); else void load(); }, every);
    };
    void load();
    return () => { stop.abort(); clearTimeout(timer); };
  }, [key, round, every]);
  const isOld = state.key !== key;
  return { value: isOld ? null : state.value, error: isOld ? null : state.error, isLoading: isOld || state.isLoading, again: () => setRound((n) => n + 1) };
}

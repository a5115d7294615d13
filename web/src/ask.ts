// What a page asks the server: loading, value and error of one request, repeated every so often. The last value stays, as an old one, while the next
// is loaded, so that a page keeps its shape when its range changes.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "./http";

export interface Answer<T> { value: T | null; isOld: boolean; error: ApiError | null; isLoading: boolean; again: () => void }
interface State<T> { value: T | null; valueKey: string; error: ApiError | null; errorKey: string; isLoading: boolean }

export function useAsk<T>(ask: ((signal: AbortSignal) => Promise<T>) | null, parts: unknown[], every = 0): Answer<T> {
  const [round, setRound] = useState(0), [state, setState] = useState<State<T>>({ value: null, valueKey: "", error: null, errorKey: "", isLoading: true });
  const key = JSON.stringify(parts), asked = useRef(ask);
  asked.current = ask;
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    const load = async () => {
      if (!asked.current) return setState((old) => ({ ...old, isLoading: false }));
      setState((old) => ({ ...old, isLoading: true }));
      try {
        const value = await asked.current(stop.signal);
        if (!stop.signal.aborted) setState({ value, valueKey: key, error: null, errorKey: key, isLoading: false });
      } catch (error) {
        // What was asked for is not there: what was there before is no answer to it.
        if (!stop.signal.aborted) setState((old) => ({ ...old, value: old.valueKey === key ? old.value : null, error: ApiError.of(error), errorKey: key, isLoading: false }));
      }
      // A page in the background asks nothing.
      if (every && !stop.signal.aborted) timer = window.setTimeout(function next() { if (document.hidden) timer = window.setTimeout(next, every); else void load(); }, every);
    };
    void load();
    return () => { stop.abort(); clearTimeout(timer); };
  }, [key, round, every]);
  const isNew = state.valueKey !== key && state.errorKey !== key;
  return { value: state.value, isOld: state.valueKey !== key, error: state.errorKey === key ? state.error : null, isLoading: isNew || state.isLoading, again: () => setRound((n) => n + 1) };
}

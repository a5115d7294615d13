// Requests to the server that sent this page. A failure is one sentence, with a hint where the server gave one.
import { readAddress } from "./address";

export class ApiError extends Error {
  constructor(readonly status: number, message: string, readonly hint = "") { super(message); }
  static of(error: unknown): ApiError {
    if (error instanceof ApiError) return error;
    if (error instanceof TypeError) return new ApiError(0, "the server does not answer", "is `acu serve` still running? The page asks again when you reload it");
    return new ApiError(0, error instanceof Error ? error.message : String(error));
  }
}

export type Words = Record<string, string | number | boolean | undefined | null>;
export function url(path: string, words: Words = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(words)) if (value !== undefined && value !== null && value !== "") query.set(name, String(value));
  // Of a fleet: the host that the address names.
  const host = readAddress().words.get("host");
  if (host && path.startsWith("/api/") && !query.has("host")) query.set("host", host);
  const text = query.toString();
  return path + (text ? "?" + text : "");
}

async function answerOf(response: Response): Promise<unknown> {
  const text = await response.text();
  let body: unknown = text;
  try {
    body = text ? JSON.parse(text) : null;
  } catch {
    if (response.ok) throw new ApiError(response.status, "the server's answer is not JSON");
  }
  if (response.ok) return body;
  // The session has ended: the server names its login page.
  const login = response.status === 401 ? response.headers.get("Location") : null;
  if (login) location.assign(login);
  const { error, hint } = (body ?? {}) as { error?: unknown; hint?: string };
  const sentence = typeof error === "string" ? error : ((error as { message?: string })?.message ?? `the server answered ${response.status} ${response.statusText}`);
  if (response.status === 401 || response.status === 403)
    throw new ApiError(response.status, sentence, hint || "open the address that `acu serve` printed, with its token");
  throw new ApiError(response.status, sentence, hint);
}

export async function get<T>(path: string, words: Words = {}, signal?: AbortSignal): Promise<T> {
  return (await answerOf(await fetch(url(path, words), { signal, credentials: "same-origin", headers: { Accept: "application/json" } }))) as T;
}
// The header proves that the request comes from this page: another site's form cannot set it.
export async function send<T>(method: "POST" | "DELETE" | "PUT", path: string, body: unknown = {}, signal?: AbortSignal): Promise<T> {
  const headers = { Accept: "application/json", "Content-Type": "application/json", "X-Acu": "1" };
  return (await answerOf(await fetch(path, { method, signal, credentials: "same-origin", headers, body: method === "DELETE" ? undefined : JSON.stringify(body) }))) as T;
}

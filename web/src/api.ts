// The HTTP API of `acu serve` (docs/serve-api.md): types and requests. Times are seconds since 1970, values have their unit beside them.
import { get, send, url, type Words } from "./http";

export interface Kind { name: string; title: string; unit: string; stored: boolean }
export interface Me { now: number; host: string; version: string; kernel: string; read_only: boolean; fleet?: boolean; user?: string; role?: "view" | "measure" | "admin"; login?: boolean; cpus: number; kinds: Kind[]; store?: { path: string; bytes: number; from: number; to: number; keep_seconds: number; max_bytes: number } }
export interface Service { service: string; type: string; cpu: number; offcpu: number; run_queue: number; memory: number; read: number; written: number; faults: number; processes: number }
export interface Evidence { supports: boolean; decisive?: boolean; measurement?: string; text: string; command?: string }
export interface WhyFinding { cause: string; subject?: string; verdict: string; size?: string; title?: string; advice?: string; check?: string; refutation?: string; evidence?: Evidence[]; effects?: { cause: string; subject: string }[] }
export interface Finding { id: number; time: number; service: string; verdict: string; cause: string; summary: string; job?: number | null; detail?: WhyFinding | { findings?: WhyFinding[] } | null }
export interface Host { host: string; received: number; slot: number; clock_offset: number; lost_batches: number; lost_samples: number }
export interface Pressure { some: number; full: number }
export interface Overview {
  now: number; host: string; busy: number; cpus: number[]; load: number[]; pressure: Record<string, Pressure>; run_queue: number; memory: { total: number; available: number };
  services: Service[]; findings: Finding[]; own: { cpu: number; kernel_cpu?: number; memory: number; lost: number; samples: number; flushed: number };
}
export interface Columns { from: number; to: number; step: number; times: number[]; series: { name: string; unit: string; values: (number | null)[] }[] }
export interface FunctionChange { name: string; module: string; self_a: number; self_b: number; total_a: number; total_b: number; change: number }
export interface Comparison { kind: string; unit: string; a: { from: number; to: number; total: number }; b: { from: number; to: number; total: number }; scale: number; functions: FunctionChange[] }
export interface TopFunction { name: string; module: string; kind: string; self: number; total: number }
export interface Top { from: number; to: number; unit: string; total: number; functions: TopFunction[]; threads: { name: string; process?: string; pid: number; value: number }[] }
export interface Schema { type?: string; description?: string; enum?: string[]; minimum?: number; maximum?: number; default?: unknown; items?: Schema; properties?: Record<string, Schema>; required?: string[] }
export interface Verb { name: string; title: string; description: string; inputSchema: Schema }
export interface Tool { name: string; group: string; title: string }
export interface ToolOption { name: string; type?: string; default?: unknown; help?: string }
export interface JobResult { command?: string; outcome?: string; exit_status?: number; data?: unknown; rows?: Record<string, unknown>[]; text?: string; truncated?: boolean; notes?: string[]; lost?: number; cost?: unknown; units?: unknown }
export interface Job { id: number; verb: string; command: string; state: "running" | "done" | "failed" | "cancelled"; started: number; seconds: number; expected_seconds?: number; result?: JobResult | null; error?: string | null; has_page?: boolean }
export interface AuditLine { time: number; client: string; action: string; arguments: unknown; outcome: unknown }
export interface Checked { valid: boolean; messages: string[]; marks: { line: number; column: number; kind?: string; message: string }[] }
export interface SqlResult { columns: string[]; rows: unknown[][]; truncated: boolean; seconds: number; notes?: string[] }

export interface Place extends Words { service?: string; pid?: string; process?: string; thread?: string; from: number; to: number }

export const api = {
  me: (signal: AbortSignal) => get<Me>("/api/me", {}, signal),
  hosts: (signal: AbortSignal) => get<{ hosts: Host[] }>("/api/hosts", {}, signal),
  overview: (signal: AbortSignal) => get<Overview>("/api/overview", {}, signal),
  services: (from: number, to: number, signal: AbortSignal) => get<{ services: Service[] }>("/api/services", { from, to }, signal),
  series: (words: { service?: string; names: string; from: number; to: number; points?: number }, signal: AbortSignal) => get<Columns>("/api/series", words, signal),
  flameUrl: (kind: string, place: Place, format: string) => url("/api/flame", { kind, ...place, format }),
  compare: (words: Words, signal: AbortSignal) => get<Comparison>("/api/compare", { ...words, format: "json" }, signal),
  compareUrl: (words: Words, format: string) => url("/api/compare", { ...words, format }),
  top: (words: { kind: string; service?: string; seconds: number }, signal: AbortSignal) => get<Top>("/api/top", words, signal),
  findings: (words: { from: number; to: number; service?: string }, signal: AbortSignal) => get<{ findings: Finding[] }>("/api/findings", words, signal),
  verbs: (signal: AbortSignal) => get<{ verbs: Verb[] }>("/api/verbs", {}, signal),
  tools: (signal: AbortSignal) => get<{ tools: Tool[] }>("/api/tools", {}, signal),
  tool: (name: string, signal: AbortSignal) => get<Tool & { help: string; options: ToolOption[] }>("/api/tools/" + encodeURIComponent(name), {}, signal),
  jobs: (signal: AbortSignal) => get<{ jobs: Job[] }>("/api/jobs", {}, signal),
  job: (id: number, signal?: AbortSignal) => get<Job>("/api/jobs/" + id, {}, signal),
  start: (verb: string, args: Record<string, unknown>, page = false) => send<{ id: number; state: string }>("POST", "/api/jobs", { verb, arguments: args, ...(page ? { page } : {}) }),
  stop: (id: number) => send<unknown>("DELETE", "/api/jobs/" + id),
  jobPageUrl: (id: number) => `/api/jobs/${id}/page`,
  jobFileUrl: (id: number, format: string) => url(`/api/jobs/${id}/file`, { format }),
  logOut: () => send<unknown>("POST", "/logout"),
  audit: (signal: AbortSignal) => get<{ lines: AuditLine[] }>("/api/audit", {}, signal),
  check: (script: string, signal: AbortSignal) => send<Checked>("POST", "/api/check", { script }, signal),
  complete: (text: string, signal: AbortSignal) => get<{ words: string[] }>("/api/complete", { text, limit: 50 }, signal),
  sql: (query: string, of: string, signal?: AbortSignal) => send<SqlResult>("POST", "/api/sql", { query, limit: 1000, seconds: 10, of }, signal),
  exportUrl: (what: string, words: Words) => url("/api/export", { what, ...words }),
};

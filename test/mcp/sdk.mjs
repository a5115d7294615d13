// The official client of the Model Context Protocol: sdk.mjs ACU PID [CORE]. It connects, lists the tools, and calls each; the
// client itself compares structured results with the output schemas.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [acu, pid, core] = process.argv.slice(2);
const busy = Number(pid);
const calls = {
  host: {},
  list_probes: { pattern: "tracepoint:sched:*" },
  check_script: { script: "begin { exit(); }" },
  run_script: { script: `tracepoint:raw_syscalls:sys_enter /pid == ${busy}/ { @ = count(); }`, duration: 0.5 },
  flame: { pid: busy, duration: 0.5 },
  slow: { what: "syscalls", pid: busy, min_duration_ms: 20, count: 1, duration: 3 },
  why: { pid: busy, duration: 3 },
  snap: { pid: busy },
  core: { file: core || "/no/such/core" },
  sql: { query: "select count(*) as n from processes" },
  tool: { name: "syscount", duration: 0.5 },
};

const client = new Client({ name: "sdk-test", version: "1" });
await client.connect(new StdioClientTransport({ command: acu, args: ["mcp"], stderr: "ignore" }));
const { tools } = await client.listTools();
for (const tool of tools) {
  if (!(tool.name in calls)) throw new Error(`no call of ${tool.name}`);
  const result = await client.callTool({ name: tool.name, arguments: calls[tool.name] }, undefined, { timeout: 90000 });
  const fails = tool.name === "core" && !core;
  if (Boolean(result.isError) !== fails) throw new Error(`${tool.name}: ${JSON.stringify(result).slice(0, 600)}`);
  console.log(`${tool.name}: ${result.structuredContent.outcome}, ${result.structuredContent.command}`);
}
console.log(`${tools.length} tools`);
await client.close();

// The ready-made tools, and one of them with a form.
import { useState } from "preact/hooks";
import { addressText, change, useAddress } from "../address";
import { api, type Me, type Schema } from "../api";
import { useAsk } from "../ask";
import { ApiError } from "../http";
import { Fields, argumentsOf } from "../parts/form";
import { JobView } from "../parts/job";
import { Empty, Failure, Show } from "../parts/notice";
import { countText } from "../units";

const shared: Record<string, Schema> = {
  duration: { type: "number", description: "Seconds.", minimum: 0.1, maximum: 300, default: 10 },
  pid: { type: "integer", description: "Only this process.", minimum: 1 },
  max_cost: { type: "number", description: "Highest cost of the probes, in percent of a CPU: it stops above that.", minimum: 0.01, maximum: 100 },
  arguments: { type: "array", description: "Positional parameters, separated by spaces." },
};
const plainOptions: Record<string, Schema> = { options: { type: "array", description: "Named parameters, separated by spaces: min-us=1000." } };

export function Tools({ me }: { me: Me }) {
  const name = useAddress().words.get("tool") ?? "";
  return name ? <OneTool me={me} name={name} key={name} /> : <AllTools />;
}

function AllTools() {
  const { words } = useAddress(), search = words.get("search") ?? "", tools = useAsk(api.tools, ["tools"]), wanted = search.toLowerCase();
  return (
    <>
      <h1>Tools</h1>
      <Show of={tools} what="tools">{(value) => {
        const shown = value.tools.filter((t) => !wanted || `${t.name} ${t.title} ${t.group}`.toLowerCase().includes(wanted));
        const groups = [...new Set(shown.map((t) => t.group))];
        return (
          <>
            <div class="bar"><input type="search" data-search value={search} placeholder="Search tools" aria-label="Search tools" onInput={(event) => change({ search: event.currentTarget.value }, false)} />
              <output aria-live="polite">{countText(shown.length, "tools")}</output></div>
            {groups.map((group) => (
              <section key={group} aria-label={group}><h2>{group}</h2><ul class="tools">
                {shown.filter((t) => t.group === group).map((t) => <li key={t.name}><a href={addressText("tools", { tool: t.name })}>{t.name}</a> <span class="dim">{t.title}</span></li>)}
              </ul></section>
            ))}
            {!shown.length && <Empty>No tools match the search.</Empty>}
          </>
        );
      }}</Show>
    </>
  );
}

function OneTool({ me, name }: { me: Me; name: string }) {
  const { words } = useAddress(), [error, setError] = useState<ApiError | null>(null), job = Number(words.get("job"));
  const tools = useAsk(api.tools, ["tools"]), about = useAsk((signal) => api.tool(name, signal), ["tool", name]), tool = tools.value?.tools.find((t) => t.name === name);
  const own: Record<string, Schema> = about.value?.options?.length ? Object.fromEntries(about.value.options.map((o) => ["--" + o.name, { type: o.type === "bool" ? "boolean" : "string", description: o.help, default: o.default }])) : plainOptions;
  const start = async (event: Event) => {
    event.preventDefault();
    setError(null);
    const args = argumentsOf(words, { ...shared, ...own }), options = [...((args.options as string[] | undefined) ?? [])];
    for (const [key, value] of Object.entries(args)) if (key.startsWith("--")) { delete args[key]; if (value !== false) options.push(key.slice(2) + (value === true ? "" : "=" + String(value))); }
    try {
      const { id } = await api.start("tool", { name, duration: 10, ...args, ...(options.length ? { options } : {}) });
      change({ job: id });
    } catch (failure) {
      setError(ApiError.of(failure));
    }
  };
  return (
    <>
      <p><a href={addressText("tools", {})}>Tools</a></p>
      <h1>{name}</h1>
      {tools.value && !tool && <Failure error={new ApiError(404, `there is no tool ${name}`, "the page Tools lists them")} />}
      {tool && <p>{tool.title}</p>}
      {about.value?.help && <details><summary>How to read it</summary><pre tabIndex={0}>{about.value.help}</pre></details>}
      <form onSubmit={start} aria-label={name}>
        <Fields properties={{ ...shared, ...own }} />
        <button class="primary" disabled={me.read_only}>Run</button>
        {me.read_only && <span class="dim"> This server is read-only: it runs no tools.</span>}
        {error && <Failure error={error} />}
      </form>
      {job > 0 && <JobView id={job} key={job} />}
    </>
  );
}

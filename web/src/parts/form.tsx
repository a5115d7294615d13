// A form for a JSON Schema, as the server's verbs and tools describe their arguments. Values are kept in the address as arg.NAME.
import { change, useAddress } from "../address";
import type { Schema } from "../api";

const PREFIX = "arg.";
const labelOf = (name: string) => { const text = name.replace(/^--/, "").replace(/[_-]/g, " "); return text === "pid" ? "PID" : text[0].toUpperCase() + text.slice(1); };

// What the form sends: fields that are empty are left out.
export function argumentsOf(words: URLSearchParams, properties: Record<string, Schema>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const text = words.get(PREFIX + name);
    if (text === null || text === "") continue;
    if (schema.type === "boolean") values[name] = text === "1";
    else if (schema.type === "integer" || schema.type === "number") values[name] = Number(text);
    else if (schema.type === "array") values[name] = text.split(/\s+/).filter(Boolean);
    else values[name] = text;
  }
  return values;
}

export function Fields({ properties, required = [] }: { properties: Record<string, Schema>; required?: string[] }) {
  const { words } = useAddress();
  return <div class="fields">{Object.entries(properties).map(([name, schema]) => <Field key={name} name={name} schema={schema} value={words.get(PREFIX + name) ?? ""} isRequired={required.includes(name)} />)}</div>;
}
function Field({ name, schema, value, isRequired }: { name: string; schema: Schema; value: string; isRequired: boolean }) {
  const id = "field-" + name, set = (text: string) => change({ [PREFIX + name]: text }, false), about = { id, "aria-describedby": schema.description ? id + "-about" : undefined };
  const note = schema.description && <small id={id + "-about"}>{schema.description}</small>;
  if (schema.type === "boolean") return <div><label class="check"><input type="checkbox" {...about} checked={value === "1"} onChange={(event) => set(event.currentTarget.checked ? "1" : "")} /> {labelOf(name)}</label>{note}</div>;
  const label = <label for={id}>{labelOf(name)}{isRequired && " (required)"}</label>;
  if (schema.enum) return <div>{label}<select {...about} required={isRequired} value={value} onChange={(event) => set(event.currentTarget.value)}><option value="">–</option>{schema.enum.map((v) => <option key={v} value={v}>{v}</option>)}</select>{note}</div>;
  const isNumber = schema.type === "integer" || schema.type === "number", placeholder = schema.default !== undefined ? String(schema.default) : undefined;
  return <div>{label}<input {...about} type={isNumber ? "number" : "text"} step={schema.type === "number" ? "any" : undefined} min={schema.minimum} max={schema.maximum} required={isRequired} placeholder={placeholder} value={value}
    autocomplete="off" spellcheck={false} onChange={(event) => set(event.currentTarget.value)} />{note}</div>;
}

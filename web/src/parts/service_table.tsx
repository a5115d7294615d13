// Services with what they use, each a link to its page.
import { addressText, readAddress } from "../address";
import type { Service } from "../api";
import { Table, type Column } from "./table";

export function serviceAddress(service: string): string {
  const { words } = readAddress(), keep = (name: string) => words.get(name) ?? undefined;
  return addressText("services", { service, last: keep("last"), from: keep("from"), to: keep("to") });
}

export function ServiceTable({ services, name, hasSearch = false, isShort = false }: { services: Service[]; name: string; hasSearch?: boolean; isShort?: boolean }) {
  const most = Math.max(1e-9, ...services.map((s) => s.cpu));
  const columns: Column<Service>[] = [
    { name: "service", label: "Service", value: (s) => s.service, show: (s) => <a href={serviceAddress(s.service)}>{s.service}</a> },
    { name: "type", label: "Type", value: (s) => s.type },
    { name: "cpu", label: "CPU", unit: "CPUs", value: (s) => s.cpu, share: (s) => s.cpu / most },
    { name: "offcpu", label: "Waiting", unit: "threads", value: (s) => s.offcpu },
    { name: "run_queue", label: "Run queue", unit: "threads", value: (s) => s.run_queue },
    { name: "memory", label: "Memory", unit: "bytes", value: (s) => s.memory },
    { name: "read", label: "Read", unit: "bytes/s", value: (s) => s.read },
    { name: "written", label: "Written", unit: "bytes/s", value: (s) => s.written },
    { name: "faults", label: "Faults", unit: "/s", value: (s) => s.faults },
    { name: "processes", label: "Processes", isNumber: true, value: (s) => s.processes },
  ];
  return <Table name={name} caption="Services" noun="services" columns={isShort ? columns.filter((c) => ["service", "type", "cpu", "offcpu", "memory"].includes(c.name)) : columns} rows={services} keyOf={(s) => s.type + "\0" + s.service} sort="-cpu" hasSearch={hasSearch} />;
}

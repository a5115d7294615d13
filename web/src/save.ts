// Downloads: text or a canvas as a file, made in the browser.
export function save(name: string, content: Blob | string, type = "text/plain"): void {
  const blob = typeof content === "string" ? new Blob([content], { type: type + ";charset=utf-8" }) : content;
  const link = document.createElement("a"), url = URL.createObjectURL(blob);
  link.href = url;
  link.download = name.replace(/[^\w.@-]+/g, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// RFC 4180. A text that a spreadsheet would take as a formula gets a ' in front: names come from the host that is traced.
export function csv(head: string[], rows: unknown[][]): string {
  const cell = (value: unknown) => {
    let text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
    if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text)) text = "'" + text;
    return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  };
  return [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

// What a person does with the console, in a browser without a screen: node stories.mjs SETTINGS, a JSON object
// {browser, url, readOnlyUrl, cookie, isMock, page, part, limit}. Prints a line of JSON for each story: {name, seconds, wrong}.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { createRequire } from "node:module";

const settings = JSON.parse(process.argv[2]), require = createRequire(import.meta.url);
const LIMIT = settings.limit || 20_000; // ms for one step
const EVIL = "<img src=x onerror=window.evil=1>";
const need = (condition, text) => { if (!condition) throw new Error(text); };
const stories = [];
// `planted`: needs what the mock server plants.
const story = (name, run, { planted = false, ...context } = {}) => stories.push({ name, run, planted, context });

const PAGES = ["overview", "services", "compare", "findings", "top", "measure", "script", "tools", "sql"];
const open = async (page, address) => { await page.goto(settings.url + "#/" + address); await page.locator("main h1").first().waitFor(); };
const words = (page) => new URLSearchParams(new URL(page.url()).hash.split("?")[1] ?? "");
const picture = (page) => page.frameLocator(".picture iframe");
const settled = async (page) => { await page.waitForFunction(() => !document.querySelector("[aria-busy=true]")); };
const until = async (page, what, test) => {
  const end = Date.now() + LIMIT;
  for (;;) {
    const value = await what();
    if (test(value)) return value;
    if (Date.now() > end) throw new Error(`still ${JSON.stringify(value)} at ${page.url()}`);
    await page.waitForTimeout(50);
  }
};
const saved = async (page, click) => {
  const [download] = await Promise.all([page.waitForEvent("download"), click()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
};
const drag = async (page, plot) => {
  const area = await plot.locator(".u-over").first().boundingBox(), y = area.y + area.height / 2;
  await page.mouse.move(area.x + area.width * 0.4, y);
  await page.mouse.down();
  await page.mouse.move(area.x + area.width * 0.5, y, { steps: 4 });
  await page.mouse.move(area.x + area.width * 0.7, y, { steps: 4 });
  await page.mouse.up();
};
const firstService = async (page) => { await open(page, "services"); const link = page.locator(".table tbody a").first(); await link.waitFor(); const name = await link.textContent(); await link.click(); return name; };

// ---- overview, services, ranges
story("overview_shows_the_host", async (page) => {
  await open(page, "overview");
  for (const text of ["CPUs busy", "CPU pressure", "Memory used", "acu itself"]) await page.locator(".card", { hasText: text }).first().waitFor();
  await page.getByRole("img", { name: /^CPUs and pressure/ }).waitFor();
  await page.locator(".table tbody tr").first().waitFor();
});
story("service_is_a_click_away", async (page) => {
  await open(page, "overview");
  const link = page.locator(".table tbody a").first(), name = await link.textContent();
  await link.click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
  need(words(page).get("service") === name, page.url());
  await picture(page).locator("#graph").waitFor();
});
story("services_are_searched_and_sorted", async (page) => {
  await open(page, "services");
  await page.locator(".table tbody tr").first().waitFor();
  await page.getByPlaceholder("Search services").fill("nginx");
  await until(page, () => page.locator(".table tbody tr").count(), (n) => n === 1);
  await page.getByPlaceholder("Search services").fill("");
  await page.getByRole("button", { name: "Service", exact: true }).click();
  need((await page.locator("th[aria-sort=ascending]").textContent()) === "Service", "not sorted by name");
  await page.reload();
  need(await page.locator("th[aria-sort=ascending]").textContent({ timeout: LIMIT }) === "Service", "the order is not in the address");
}, { planted: true });
story("range_is_dragged_and_the_flame_graph_follows", async (page) => {
  await firstService(page);
  const frame = page.locator(".picture iframe"), before = await frame.getAttribute("src");
  await drag(page, page.locator(".series").first());
  await until(page, () => words(page).get("from"), Boolean);
  const from = Number(words(page).get("from")), to = Number(words(page).get("to"));
  need(to - from > 60 && to - from < 900, `${to - from} s`);
  const src = await until(page, () => frame.getAttribute("src"), (now) => now !== before);
  need(src.includes(`from=${from}`) && src.includes(`to=${to}`), src);
  await page.goBack();
  await until(page, () => frame.getAttribute("src"), (now) => now === before || !now.includes(`from=${from}&`));
});
story("range_by_keys", async (page) => {
  await firstService(page);
  await page.locator(".series").first().waitFor();
  const size = () => Number(words(page).get("to")) - Number(words(page).get("from"));
  await page.keyboard.press("[");
  await until(page, size, (s) => s === 900);
  const from = Number(words(page).get("from"));
  await page.keyboard.press("+");
  await until(page, size, (s) => s === 450);
  await page.keyboard.press("-");
  await until(page, size, (s) => s === 900);
  await page.keyboard.press("]");
  await until(page, () => Number(words(page).get("from")), (f) => f === from + 450);
});
story("range_from_the_list_is_kept_by_reload", async (page) => {
  await open(page, "services");
  await page.getByLabel("Range", { exact: true }).selectOption("3600");
  need(words(page).get("last") === "3600", page.url());
  await page.reload();
  await until(page, () => page.getByLabel("Range", { exact: true }).inputValue(), (v) => v === "3600");
  await page.getByRole("link", { name: "Findings", exact: true }).click();
  need(words(page).get("last") === "3600", "the range does not go along: " + page.url());
});
story("range_is_typed", async (page) => {
  await open(page, "services");
  await page.getByText("Exact", { exact: true }).click();
  const to = page.getByLabel("To", { exact: true }), end = new Date((await to.inputValue()) + "Z").getTime();
  await page.getByLabel("From", { exact: true }).fill(new Date(end - 120_000).toISOString().slice(0, 19).replace(/:00$/, "")); // browsers leave out seconds of 0
  await until(page, () => Number(words(page).get("to")) - Number(words(page).get("from")), (s) => Math.round(s) === 120);
});

// ---- flame graphs
story("kind_is_chosen_and_taken_back", async (page) => {
  await firstService(page);
  await page.getByLabel("Kind").first().selectOption("offcpu");
  await page.locator('.picture iframe[src*="kind=offcpu"]').waitFor();
  await page.goBack();
  await page.locator('.picture iframe[src*="kind=cpu"]').waitFor();
});
story("search_in_the_picture_is_in_the_address", async (page) => {
  await open(page, "services?service=shop.service");
  await picture(page).locator("#search").fill("parse_request");
  await until(page, () => new URLSearchParams(words(page).get("picture") ?? "").get("search"), (s) => s === "parse_request");
  await page.reload();
  await until(page, () => picture(page).locator("#found").textContent(), (text) => text.startsWith("matched 30.00%"));
}, { planted: true });
story("zoom_in_the_picture_is_taken_back", async (page) => {
  await open(page, "services?service=shop.service");
  await picture(page).locator("#rows button", { hasText: "parse_request" }).click();
  await until(page, () => new URLSearchParams(words(page).get("picture") ?? "").get("function"), (f) => f === "parse_request");
  await picture(page).locator("#chosenName", { hasText: "parse_request" }).waitFor();
  await page.goBack();
  await until(page, () => words(page).get("picture") || "", (text) => !text.includes("function"));
  await picture(page).locator("#chosen").waitFor({ state: "hidden" });
}, { planted: true });
story("callers_and_callees", async (page) => {
  await open(page, "services?service=shop.service");
  await picture(page).locator("#rows button", { hasText: "parse_request" }).click();
  await picture(page).getByRole("button", { name: "Callers & callees" }).first().click();
  await picture(page).locator("#callersHead", { hasText: "Callers" }).waitFor();
  await until(page, () => picture(page).locator("#callers").getAttribute("aria-label"), (text) => text === "Callers of parse_request");
}, { planted: true });
story("kernel_code_only", async (page) => {
  await open(page, "services?service=shop.service");
  await picture(page).locator("#kind").selectOption("kernel");
  await until(page, () => words(page).get("picture"), (text) => text === "kind=kernel");
  await until(page, () => picture(page).locator("#rows tr").count(), (n) => n === 2);
}, { planted: true });
story("flame_graph_by_keyboard", async (page) => {
  await open(page, "services?service=shop.service");
  await picture(page).locator("#graph").focus();
  for (const key of ["ArrowUp", "ArrowUp", "Enter"]) await page.keyboard.press(key);
  await until(page, () => words(page).get("picture") ?? "", (text) => text.includes("zoom="));
}, { planted: true });
story("downloads_of_a_flame_graph", async (page) => {
  await firstService(page);
  const svg = await saved(page, () => page.getByRole("link", { name: /as SVG$/ }).click());
  need(svg.name.endsWith(".svg") && svg.bytes.includes("<svg"), svg.name);
  const pprof = await saved(page, () => page.getByRole("link", { name: /as pprof$/ }).click());
  need(pprof.name.endsWith(".pb.gz") && pprof.bytes[0] === 0x1f && pprof.bytes[1] === 0x8b, pprof.name);
});
story("downloads_of_series", async (page) => {
  await firstService(page);
  const csv = await saved(page, () => page.getByRole("button", { name: "Save Memory as CSV" }).click());
  need(/^time,memory \(bytes\)\r\n\d{4}-/.test(csv.bytes.toString()), csv.bytes.toString().slice(0, 80));
  const png = await saved(page, () => page.getByRole("button", { name: "Save Memory as PNG" }).click());
  need(png.bytes.subarray(1, 4).toString() === "PNG", png.name);
});

// ---- compare
story("regression_is_found_by_comparing", async (page) => {
  const now = Math.floor(Date.now() / 1000);
  await open(page, `compare?service=shop.service&a_from=${now - 3600}&a_to=${now - 3300}&b_from=${now - 300}&b_to=${now}`);
  const first = page.locator(".table tbody tr").first();
  await first.waitFor();
  const text = await first.textContent();
  need(text.startsWith("parse_request") && text.includes("+200.0 ms (+20.00%)"), text);
  await until(page, () => picture(page).locator("#color").inputValue(), (v) => v === "change");
}, { planted: true });
story("compare_with_the_range_before", async (page) => {
  await firstService(page);
  await page.getByRole("link", { name: "Compare with the range before" }).click();
  await page.getByRole("heading", { name: "Functions that changed" }).waitFor();
  need(words(page).get("a_to") === words(page).get("b_from"), page.url());
  const a = words(page).get("a_from");
  await page.getByRole("button", { name: "Swap A and B" }).click();
  need(words(page).get("b_from") === a, page.url());
});
story("ranges_of_a_comparison_are_dragged", async (page) => {
  await open(page, "compare");
  await drag(page, page.locator(".series").first());
  await until(page, () => words(page).get("a_from"), Boolean);
});

// ---- findings and measurements
story("finding_with_its_evidence", async (page) => {
  await open(page, "overview");
  await page.getByRole("link", { name: "shop waits for a CPU 72.3% of its time" }).click();
  const card = page.locator(".finding[data-marked]");
  for (const text of ["confirmed", "waits for a CPU take 5.3 ms on average", "give it more CPUs", "acu why --measure run-queues -p 4711"]) await card.getByText(text).first().waitFor();
}, { planted: true });
story("measurement_from_a_finding", async (page) => {
  await open(page, "findings");
  await page.locator(".finding").first().getByRole("button", { name: "CPU flame graph", exact: true }).click();
  await page.locator('[data-state="done"]').waitFor();
  await picture(page).locator("#graph").waitFor();
}, { planted: true });
story("why_is_asked_by_a_form", async (page) => {
  await open(page, "measure?verb=why");
  await page.getByLabel("Duration").fill("1");
  await page.getByRole("button", { name: "Measure", exact: true }).click();
  await page.locator('[data-state="done"]').waitFor({ timeout: 2 * LIMIT });
  await page.locator(".result").waitFor();
});
story("missing_arguments_are_reported", async (page) => {
  await open(page, "measure?verb=slow");
  await page.getByLabel("What").evaluate((field) => { field.required = false; });
  await page.getByRole("button", { name: "Measure", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "what" }).waitFor();
});
story("top_is_live_and_pauses", async (page) => {
  let asked = 0;
  page.on("request", (request) => { asked += request.url().includes("/api/top"); });
  await open(page, "top");
  await page.locator(".table tbody tr").first().waitFor();
  await until(page, () => asked, (n) => n >= 2);
  await page.keyboard.press("p");
  await page.getByText(", paused").waitFor();
  need(words(page).get("paused") === "1", page.url());
  await page.getByRole("button", { name: "Resume" }).waitFor();
});

// ---- scripts
story("script_is_checked_while_typed", async (page) => {
  await open(page, "script");
  await page.getByLabel("Script, in the bpftrace language").fill("begin {\n  foo();\n}");
  await page.getByRole("button", { name: "line 2, column 3" }).click();
  need(await page.evaluate(() => document.activeElement.selectionStart) === 10, "the cursor is elsewhere");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("begin { exit(); }");
  await page.getByText("The script is valid.").waitFor();
});
story("script_runs", async (page) => {
  await open(page, "script");
  await page.getByLabel("Script, in the bpftrace language").fill("begin { printf(\"hello\\n\"); @calls[comm] = count(); @us = hist(5); exit(); }");
  await page.getByLabel("Seconds").fill("2");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator('[data-state="done"]').waitFor();
  await page.locator("pre", { hasText: "hello" }).waitFor();
  await page.getByRole("heading", { name: "@calls" }).waitFor();
  await page.locator("table.histogram").first().waitFor();
  const csv = await saved(page, () => page.getByRole("region", { name: "@calls" }).first().getByRole("button", { name: "CSV", exact: true }).click());
  need(csv.bytes.toString().startsWith("Key,Value\r\n"), csv.bytes.toString());
});
story("earlier_prints_of_a_map", async (page) => {
  await open(page, "script?script=" + encodeURIComponent("begin { }"));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const map = page.getByRole("region", { name: "@calls" }).first();
  await map.getByText("Print 3 of 3").waitFor();
  await map.getByRole("cell", { name: "77" }).waitFor();
  await map.getByRole("slider").focus();
  await page.keyboard.press("ArrowLeft");
  await map.getByRole("cell", { name: "60" }).waitFor();
}, { planted: true });
story("prints_of_a_map_over_time", async (page) => {
  await open(page, "script?script=" + encodeURIComponent("begin { }"));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("img", { name: /^@calls, each print: shop 77/ }).waitFor();
  const csv = await saved(page, () => page.getByRole("button", { name: "Save @calls, each print as CSV" }).click());
  need(/^print,shop \(\),nginx \(\),.*\r\n1,42,7,3\r\n2,60,8,3\r\n3,77,9,4\r\n$/.test(csv.bytes.toString()), csv.bytes.toString());
}, { planted: true });
story("stacks_of_a_map_as_a_file", async (page) => {
  await open(page, "script?script=" + encodeURIComponent("begin { }"));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const folded = await saved(page, () => page.getByRole("button", { name: "Save as folded stacks" }).click());
  need(folded.bytes.toString() === "main;read 5\n", folded.bytes.toString());
}, { planted: true });
story("audit_lists_what_was_asked", async (page) => {
  await open(page, "script");
  await page.getByLabel("Script, in the bpftrace language").fill("begin { exit(); }");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator("[data-state]").waitFor();
  await open(page, "measure");
  await page.getByText("Audit: who asked for what").click();
  await page.getByRole("row").filter({ hasText: "POST /api/jobs" }).first().waitFor();
});
story("long_script_is_stopped", async (page) => {
  await open(page, "script?duration=300&script=" + encodeURIComponent("interval:s:1 { @n = count(); }"));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.locator('[data-state="cancelled"]').waitFor();
});
story("completion_by_keyboard", async (page) => {
  await open(page, "script");
  const field = page.getByLabel("Script, in the bpftrace language");
  await field.fill("");
  await field.pressSequentially("kprobe:vfs_read");
  // Offers for a part of the word have the word itself.
  const shown = await until(page, () => page.getByRole("listbox", { name: "Completions" }).getByRole("option").allTextContents(), (all) => all.includes("kprobe:vfs_readv") && !all.includes("kprobe:vfs_read")), at = shown.indexOf("kprobe:vfs_readv");
  for (let i = 0; i < at; i++) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  need(await field.inputValue() === "kprobe:vfs_readv", await field.inputValue());
});
story("failed_job_gives_its_reason", async (page) => {
  await open(page, "script?script=" + encodeURIComponent("begin { /* killed */ }"));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "the probe was refused" }).waitFor();
}, { planted: true });

// ---- tools and SQL
story("tool_is_found_and_run", async (page) => {
  await open(page, "tools");
  await page.getByPlaceholder("Search tools").fill("execsnoop");
  await page.getByRole("link", { name: "execsnoop", exact: true }).click();
  await page.getByLabel("Duration").fill("1");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator('[data-state="done"]').waitFor({ timeout: 2 * LIMIT });
  await page.locator(".result").waitFor();
});
story("options_of_a_tool_are_fields", async (page) => {
  await open(page, "tools?tool=biolatency");
  await page.getByLabel("Seconds").fill("3");
  await page.getByLabel("Verbose").check();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator("pre", { hasText: '"options": ["seconds=3", "verbose"]' }).waitFor();
}, { planted: true });
story("sql_by_keyboard", async (page) => {
  await open(page, "sql");
  await page.keyboard.press("/");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("select pid, name, resident from processes limit 4");
  await page.keyboard.press("Control+Enter");
  await until(page, () => page.locator(".table tbody tr").count(), (n) => n === 4);
  need(words(page).get("query").startsWith("select pid"), page.url());
  await page.reload();
  await until(page, () => page.locator(".table tbody tr").count(), (n) => n === 4);
});
story("sql_error_has_a_hint", async (page) => {
  await open(page, "sql?query=" + encodeURIComponent("select * from nowhere"));
  await page.getByRole("alert").filter({ hasText: "no such table" }).waitFor();
});
story("sql_table_is_saved_as_csv", async (page) => {
  await open(page, "sql?query=" + encodeURIComponent("select pid, name, resident from processes"));
  const csv = await saved(page, () => page.getByRole("button", { name: "CSV" }).first().click());
  need(csv.bytes.toString() === `pid,name,resident\r\n1,systemd,12582912\r\n4711,shop,314572800\r\n4712,${EVIL},5\r\n4713,'=cmd(),\r\n`, csv.bytes.toString());
}, { planted: true });
story("table_names_fill_the_query", async (page) => {
  await open(page, "sql");
  await page.getByText("Tables", { exact: true }).click();
  await page.getByRole("button", { name: "processes", exact: true }).click();
  need((await page.getByLabel("Query, in SQLite's SQL").inputValue()).includes("from processes"), "not filled in");
});

// ---- the page as such
story("pages_by_keyboard", async (page) => {
  await open(page, "overview");
  for (const [at, name] of PAGES.entries()) {
    await page.keyboard.press(String(at + 1));
    await until(page, () => new URL(page.url()).hash, (hash) => hash.startsWith("#/" + name));
    need(await page.locator(`nav a[aria-current=page]`).getAttribute("href").then((h) => h.startsWith("#/" + name)), name);
  }
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "hidden" });
});
story("tab_order", async (page) => {
  await open(page, "services");
  await page.locator(".table tbody tr").first().waitFor();
  const seen = [];
  for (let i = 0; i < 22; i++) {
    await page.keyboard.press("Tab");
    seen.push(await page.evaluate(() => (document.activeElement.getAttribute("aria-label") || document.activeElement.textContent || document.activeElement.tagName).trim()));
  }
  need(seen[0] === "Skip to content" && seen[1] === "acu" && seen[2] === "Overview", seen.slice(0, 4).join("|"));
  const at = (name) => seen.indexOf(name);
  need(at("SQL") > 0 && at("SQL") < at("Range") + 40 && at("Earlier") < at("Later") && at("Later") < at("Search services"), seen.join("|"));
  await page.reload();
  await page.locator(".table tbody tr").first().waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  need(await page.evaluate(() => document.activeElement.id) === "main", "the skip link leads elsewhere");
});
story("dark_by_the_system_and_by_the_switch", async (page) => {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await firstService(page);
  need(await paper() === "rgb(19, 22, 26)", await paper());
  await until(page, () => picture(page).locator("html").getAttribute("data-theme"), (t) => t === "dark");
  await page.keyboard.press("d");
  need(await paper() === "rgb(255, 255, 255)", await paper());
  await until(page, () => picture(page).locator("html").getAttribute("data-theme"), (t) => t === "light");
  await page.reload();
  await page.locator("main h1").waitFor();
  need(await paper() === "rgb(255, 255, 255)", "the switch is not kept");
}, { colorScheme: "dark" });
story("phone_width", async (page) => {
  for (const name of [...PAGES, "services?service=shop.service", "tools?tool=biolatency", "sql?query=" + encodeURIComponent("select * from processes")]) {
    await open(page, name);
    await settled(page);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    need(width <= 360, `${name}: ${width} pixels`);
  }
}, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
const checkAccess = (name, addresses, context) => story(name, async (page) => {
  const source = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"), wrong = [];
  for (const address of addresses) {
    await open(page, address);
    await settled(page);
    await page.waitForTimeout(100);
    for (const frame of page.frames()) {
      if (frame !== page.mainFrame()) await frame.waitForFunction(() => document.readyState === "complete" && document.getElementById("graph")?.width > 0);
      await frame.evaluate(source);
    }
    const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }));
    for (const v of found.violations.filter((v) => ["serious", "critical"].includes(v.impact))) wrong.push(`${address}: ${v.id}: ${v.nodes.slice(0, 3).map((n) => n.target.join(" ") + " " + n.html.slice(0, 120)).join("; ")}`);
  }
  need(!wrong.length, wrong.join("\n"));
}, context);
checkAccess("axe_finds_nothing_in_light_pages", [...PAGES.slice(0, 7), "tools?tool=biolatency", "sql?query=" + encodeURIComponent("select * from processes")], {});
checkAccess("axe_finds_nothing_in_dark_pages", ["overview", "services?service=shop.service", "script"], { colorScheme: "dark" });
checkAccess("axe_finds_nothing_in_results", ["measure?job=1", "findings"], { planted: true });
story("names_are_text", async (page) => {
  for (const address of [...PAGES, "services?service=" + encodeURIComponent(EVIL), "tools?tool=evil", "measure?job=1", "findings?search=" + encodeURIComponent(EVIL), EVIL, "sql?query=" + encodeURIComponent("select * from processes -- " + EVIL)]) {
    await open(page, address);
    await settled(page);
    need(await page.evaluate(() => window.evil === undefined && !document.querySelector("img")), address);
    for (const frame of page.frames()) need(await frame.evaluate(() => window.evil === undefined && !document.querySelector("img")), address + " in a picture");
  }
  await open(page, "services");
  await page.getByRole("link", { name: EVIL }).waitFor();
}, { planted: true });
story("nothing_is_asked_of_others", async (page) => {
  const elsewhere = [], own = new URL(settings.url).origin;
  page.on("request", (request) => { if (!/^(data|blob|about):/.test(request.url()) && new URL(request.url()).origin !== own) elsewhere.push(request.url()); });
  for (const address of PAGES) await open(page, address), await settled(page);
  need(!elsewhere.length, elsewhere.join(" "));
});
story("server_is_away", async (page) => {
  await open(page, "services");
  await page.route("**/api/**", (route) => route.abort());
  await page.getByLabel("Range", { exact: true }).selectOption("3600");
  await page.getByRole("alert").filter({ hasText: "the server does not answer" }).first().waitFor();
  await page.unroute("**/api/**");
  await page.getByRole("button", { name: "Try again" }).first().click();
  await page.locator(".table tbody tr").first().waitFor();
});
story("session_is_over", async (page) => {
  await page.route("**/api/me", (route) => route.fulfill({ status: 401, contentType: "application/json", body: '{"error": "no session"}' }));
  await page.goto(settings.url + "#/overview");
  await page.getByRole("alert").filter({ hasText: "its token" }).waitFor();
});
story("unknown_names_are_reported", async (page) => {
  await open(page, "nowhere");
  await page.getByRole("heading", { name: "No such page" }).waitFor();
  await open(page, "tools?tool=nonesuch");
  await page.getByRole("alert").filter({ hasText: "there is no tool nonesuch" }).first().waitFor();
  await open(page, "measure?job=99999");
  await page.getByRole("alert").filter({ hasText: /no (such )?job/ }).waitFor();
});
story("read_only_runs_nothing", async (page) => {
  await page.goto(settings.readOnlyUrl + "#/script");
  await page.getByText("read-only", { exact: true }).waitFor();
  need(await page.getByRole("button", { name: "Run", exact: true }).isDisabled(), "a script can be run");
  await page.goto(settings.readOnlyUrl + "#/findings");
  await page.locator("main h1").waitFor();
  need(await page.getByRole("button", { name: "Look for causes now" }).count() === 0, "a measurement can be taken");
}, { planted: true });

story("users_log_in_and_out", async (page) => {
  const { url, name, password } = settings.login;
  await page.goto(url);
  await page.waitForURL("**/login");
  await page.getByLabel("User").fill(name);
  await page.getByLabel("Password").fill("not the password");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").filter({ hasText: "wrong" }).waitFor();
  await page.getByLabel("User").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "Overview" }).first().waitFor();
  need(await page.locator("header").getByText(name, { exact: true }).count() === 1, "the user's name is not shown");
  need(await page.getByRole("link", { name: "Script" }).count() === 0, "the role view has a page to run scripts");
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForURL("**/login");
  await page.goto(url + "#/overview");
  await page.getByLabel("Password").waitFor();
}, { planted: true });

// Of a host on which acu has just begun: `services` are {service, functions}, and the picture of each has one of the functions before the step's limit.
if (settings.services)
  story("functions_of_a_new_host", async (page) => {
    await Promise.all(settings.services.map(async ({ service, functions }) => {
      const own = await page.context().newPage();
      const found = async () => {
        await own.goto(settings.url + "#/services?last=120&service=" + encodeURIComponent(service));
        await own.reload();
        for (const name of functions) {
          await picture(own).locator("#search").fill(name, { timeout: 3000 });
          await own.waitForTimeout(300);
          if (parseFloat((await picture(own).locator("#found").textContent()).replace(/^matched /, "")) > 0) return name;
        }
      };
      await until(own, () => found().catch(() => undefined), Boolean);
    }));
  });

// ---- runs them
const browser = await chromium.launch({ executablePath: settings.browser, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
async function runStory({ name, run, context }) {
  const begin = Date.now(), wrong = [];
  const own = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light", reducedMotion: "reduce", timezoneId: "UTC", acceptDownloads: true, ...context });
  own.setDefaultTimeout(LIMIT);
  if (settings.cookie) await own.addCookies([settings.cookie]);
  const page = await own.newPage();
  if (settings.page) await page.route(settings.url, (route) => route.fulfill({ contentType: "text/html", body: readFileSync(settings.page, "utf8") }));
  // A mistake in a script, or something that the page's policy forbids, is wrong in each story.
  page.on("pageerror", (error) => wrong.push("error in the page: " + error.message));
  page.on("console", (message) => { if (message.type() === "error" && /Content Security Policy|Refused to/.test(message.text())) wrong.push(message.text().slice(0, 400)); });
  try {
    await run(page);
  } catch (error) {
    wrong.push(String(error.message).split("\n").slice(0, 8).join("\n") + " at " + page.url());
  }
  await own.close();
  console.log(JSON.stringify({ name, seconds: (Date.now() - begin) / 1000, wrong: wrong.join("\n") }));
}
// Most of a story is waiting: a few run at a time.
const chosen = stories.filter(({ name, planted }) => name.includes(settings.part ?? "") && (!planted || settings.isMock)).reverse();
await Promise.all(Array.from({ length: settings.atATime || 3 }, async () => { while (chosen.length) await runStory(chosen.pop()); }));
await browser.close();

// A finding of `acu why`: its cause, how sure it is, the evidence, and measurements that would show more.
import { useState } from "preact/hooks";
import { addressText, go } from "../address";
import { api, type Finding, type WhyFinding } from "../api";
import { ApiError } from "../http";
import { clockText } from "../units";
import { Failure } from "./notice";
import { serviceAddress } from "./service_table";

const detailsOf = (finding: Finding): WhyFinding[] => {
  const detail = finding.detail;
  if (!detail) return [];
  if ("findings" in detail && Array.isArray(detail.findings)) return detail.findings.filter((f) => f.cause === finding.cause);
  return [detail as WhyFinding];
};
// What `acu why` names instead of a service.
const isSubject = (text: string) => /^(host$|(process|pid|cgroup|device) )/.test(text);
const levelOf = (verdict: string) => (verdict === "confirmed" ? "warning" : "");

export function WhyDetail({ detail }: { detail: WhyFinding }) {
  return (
    <>
      {detail.size && <p>{detail.subject}: {detail.size}</p>}
      {!!detail.evidence?.length && <><h4>Evidence</h4><ul>{detail.evidence.map((e, i) => <li key={i}>{e.supports ? "" : "against: "}{e.text}{e.decisive ? " (decisive)" : ""}{e.command && <> <code>{e.command}</code></>}</li>)}</ul></>}
      {detail.advice && <p><b>What to do:</b> {detail.advice}</p>}
      {detail.check && <p><b>Solved when:</b> {detail.check}</p>}
      {detail.refutation && <p class="dim">Wrong if {detail.refutation}</p>}
    </>
  );
}

// The measurements that a finding offers: of its process if it names one, otherwise of the host.
function Offers({ finding, subject }: { finding: Finding; subject: string }) {
  const [error, setError] = useState<ApiError | null>(null), pid = Number(/\b(?:process|pid) (\d+)/.exec(subject)?.[1]) || undefined;
  const start = async (verb: string, args: Record<string, unknown>, page: boolean) => {
    try {
      const { id } = await api.start(verb, { ...args, ...(pid ? { pid } : {}) }, page);
      go("measure", { job: id });
    } catch (failure) {
      setError(ApiError.of(failure));
    }
  };
  const about = finding.summary || finding.cause;
  return (
    <>
      <div class="bar" role="group" aria-label={"Measure now: " + about}>
        <b>Measure now:</b>
        <button type="button" onClick={() => start("why", { duration: 10 }, false)}>Look again</button>
        <button type="button" onClick={() => start("flame", { kind: "cpu", duration: 10 }, true)}>CPU flame graph</button>
        <button type="button" onClick={() => start("flame", { kind: "offcpu", duration: 10 }, true)}>Off-CPU flame graph</button>
      </div>
      {error && <Failure error={error} />}
    </>
  );
}

export function FindingCard({ finding, isShort = false, isReadOnly = false, isMarked = false }: { finding: Finding; isShort?: boolean; isReadOnly?: boolean; isMarked?: boolean }) {
  const details = detailsOf(finding), title = finding.summary || details[0]?.title || finding.cause;
  return (
    <article class={"finding " + levelOf(finding.verdict)} id={"finding-" + finding.id} aria-label={title} data-marked={isMarked || undefined}>
      <h3>{isShort ? <a href={addressText("findings", { finding: finding.id, from: Math.floor(finding.time - 1800), to: Math.ceil(finding.time + 60) })}>{title}</a> : title}</h3>
      <p class="dim"><span class={"tag " + levelOf(finding.verdict)}>{finding.verdict}</span> {finding.cause} · {clockText(finding.time)}{finding.service && <> · {isSubject(finding.service) ? finding.service : <a href={serviceAddress(finding.service)}>{finding.service}</a>}</>}</p>
      {!isShort && details.map((detail, i) => <WhyDetail key={i} detail={detail} />)}
      {!isShort && !isReadOnly && <Offers finding={finding} subject={details[0]?.subject ?? ""} />}
    </article>
  );
}

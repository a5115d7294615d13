// A job of the server: its progress, a button that stops it, its result.
import { useEffect, useState } from "preact/hooks";
import { api, type Job as Data } from "../api";
import { ApiError } from "../http";
import { timeText } from "../units";
import { pictureDownloads } from "./flame";
import { Failure } from "./notice";
import { Picture } from "./picture";
import { Result } from "./result";

const POLL = 700; // ms
export const isOver = (job: Data | null): boolean => !!job && job.state !== "running";

// Follows a job until it ends.
export function useJob(id: number): { job: Data | null; error: ApiError | null } {
  const [job, setJob] = useState<Data | null>(null), [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    setJob(null);
    setError(null);
    if (!id) return;
    const stop = new AbortController();
    let timer = 0;
    const ask = async () => {
      try {
        const now = await api.job(id, stop.signal);
        if (stop.signal.aborted) return;
        setJob(now);
        if (!isOver(now)) timer = window.setTimeout(ask, POLL);
      } catch (failure) {
        if (!stop.signal.aborted) setError(ApiError.of(failure));
      }
    };
    void ask();
    return () => { stop.abort(); clearTimeout(timer); };
  }, [id]);
  return { job, error };
}

export function JobView({ id }: { id: number }) {
  const { job, error } = useJob(id), [failure, setFailure] = useState<ApiError | null>(null);
  if (error) return <Failure error={error} />;
  if (!job) return <p class="dim" role="status">Loading job {id} …</p>;
  const stop = () => api.stop(id).catch((e) => setFailure(ApiError.of(e)));
  const part = job.expected_seconds ? Math.min(1, job.seconds / job.expected_seconds) : 0;
  return (
    <section aria-label={"Job " + id} data-state={job.state}>
      <div class="bar">
        <span class="tag">{job.state}</span> <code>{job.command}</code>
        <output aria-live="polite">{timeText(job.seconds * 1e9)}{job.expected_seconds ? ` of ${timeText(job.expected_seconds * 1e9)}` : ""}</output>
        {job.state === "running" && <button type="button" onClick={stop}>Stop</button>}
      </div>
      {job.state === "running" && <div class="meter" role="progressbar" aria-label="Progress" aria-valuenow={Math.round(part * 100)} aria-valuemin={0} aria-valuemax={100}><i style={{ "--share": part * 100 + "%" }} /></div>}
      {failure && <Failure error={failure} />}
      {job.error && <Failure error={new ApiError(0, job.error)} />}
      {isOver(job) && job.has_page && <Picture url={api.jobPageUrl(id)} title={"Flame graph of job " + id} downloads={pictureDownloads("job-" + id, (format) => (format === "html" ? api.jobPageUrl(id) : api.jobFileUrl(id, format)))} />}
      {job.result && <Result result={job.result} name={"job-" + id} />}
    </section>
  );
}

// What to show for a job: its steps, its status in words, its progress, its notice. Pure: a job in, plain data out.

import { bytes, duration, percent } from "./format.js";

const NAMES = ["Prepared", "Uploaded", "Checked", "Processed"];
const DOING = ["Preparing", "Uploading", "Checking", "Processing"];
const WORK = {
  transcribe: "Listening",
  video: "Encoding",
  audio: "Encoding sound",
  package: "Packaging",
  poster: "Choosing a poster",
  storyboard: "Drawing the storyboard",
  thumbnails: "Making thumbnails",
  preview: "Making the preview",
  mp4: "Making the MP4",
};
const LABELS = {
  PENDING_UPLOAD: ["Waiting for file", "warn"],
  PROCESSING: ["Processing", "busy"],
  COMPLETED: ["Completed", "good"],
  FAILED: ["Failed", "bad"],
  EXPIRED: ["Expired", "warn"],
  CANCELLED: ["Cancelled", "warn"],
};

/** How many steps are done, and what the next one is doing: "active", "failed", "paused" or "". */
function standing(job) {
  const status = job.view?.status;
  if (status === "COMPLETED") return [4, ""];
  if (status === "FAILED") return [job.view.tasks.some((t) => t.name !== "ingest") ? 3 : 2, "failed"];
  if (status === "EXPIRED" || status === "CANCELLED") return [1, "paused"];
  if (status === "PROCESSING") return [3, "active"];
  switch (job.phase) {
    case "preparing": return [0, "active"];
    case "sending": return [1, "active"];
    case "sent": return [2, "active"];
    case "stopped": return [job.id ? 1 : 0, job.problem ? "failed" : "paused"];
    default: return [1, "paused"];
  }
}

export function steps(job) {
  const [done, next] = standing(job);
  return NAMES.map((name, index) => {
    if (index < done) return { text: name, state: "done" };
    if (index > done || !next) return { text: name, state: "" };
    return { text: next === "active" ? DOING[index] : name, state: next };
  });
}

/** [words, tone] */
export function label(job) {
  const status = job.view?.status;
  if (status && status !== "PENDING_UPLOAD") return LABELS[status] ?? [status, ""];
  switch (job.phase) {
    case "preparing": return ["Preparing", "busy"];
    case "sending": return ["Uploading", "busy"];
    case "sent": return ["Processing", "busy"];
    case "stopped": return job.problem ? ["Not uploaded", "bad"] : ["Stopped", "warn"];
    default: return job.view ? LABELS.PENDING_UPLOAD : ["Loading", ""];
  }
}

/** null, or `value` from 0 to 1 (null while it cannot be known) with a text. */
export function progress(job) {
  if (job.phase === "sending" && job.view?.status !== "PROCESSING") return sending(job);
  if (job.view?.status === "PROCESSING") return processing(job.view);
  return null;
}

function sending(job) {
  const total = job.file.size;
  const part = total ? job.sent / total : 0;
  const parts = [`${percent(part)}`, `${bytes(job.sent)} of ${bytes(total)}`];
  if (job.pace) parts.push(`${bytes(job.pace[0])}/s`, `${duration(job.pace[1])} left`);
  return { value: part, text: parts.join(" · ") };
}

function processing(view) {
  const task = view.tasks.find((t) => t.status === "RUNNING");
  const again = view.attempts > 1 ? ` · attempt ${view.attempts}` : "";
  if (!task) return { value: null, text: `Waiting for a free worker${again}` };
  const left = view.secondsLeft === null ? "" : ` · about ${duration(view.secondsLeft)} left`;
  return { value: view.progress || null, text: `${WORK[task.kind] ?? "Working"} · ${percent(view.progress)}${left}${again}` };
}

/** null, or what went wrong or needs attention: {tone, title, text, fields}. */
export function notice(job) {
  const { view, problem, trouble } = job;
  if (view?.status === "FAILED")
    return { tone: "bad", title: "This file could not be processed", text: view.error?.message ?? "", fields: [] };
  if (view?.status === "EXPIRED") return plain("warn", "Expired", "The file did not arrive in time.");
  if (view?.status === "CANCELLED") return plain("warn", "Cancelled", "Nothing will be done with this upload.");
  if (trouble) return plain("warn", trouble.title, trouble.passing ? `${trouble.detail} Trying again…` : trouble.detail);
  if (problem) return refused(problem);
  if (job.phase === "stopped") return plain("warn", "Upload stopped", "Nothing was kept. You can send the file again.");
  if (job.phase === "remembered" && view?.status === "PENDING_UPLOAD")
    return plain("warn", "The file has not arrived", "Choose it again to upload it.");
  return null;
}

/** The API names its own fields; people know them by other names. */
const FIELDS = { fileName: "The name", contentType: "The type", sizeBytes: "The size" };

function refused({ title, detail, fields }) {
  if (!fields.length) return { tone: "bad", title, text: detail, fields };
  const named = fields.map(({ field, message }) => ({ field: FIELDS[field] ?? field, message }));
  return { tone: "bad", title: "This file cannot be uploaded", text: "", fields: named };
}

const plain = (tone, title, text) => ({ tone, title, text, fields: [] });

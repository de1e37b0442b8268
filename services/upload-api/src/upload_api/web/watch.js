// Asks how an upload stands until nothing more will happen.

import { getUpload } from "./api.js";

const FIRST_MS = 500;
const LONGEST_MS = 5_000;
const HIDDEN_MS = 15_000;
const WAITING_MS = 10 * 60_000;
export const TERMINAL = new Set(["COMPLETED", "FAILED", "EXPIRED", "CANCELLED"]);

const sleep = (ms, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const wake = () => (clearTimeout(timer), resolve());
    signal.addEventListener("abort", wake, { once: true });
    document.addEventListener("visibilitychange", wake, { once: true });
  });

/**
 * Calls `onView` with each answer and `onTrouble` with a Problem while none comes; both may come again.
 * `sending`: whether this page is still sending the file, so that there is no hurry.
 */
export async function watch(id, { signal, onView, onTrouble, sending }) {
  let pause = FIRST_MS;
  let seen = "";
  const begun = Date.now();
  while (!signal.aborted) {
    try {
      const view = await getUpload(id, signal);
      onView(view);
      if (TERMINAL.has(view.status)) return;
      // Nobody here sends it: it may never come, so there is no point in asking for ever.
      if (view.status === "PENDING_UPLOAD" && !sending() && Date.now() - begun > WAITING_MS) return;
      const news = view.updatedAt + view.status;
      pause = news === seen ? Math.min(pause * 1.4, LONGEST_MS) : FIRST_MS;
      seen = news;
    } catch (problem) {
      if (signal.aborted) return;
      onTrouble(problem);
      if (!problem.passing) return;
      pause = problem.retryAfterMs ?? Math.min(pause * 2, LONGEST_MS);
    }
    await sleep(document.hidden ? Math.max(pause, HIDDEN_MS) : pause, signal);
  }
}

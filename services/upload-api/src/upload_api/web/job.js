// One upload as this page knows it: what it does itself (`phase`) and what the API says (`view`).

import { createUpload, newKey, reprocess } from "./api.js";
import { forget, remember } from "./session.js";
import { send, speedometer } from "./transfer.js";
import { TERMINAL, watch } from "./watch.js";

/**
 * phase: "preparing" → "sending" → "sent"; "stopped" with a `problem`, or without one if it was cancelled;
 * "remembered": made earlier, its file is not here any more.
 */
export class Job extends EventTarget {
  constructor({ file = null, id = null }) {
    super();
    Object.assign(this, { file, id, view: null, problem: null, trouble: null, sent: 0, pace: null });
    this.phase = file ? "preparing" : "remembered";
    this.key = newKey();
    this.watching = null;
    this.sending = null;
    this.url = null;
  }

  get name() {
    return this.view?.fileName ?? this.file?.name ?? "…";
  }

  get finished() {
    return TERMINAL.has(this.view?.status);
  }

  /** The chosen file for the player, as long as the page is open. */
  get localUrl() {
    if (this.file && !this.url) this.url = URL.createObjectURL(this.file);
    return this.url;
  }

  change(changes) {
    Object.assign(this, changes);
    this.dispatchEvent(new Event("change"));
  }

  /** Announce, send, follow. Again after a failure: the same key gives the same upload and a fresh URL. */
  async start() {
    this.sending = new AbortController();
    const { signal } = this.sending;
    this.change({ phase: "preparing", problem: null, sent: 0, pace: null });
    try {
      const ticket = await createUpload(this.file, this.key, signal);
      remember(ticket.uploadId);
      this.change({ id: ticket.uploadId, phase: "sending" });
      const measure = speedometer();
      const onProgress = (loaded, total) => this.change({ sent: loaded, pace: measure(loaded, total) });
      await send(ticket, this.file, { signal, onProgress });
      this.change({ phase: "sent", sent: this.file.size });
      this.follow();
    } catch (error) {
      this.change({ phase: "stopped", problem: error.name === "AbortError" ? null : error });
    }
  }

  cancel() {
    this.sending?.abort();
  }

  /** Ask until it is finished. */
  async follow() {
    this.watching?.abort();
    this.watching = new AbortController();
    await watch(this.id, {
      signal: this.watching.signal,
      onView: (view) => this.change({ view, trouble: null }),
      onTrouble: (problem) => this.lost(problem),
      sending: () => this.phase === "sent",
    });
  }

  /** The same file once more. Raises a Problem. */
  async again(profile) {
    const view = await reprocess(this.id, profile);
    this.change({ view, trouble: null });
    this.follow();
  }

  lost(problem) {
    if (problem.status === 404) forget(this.id);
    this.change({ trouble: problem });
  }

  close() {
    this.watching?.abort();
    this.sending?.abort();
    if (this.url) URL.revokeObjectURL(this.url);
  }
}

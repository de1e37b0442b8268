// Sends the bytes. XMLHttpRequest, since fetch cannot tell how much has been sent.

import { OFFLINE, storageProblem } from "./problem.js";

/** Resolves when the storage has the file; rejects with a Problem, or an AbortError when cancelled. */
export function send(ticket, file, { signal, onProgress }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const cancel = () => request.abort();
    request.upload.onprogress = (event) => onProgress(event.loaded, event.total);
    request.onload = () =>
      request.status >= 200 && request.status < 300
        ? resolve()
        : reject(storageProblem(request.status, request.responseText));
    request.onerror = () => reject(OFFLINE());
    request.onabort = () => reject(new DOMException("cancelled", "AbortError"));
    request.onloadend = () => signal.removeEventListener("abort", cancel);
    request.open(ticket.method, ticket.uploadUrl);
    for (const [name, value] of Object.entries(ticket.headers)) request.setRequestHeader(name, value);
    signal.addEventListener("abort", cancel);
    if (signal.aborted) cancel();
    request.send(file);
  });
}

/** Speed over the last few seconds: [bytes a second, seconds left] once there is something to say. */
export function speedometer() {
  const samples = [];
  return (loaded, total) => {
    const now = performance.now();
    samples.push([now, loaded]);
    while (samples.length > 2 && now - samples[0][0] > 4000) samples.shift();
    const [then, before] = samples[0];
    const speed = ((loaded - before) / (now - then)) * 1000;
    return now - then > 400 && speed > 0 ? [speed, (total - loaded) / speed] : null;
  };
}

// The calls of the API.

import { mediaType } from "./media-types.js";
import { OFFLINE, problemOf } from "./problem.js";

async function call(path, options) {
  const response = await fetch(path, options).catch((error) => {
    throw error.name === "AbortError" ? error : OFFLINE();
  });
  if (!response.ok) throw await problemOf(response);
  return response.json();
}

/** Announces a file. The same key gives the same upload again, with a fresh URL. */
export function createUpload(file, key, signal) {
  const body = { fileName: file.name, contentType: mediaType(file), sizeBytes: file.size };
  return call("/api/uploads", {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": key },
    body: JSON.stringify(body),
    signal,
  });
}

export const getUpload = (id, signal) => call(`/api/uploads/${encodeURIComponent(id)}`, { cache: "no-store", signal });

function order(id, what, body) {
  return call(`/api/uploads/${encodeURIComponent(id)}/${what}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** `candidate`: an index of the upload's `poster.candidates`. */
export const choosePoster = (id, candidate) => order(id, "poster", { candidate });

/** With this profile, and no options. */
export const reprocess = (id, profile) => order(id, "reprocess", { profile });

/** `crypto.randomUUID` is missing where the page is not served over HTTPS or from localhost. */
export function newKey() {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

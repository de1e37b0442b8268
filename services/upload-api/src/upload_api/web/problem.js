// Everything that can go wrong, as something that can be shown: a title, a sentence, and fields if the API named some.

export class Problem extends Error {
  constructor(title, detail, { status = 0, fields = [], retryAfterMs = null } = {}) {
    super(detail);
    Object.assign(this, { title, detail, status, fields, retryAfterMs });
  }

  /** Whether the same request may succeed later. */
  get passing() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export const OFFLINE = () =>
  new Problem("No connection", "The server did not answer. Check the connection and try again.");

/** Of an answer that is not 2xx: problem+json from our API, anything else from whatever stands before it. */
export async function problemOf(response) {
  const seconds = Number(response.headers.get("Retry-After"));
  const facts = { status: response.status, retryAfterMs: seconds > 0 ? seconds * 1000 : null };
  const body = await response.json().catch(() => null);
  if (!body?.title) return new Problem("The server refused", `It answered with status ${response.status}.`, facts);
  return new Problem(body.title, body.detail ?? "", { ...facts, fields: body.errors ?? [] });
}

/** Of an answer of the storage service, which speaks XML. */
export function storageProblem(status, text) {
  const found = new DOMParser().parseFromString(text, "text/xml");
  const code = found.querySelector("Code")?.textContent;
  const message = found.querySelector("Message")?.textContent;
  const detail = message ?? `The storage answered with status ${status}.`;
  return new Problem("The storage refused the file", code ? `${detail} (${code})` : detail, { status });
}

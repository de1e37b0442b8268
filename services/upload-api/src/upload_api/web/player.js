// Plays the file that was chosen, from this machine: nothing is downloaded for it.

import { byId, make, show } from "./dom.js";
import { mediaType } from "./media-types.js";

export function drawPlayer(job) {
  const box = byId("player");
  const url = job.file?.size && job.problem?.status !== 400 ? job.localUrl : null;
  if (!show(box, url !== null && box.dataset.unplayable !== url) || box.dataset.url === url) return;
  box.dataset.url = url;
  const kind = mediaType(job.file).startsWith("audio/") ? "audio" : "video";
  const player = make(kind, { controls: true, preload: "metadata", src: url });
  player.setAttribute("aria-label", `Player: ${job.name}`);
  player.addEventListener("error", () => {
    // Browsers play fewer formats than are transcribed.
    box.dataset.unplayable = url;
    show(box, false);
  });
  box.replaceChildren(player);
}

/** The player of this job, if it is the one shown. */
export const playerOf = (job) => (byId("player").dataset.url === job.url ? byId("player").firstElementChild : null);

/** Shows WebVTT over a video. */
export function addCaptions(player, blob) {
  if (player?.tagName !== "VIDEO" || player.querySelector("track")) return;
  player.append(make("track", { kind: "captions", label: "Transcript", src: URL.createObjectURL(blob) }));
}

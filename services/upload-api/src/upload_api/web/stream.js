// One HLS stream in a player: hls.js where the browser has media sources, else the browser's own; quality and captions.

import { byId, make, setText, show } from "./dom.js";

const NATIVE = "application/vnd.apple.mpegurl";
const AGAIN_MS = 20_000;
const GONE = new Set([401, 403, 404]); // signatures of segments end after an hour

export class Stream {
  /** `at`: seconds to begin at. */
  constructor(player, url, at) {
    Object.assign(this, { player, url, hls: null, closed: false, mended: -AGAIN_MS, captions: false });
    this.open(at);
  }

  /** What the API says meanwhile: the poster, and whether more will come. */
  draw(view) {
    const poster = view.poster?.url ?? "";
    if (this.player.tagName === "VIDEO" && path(this.player.poster) !== path(poster)) this.player.poster = poster;
    if (!this.troubled) this.say(view.playback?.growing ? "More is still being made; you can watch what is there." : "");
  }

  async open(at) {
    this.troubled = false;
    try {
      const { default: Hls, ...kinds } = await import("./hls.js");
      if (this.closed) return;
      if (Hls.isSupported()) this.attach(Hls, kinds, at);
      else if (this.player.canPlayType(NATIVE)) this.player.src = this.url;
      else this.fail("This browser cannot play HLS streams.");
    } catch (error) {
      if (!this.closed) this.fail("The player could not be loaded.", error);
    }
  }

  attach(Hls, { Events, ErrorTypes }, at) {
    this.hls?.destroy();
    // Without a worker of its own: those are made of blobs, which the page's policy does not allow.
    const hls = new Hls({ enableWorker: false, startPosition: at || 0, capLevelToPlayerSize: true });
    this.hls = hls;
    hls.on(Events.MANIFEST_PARSED, () => this.drawControls());
    hls.on(Events.LEVEL_SWITCHED, () => this.drawControls());
    hls.on(Events.SUBTITLE_TRACKS_UPDATED, () => this.drawControls());
    hls.on(Events.ERROR, (_, error) => this.stumbled(error, ErrorTypes));
    hls.subtitleDisplay = true;
    hls.loadSource(this.url);
    hls.attachMedia(this.player);
  }

  /** Each error is told as an event of the player, for whoever listens; only fatal ones need something done. */
  stumbled(error, ErrorTypes) {
    const { type, details, fatal, frag, reason } = error;
    const detail = { type, details, fatal, reason: reason ?? error.error?.message, track: frag?.type, segment: frag?.sn };
    this.player.dispatchEvent(new CustomEvent("streamerror", { detail }));
    if (fatal) this.mend(error, ErrorTypes);
  }

  /** Once in a while by itself: a decoder that stumbled, a connection that broke, segments whose signature ended. */
  mend(error, ErrorTypes) {
    if (performance.now() - this.mended < AGAIN_MS) return this.fail("The stream cannot be played any further.", error);
    this.mended = performance.now();
    if (error.type === ErrorTypes.MEDIA_ERROR) this.hls.recoverMediaError();
    else if (error.type === ErrorTypes.NETWORK_ERROR && !GONE.has(error.response?.code)) this.hls.startLoad();
    else if (error.type === ErrorTypes.NETWORK_ERROR) this.reopen();
    else this.fail("The stream cannot be played.", error);
  }

  /** From the same moment, with playlists that are signed anew. */
  reopen() {
    const { currentTime, paused } = this.player;
    this.open(currentTime).then(() => paused || this.player.play().catch(() => {}));
  }

  fail(sentence, error) {
    console.warn(sentence, error?.details ?? error ?? "");
    this.troubled = true;
    const again = make("button", { type: "button" }, "Try again");
    again.addEventListener("click", () => this.reopen());
    show(byId("controls"), true);
    byId("player-note").replaceChildren(make("span", {}, sentence), " ", again);
  }

  say(sentence) {
    setText(byId("player-note"), sentence);
    show(byId("controls"), sentence !== "" || this.choices().length > 0 || Boolean(this.hls?.subtitleTracks.length));
  }

  /** [level, words], the best first; none where there is no choice. */
  choices() {
    const levels = this.hls?.levels ?? [];
    const named = levels.map(({ width, height }, level) => [level, `${Math.min(width, height)}p`]);
    return levels.length > 1 ? named.reverse() : [];
  }

  drawControls() {
    if (this.closed || this.troubled) return;
    this.drawQuality();
    this.drawCaptions();
    show(byId("controls"), true);
  }

  drawQuality() {
    const select = byId("quality");
    const choices = this.choices();
    show(byId("quality-choice"), choices.length > 0);
    const playing = choices.find(([level]) => level === this.hls.currentLevel)?.[1];
    const auto = this.hls.autoLevelEnabled && playing ? `Auto (${playing})` : "Auto";
    const options = [[-1, auto], ...choices].map(([value, words]) => make("option", { value }, words));
    select.replaceChildren(...options);
    select.value = String(this.hls.autoLevelEnabled ? -1 : this.hls.nextLevel);
    // From the next segment on: what is buffered is played to its end, without a gap.
    select.onchange = () => (this.hls.nextLevel = Number(select.value));
  }

  drawCaptions() {
    const button = byId("captions");
    show(button, this.hls.subtitleTracks.length > 0);
    button.setAttribute("aria-pressed", String(this.captions));
    button.onclick = () => {
      this.captions = !this.captions;
      this.hls.subtitleTrack = this.captions ? 0 : -1;
      button.setAttribute("aria-pressed", String(this.captions));
    };
  }

  close() {
    this.closed = true;
    this.hls?.destroy();
    byId("player-note").replaceChildren();
  }
}

/** Each answer signs anew; only another picture is news. */
const path = (url) => url.split("?")[0];

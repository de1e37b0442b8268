// What a file is: as the browser says, else by its name. Browsers do not know every container.

const BY_EXTENSION = {
  "3gp": "video/3gpp", aac: "audio/aac", aif: "audio/aiff", aiff: "audio/aiff", amr: "audio/amr", avi: "video/x-msvideo",
  flac: "audio/flac", flv: "video/x-flv", m4a: "audio/mp4", m4v: "video/mp4", mka: "audio/x-matroska",
  mkv: "video/x-matroska", mov: "video/quicktime", mp3: "audio/mpeg", mp4: "video/mp4", mpeg: "video/mpeg",
  mpg: "video/mpeg", mts: "video/mp2t", m2ts: "video/mp2t", mxf: "video/mxf", oga: "audio/ogg", ogg: "audio/ogg",
  ogv: "video/ogg", opus: "audio/ogg", ts: "video/mp2t", wav: "audio/wav", weba: "audio/webm", webm: "video/webm",
  wma: "audio/x-ms-wma", wmv: "video/x-ms-wmv",
};

export const isMedia = (type) => /^(audio|video)\//.test(type);

/** The media type to announce; the API refuses what is neither audio nor video, with a sentence. */
export function mediaType(file) {
  if (isMedia(file.type)) return file.type;
  const extension = file.name.split(".").pop().toLowerCase();
  return BY_EXTENSION[extension] ?? (file.type || "application/octet-stream");
}

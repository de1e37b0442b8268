// Puts the page's one library, as installed from the lock, where the API serves it from.

import { readFile, writeFile } from "node:fs/promises";

const from = new URL("node_modules/hls.js/", import.meta.url);
const to = new URL("../src/upload_api/web/", import.meta.url);

const { name, version, license } = JSON.parse(await readFile(new URL("package.json", from)));
const code = await readFile(new URL("dist/hls.min.mjs", from), "utf8");
const text = await readFile(new URL("LICENSE", from), "utf8");

// The map is not served, and a browser would ask for it.
const bare = code.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "\n");
await writeFile(new URL("hls.js", to), `/*! ${name} ${version}, ${license}, see hls-license.txt; unchanged */\n${bare}`);
await writeFile(new URL("hls-license.txt", to), text);
console.log(`${name} ${version}: ${bare.length} bytes`);

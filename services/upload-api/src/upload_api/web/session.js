// Which uploads this browser made: their ids and nothing else, the newest first.

const KEY = "reelworks.uploads";
const MOST = 20;

export function remembered() {
  try {
    const ids = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(ids) ? ids.filter((id) => /^[0-9a-f]{32}$/.test(id)).slice(0, MOST) : [];
  } catch {
    return []; // no storage, or not ours
  }
}

function store(ids) {
  try {
    localStorage.setItem(KEY, JSON.stringify(ids.slice(0, MOST)));
  } catch {
    // Private windows may refuse: the list then lasts as long as the page.
  }
}

export const remember = (id) => store([id, ...remembered().filter((other) => other !== id)]);
export const forget = (id) => store(remembered().filter((other) => other !== id));
export const forgetAll = () => store([]);

// Makes the console installable and lets it open while the server is away: the page and its hashed assets are kept,
// and nothing else. Answers of the server (/api, /session, /events and so on) never touch the cache.
const CACHE = "console-1";
const ASSET = /^\/(?:assets\/|icon|manifest\.webmanifest|theme\.js)/;
const SERVER = /^\/(?:api|session|sessions|sign-in-ways|events|presence|oidc|healthz|readyz|metrics)(?:\/|$)/;
const ASSETS_MAX_COUNT = 120;

self.addEventListener("install", (event) => {
  event.waitUntil(self.skipWaiting());
});

self.addEventListener("activate", (event) => {
  const deleteOld = caches
    .keys()
    .then((names) => Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name))));
  event.waitUntil(deleteOld.then(() => self.clients.claim()));
});

/** Keeps the newest assets: a version that is gone is asked for no more. */
async function trim(cache) {
  const assets = (await cache.keys()).filter(({ url }) => new URL(url).pathname.startsWith("/assets/"));
  const old = assets.slice(0, Math.max(0, assets.length - ASSETS_MAX_COUNT));
  await Promise.all(old.map((request) => cache.delete(request)));
}

async function fromCacheFirst(request) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request);
  if (kept !== undefined) return kept;
  const answer = await fetch(request);
  if (answer.ok) {
    await cache.put(request, answer.clone());
    await trim(cache);
  }
  return answer;
}

async function fromServerFirst(request, key) {
  const cache = await caches.open(CACHE);
  try {
    const answer = await fetch(request);
    if (answer.ok && answer.type === "basic") await cache.put(key, answer.clone());
    return answer;
  } catch (fault) {
    const kept = await cache.match(key);
    if (kept !== undefined) return kept;
    throw fault;
  }
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin || SERVER.test(url.pathname)) return;
  if (request.mode === "navigate") event.respondWith(fromServerFirst(request, "/"));
  else if (url.pathname.startsWith("/assets/")) event.respondWith(fromCacheFirst(request));
  else if (ASSET.test(url.pathname)) event.respondWith(fromServerFirst(request, request));
});

/** Shows a push notification, unless the operator is looking at the console. */
async function showPush({ title, body, path, tag }) {
  const windows = await self.clients.matchAll({ type: "window" });
  if (windows.some(({ focused }) => focused)) return;
  await self.registration.showNotification(title, { body, tag, icon: "/icon-192.png", data: { path } });
}

self.addEventListener("push", (event) => {
  if (event.data !== null) event.waitUntil(showPush(event.data.json()));
});

/** Shows the page of a notification: in a window of the console that is there, else in a new one. */
async function openPage(path) {
  const [page] = await self.clients.matchAll({ type: "window" });
  if (page === undefined) {
    await self.clients.openWindow(path);
    return;
  }
  await page.focus();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A client of a worker takes none.
  page.postMessage({ openPath: path });
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const path = event.notification.data?.path;
  if (typeof path === "string") event.waitUntil(openPage(path));
});

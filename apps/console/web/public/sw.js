// Makes the console installable, and lets it open while the server is unavailable: only the page and its hashed assets
// are cached. Responses of the API (/api, /session, /events and so on) are never cached.
const CACHE = "console-1";
const ASSET = /^\/(?:assets\/|icon|manifest\.webmanifest|theme\.js)/;
const SERVER = /^\/(?:api|session|sessions|sign-in-ways|events|presence|oidc|healthz|readyz|metrics)(?:\/|$)/;
const ASSETS_MAX_COUNT = 120;

self.addEventListener("install", (event) => {
  event.waitUntil(self.skipWaiting());
});

self.addEventListener("activate", (event) => {
  const deleteOldCaches = caches
    .keys()
    .then((names) => Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name))));
  event.waitUntil(deleteOldCaches.then(() => self.clients.claim()));
});

/** Deletes the oldest assets above the maximum: no page requests those of earlier versions any more. */
async function deleteOldAssets(cache) {
  const assets = (await cache.keys()).filter(({ url }) => new URL(url).pathname.startsWith("/assets/"));
  const oldest = assets.slice(0, Math.max(0, assets.length - ASSETS_MAX_COUNT));
  await Promise.all(oldest.map((request) => cache.delete(request)));
}

async function cacheFirst(request) {
  const cache = await caches.open(CACHE);
  const cached = await cache.match(request);
  if (cached !== undefined) return cached;
  const response = await fetch(request);
  if (response.ok) {
    await cache.put(request, response.clone());
    await deleteOldAssets(cache);
  }
  return response;
}

async function networkFirst(request, key) {
  const cache = await caches.open(CACHE);
  try {
    const response = await fetch(request);
    if (response.ok && response.type === "basic") await cache.put(key, response.clone());
    return response;
  } catch (error) {
    const cached = await cache.match(key);
    if (cached !== undefined) return cached;
    throw error;
  }
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin || SERVER.test(url.pathname)) return;
  if (request.mode === "navigate") event.respondWith(networkFirst(request, "/"));
  else if (url.pathname.startsWith("/assets/")) event.respondWith(cacheFirst(request));
  else if (ASSET.test(url.pathname)) event.respondWith(networkFirst(request, request));
});

/** Shows a push notification, unless a window of the console has the focus. */
async function showPush({ title, body, path, tag }) {
  const windows = await self.clients.matchAll({ type: "window" });
  if (windows.some(({ focused }) => focused)) return;
  await self.registration.showNotification(title, { body, tag, icon: "/icon-192.png", data: { path } });
}

self.addEventListener("push", (event) => {
  if (event.data !== null) event.waitUntil(showPush(event.data.json()));
});

/** Opens the page of a notification, in an open window of the console if there is one. */
async function openPage(path) {
  const [page] = await self.clients.matchAll({ type: "window" });
  if (page === undefined) {
    await self.clients.openWindow(path);
    return;
  }
  await page.focus();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- Worker clients have no target origin.
  page.postMessage({ openPath: path });
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const path = event.notification.data?.path;
  if (typeof path === "string") event.waitUntil(openPage(path));
});

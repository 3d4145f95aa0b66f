/** Something that is told while the page is not looked at. */
export interface Notice {
  title: string;
  body: string;
  /** What comes later with the same tag takes its place. */
  tag: string;
  /** Address within the console that it leads to. */
  path: string;
}

/** Tells something by the system's notifications, which have to be allowed; `open` is called where one is pressed. */
export function showNotification({ title, body, tag, path }: Notice, open: (path: string) => void): void {
  const options = { body, tag, icon: "/icon-192.png", data: { path } };
  try {
    const shown = new Notification(title, options);
    shown.addEventListener("click", () => {
      globalThis.focus();
      shown.close();
      open(path);
    });
  } catch {
    // On telephones only the service worker may do that; where it is pressed it tells the page, as hearPressed hears.
    if ("serviceWorker" in navigator) {
      navigator.serviceWorker.ready
        .then((registration) => registration.showNotification(title, options))
        .catch(reportError);
    }
  }
}

/** Calls `open` where a notification of the service worker is pressed, until the answer is called. */
export function hearPressed(open: (path: string) => void): () => void {
  if (!("serviceWorker" in navigator)) return () => undefined;
  const { serviceWorker } = navigator;
  const hear = ({ data }: MessageEvent<unknown>) => {
    if (typeof data !== "object" || data === null || !("openPath" in data)) return;
    const { openPath } = data;
    // Only a page of this console.
    if (typeof openPath === "string" && /^\/(?![/\\])/.test(openPath)) open(openPath);
  };
  serviceWorker.addEventListener("message", hear);
  return () => serviceWorker.removeEventListener("message", hear);
}

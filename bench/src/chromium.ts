// The Chromium of this machine, for what is measured or shown in a browser.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

function findChromium() {
  if (process.env.SVC_CHROMIUM) return process.env.SVC_CHROMIUM;
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = ["chromium", "chromium-browser", "google-chrome"]
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error("There is no Chromium in the PATH; install it or set SVC_CHROMIUM.");
  return found;
}

/** Starts it without a window. The checkout has to be prepared. */
export function launchChromium() {
  // Its sandbox refuses to run for root, which is who containers are.
  return chromium.launch({ executablePath: findChromium(), chromiumSandbox: process.getuid?.() !== 0 });
}

// The Chromium of this machine, for what is measured or shown in a browser.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { ROOT } from "../prepare.mjs";

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
  const { chromium } = createRequire(join(ROOT, "tests", "package.json"))("playwright-core");
  // Its sandbox refuses to run for root, which is who containers are.
  return chromium.launch({ executablePath: findChromium(), chromiumSandbox: process.getuid?.() !== 0 });
}

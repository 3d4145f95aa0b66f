import { findChromium } from "@svc/testing";
import { chromium } from "playwright-core";

/** Starts the Chromium of this machine without a window. */
export function launchChromium() {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error("There is no Chromium in the PATH; install it or set SVC_CHROMIUM.");
  // Its sandbox refuses to run as root, the user of containers.
  return chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
}

// Loaded only if the launcher's settings differ from the default, because few sites need it.
import type { WidgetLauncher } from "@svc/contracts";
import styles from "./custom-launcher.css";
import { isHidden } from "./page-settings.ts";

/** Outlines in a box of 24 by 24; `chat` is the launcher's own. */
const PATHS: Record<Exclude<WidgetLauncher["icon"], "chat">, string> = {
  question: "M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5v.5M21 12a9 9 0 1 1-18 0a9 9 0 0 1 18 0",
  headset: "M4 14v-2a8 8 0 0 1 16 0v2M4 14h3v6H5a1 1 0 0 1-1-1zM20 14h-3v6h2a1 1 0 0 0 1-1zM20 19q0 3-6 3",
  mail: "M3 6h18v12H3zM3 7l9 6l9-6",
  sparkle: "M12 3l2 7l7 2l-7 2l-2 7l-2-7l-7-2l7-2z",
};

/** Interval in which a page is checked that changes its URL without an event. */
const PATH_EVERY_MS = 1_000;

/** The parts of the launcher that settings can change. */
export interface LauncherParts {
  host: HTMLElement;
  root: ShadowRoot;
  button: HTMLButtonElement;
}

/**
 * Applies a site's icon and position to the launcher, and hides it on the configured pages, until `signal`. Returns the
 * outline of its icon, if that is not the default one, and a function that shows the label.
 */
export function customize({ host, root, button }: LauncherParts, launcher: WidgetLauncher, signal: AbortSignal) {
  const { icon, image, side, bottom, hiddenPaths, hiddenOnPhones } = launcher;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  root.adoptedStyleSheets.push(sheet);
  // On a small screen, the launcher stays on it, with room for a few letters of its label.
  host.style.setProperty("--svc-side", `min(${side}px, 100% - 140px)`);
  host.style.setProperty("--svc-bottom", `min(${bottom}px, 100% - 76px)`);
  button.classList.toggle("off-phones", hiddenOnPhones);

  if (image !== "") {
    const picture = document.createElement("img");
    picture.alt = "";
    // If the image cannot be loaded, the icon is shown again.
    picture.addEventListener("error", () => picture.remove());
    // A path of this site, which a <base> element must not redirect elsewhere.
    picture.src = location.origin + image;
    button.append(picture);
  }
  const label = document.createElement("span");
  label.className = "label";
  label.dir = "auto";
  button.append(label);

  if (hiddenPaths.length > 0) {
    const check = () => {
      button.hidden = isHidden(location.pathname, hiddenPaths);
    };
    check();
    const timer = setInterval(check, PATH_EVERY_MS);
    signal.addEventListener("abort", () => clearInterval(timer));
  }
  return {
    icon: icon === "chat" ? null : PATHS[icon],
    setLabel(text: string) {
      label.textContent = text;
      label.hidden = text === "";
      button.classList.toggle("labeled", text !== "");
    },
  };
}

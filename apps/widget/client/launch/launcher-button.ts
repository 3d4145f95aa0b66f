const SVG = "http://www.w3.org/2000/svg";
/** A speech bubble, and a cross, in a square of 24. */
const BUBBLE = "M21 12a8.5 8.5 0 0 1-12.4 7.6L3 21l1.5-5.2A8.5 8.5 0 1 1 21 12Z";
const CROSS = "M6 6l12 12M18 6L6 18";
const MOST_SHOWN = 99;

/** What the button shows. */
export interface ButtonState {
  isOpen: boolean;
  unread: number;
  /** What a screen reader says, with the number of unread messages. */
  label: string;
  position: "bottom-right" | "bottom-left";
}

/** The launcher's button. */
export interface LauncherButton {
  element: HTMLButtonElement;
  update: (state: ButtonState) => void;
}

/** Makes the button, out of elements alone: pages may forbid markup in strings. */
export function createLauncherButton(onClick: () => void): LauncherButton {
  const element = document.createElement("button");
  element.type = "button";
  element.dataset["part"] = "launcher";
  element.setAttribute("aria-haspopup", "dialog");
  element.addEventListener("click", onClick);

  const icon = document.createElementNS(SVG, "svg");
  icon.setAttribute("viewBox", "0 0 24 24");
  icon.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  icon.append(path);

  const badge = document.createElement("span");
  badge.dataset["part"] = "unread";
  badge.setAttribute("aria-hidden", "true");
  element.append(icon, badge);

  function update({ isOpen, unread, label, position }: ButtonState): void {
    element.setAttribute("aria-label", label);
    element.setAttribute("aria-expanded", String(isOpen));
    element.dataset["position"] = position;
    path.setAttribute("d", isOpen ? CROSS : BUBBLE);
    badge.hidden = isOpen || unread === 0;
    badge.textContent = unread > MOST_SHOWN ? `${MOST_SHOWN}+` : String(unread);
  }

  return { element, update };
}

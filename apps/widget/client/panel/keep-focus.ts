/** What can be reached with the Tab key, as far as the panel has such. */
const REACHABLE = "button,a[href],textarea,input:not([hidden]),[tabindex='0']";

/**
 * Keeps the Tab key within `panel`, in which `active` has the focus: behind the last element comes the first. The panel
 * begins and ends with buttons, so that groups of radio buttons do not matter here.
 */
export function keepFocus(event: KeyboardEvent, panel: HTMLElement, active: Element | null): void {
  const places = Array.from(panel.querySelectorAll<HTMLElement>(REACHABLE));
  const [from, to] = event.shiftKey ? [places[0], places.at(-1)] : [places.at(-1), places[0]];
  if (active !== from) return;
  event.preventDefault();
  to?.focus();
}

import type { ListItem } from "mdast";

/** The box of a task in a list, with a space after it; empty for an item that is no task. */
export function checkMarkOf({ checked }: ListItem): string {
  if (typeof checked !== "boolean") return "";
  return checked ? "☑ " : "☐ ";
}

import type { TextKey } from "../i18n/texts.ts";

/** Titles and keys of the commands of a ticket. The list of keyboard shortcuts shows them also if no ticket is open. */
export const TICKET_KEYS = {
  approve: { title: "action.approve", keys: "a" },
  edit: { title: "action.edit", keys: "e" },
  reply: { title: "action.reply", keys: "r" },
  note: { title: "action.note", keys: "n" },
  regenerate: { title: "action.regenerate", keys: "shift+g" },
  reject: { title: "action.reject", keys: "shift+x" },
  assign: { title: "action.assign", keys: "#" },
  take: { title: "action.take", keys: "i" },
  snooze: { title: "action.snooze", keys: "z" },
  unsnooze: { title: "action.unsnooze", keys: "shift+z" },
  reroute: { title: "action.reroute", keys: "m" },
  tags: { title: "action.change", keys: "t" },
  resolve: { title: "action.resolve", keys: "shift+e" },
  spam: { title: "action.spam", keys: "!" },
  reopen: { title: "action.reopen", keys: "shift+o" },
  details: { title: "action.details", keys: "d" },
} as const satisfies Record<string, { title: TextKey; keys: string }>;

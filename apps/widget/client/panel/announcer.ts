import type { Texts } from "../locales/create-texts.ts";
import type { ReplyEntry, WidgetState } from "../state.ts";
import { textOf } from "./markdown-node.ts";
import { parseMarkdown } from "./parse-markdown.ts";

/** More replies than this at once are counted rather than read out. */
const READ_MAX_COUNT = 3;

const readOut = ({ author, item }: ReplyEntry, texts: Texts) =>
  `${texts.text(author)}: ${item.type === "file" ? item.file.filename : item.markdown ? textOf(parseMarkdown(item.text)) : item.text}`;

/**
 * Answers a function that is told each state and says what has come: each reply once, but neither the history nor what
 * a reply says so far. Null where nothing has come.
 */
export function createAnnouncer(): (state: WidgetState, texts: Texts) => string | null {
  /** Up to where is known what there is; undefined until something is known of the conversation. */
  let lastSeq: number | undefined;

  return ({ entries, line, isOpen }, texts) => {
    const replies = entries.filter((entry) => entry.kind === "reply");
    const known = lastSeq ?? Infinity;
    // An empty one has just begun, or another visitor's begins.
    if (entries.length === 0) lastSeq = line === "online" ? 0 : undefined;
    else lastSeq = Math.max(lastSeq ?? 0, ...replies.map(({ seq }) => seq));
    const fresh = replies.filter(({ seq }) => seq > known);
    if (fresh.length === 0) return null;
    return isOpen && fresh.length <= READ_MAX_COUNT
      ? fresh.map((entry) => readOut(entry, texts)).join("\n")
      : texts.text("unread", { count: fresh.length });
  };
}

import type { Style, StyledText } from "./styled-text.ts";

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes a text for Telegram's HTML, also within attributes. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (each) => ENTITIES[each] ?? each);

/** Returns a fence's language as a safe attribute value; null if nothing remains of it. */
export function languageName(language: string | null | undefined): string | null {
  const name = (language ?? "").replaceAll(/[^\w+#.-]/g, "").slice(0, 40);
  return name === "" ? null : name;
}

/** A format around a range of text. Adjacent ranges share it if the keys are equal. */
interface Format {
  key: string;
  open: string;
  close: string;
}

const tag = (name: string): Format => ({ key: name, open: `<${name}>`, close: `</${name}>` });

/**
 * Returns the formats around a range, from the outside in, as Telegram allows them to nest: quotations may contain
 * everything, preformatted text and code contain nothing and are only allowed within quotations, links may be bold,
 * and so on.
 */
export function nestingOf(style: Style): Format[] {
  const formats: Format[] = [];
  if (style.quote !== null) formats.push({ ...tag("blockquote"), key: `quote ${style.quote}` });
  if (style.pre !== null) return [...formats, preformatted(style.pre)];
  if (style.link !== null) {
    const open = `<a href="${escapeHtml(style.link)}">`;
    formats.push({ key: open, open, close: "</a>" });
  } else if (style.isCode) return [...formats, tag("code")];
  if (style.isBold) formats.push(tag("b"));
  if (style.isItalic) formats.push(tag("i"));
  if (style.isStruck) formats.push(tag("s"));
  return formats;
}

function preformatted({ block, language }: NonNullable<Style["pre"]>): Format {
  const name = languageName(language);
  const key = `pre ${block}`;
  if (name === null) return { ...tag("pre"), key };
  return { key, open: `<pre><code class="language-${name}">`, close: "</code></pre>" };
}

/** Returns a text as HTML for `sendMessage`: every tag is closed in order, and only the text is between the tags. */
export function renderHtml({ text, runs }: StyledText): string {
  const out: string[] = [];
  let open: Format[] = [];
  const closeTo = (depth: number) => {
    for (const format of open.slice(depth).toReversed()) out.push(format.close);
    open = open.slice(0, depth);
  };
  for (const run of runs) {
    const formats = nestingOf(run.style);
    const shared = formats.findIndex((format, depth) => format.key !== open[depth]?.key);
    closeTo(shared === -1 ? formats.length : shared);
    for (const format of formats.slice(open.length)) {
      out.push(format.open);
      open.push(format);
    }
    out.push(escapeHtml(text.slice(run.start, run.end)));
  }
  closeTo(0);
  return out.join("");
}

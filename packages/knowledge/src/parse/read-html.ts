import { cleanHtml } from "./clean-html.ts";
import { fileError, fileTooLarge } from "./file-error.ts";
import type { FileText } from "./file-text.ts";
import { htmlToMarkdown } from "./html-to-markdown.ts";
import type { ReadLimits } from "./read-limits.ts";

/**
 * Reads a web page: its main content as Markdown with headings, lists, tables, code and links. A page without text in
 * its main content is read as a whole. Throws `payload_too_large` for too many tags, and `no_text` if a reader without
 * scripts sees nothing.
 */
export function readHtml(html: string, file: { name: string; url?: string }, limits: ReadLimits): FileText {
  checkTags(html, file.name, limits);
  const options = { maxDepth: limits.htmlDepth, ...(file.url === undefined ? {} : { url: file.url }) };
  for (const extent of ["main", "everything"] as const) {
    const { html: cleaned, title, links } = cleanHtml(html, { ...options, extent });
    const text = htmlToMarkdown(cleaned);
    if (text !== "") return { text, mime: "text/markdown", title, sourceMime: "text/html", links };
  }
  throw fileError(
    file.name,
    "no_text",
    "contains no text; if the page is built by scripts, save it from a browser and add that file",
  );
}

/** Each tag becomes an object of a few hundred bytes, whatever its size in the file. */
function checkTags(html: string, name: string, limits: ReadLimits): void {
  let tags = 0;
  for (let at = html.indexOf("<"); at !== -1; at = html.indexOf("<", at + 1)) {
    tags += 1;
    if (tags > limits.htmlTags) {
      throw fileTooLarge(name, `has more than ${limits.htmlTags} tags, the maximum for an HTML page; split it`);
    }
  }
}

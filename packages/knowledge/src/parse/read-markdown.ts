import { parse } from "yaml";
import { readHeading } from "../read-heading.ts";
import type { FileText } from "./file-text.ts";
import { tidyLinks } from "./tidy-links.ts";

const FRONT_MATTER = /^---[ \t]*\n([^]*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/;
const FRONT_MATTER_CHARS = 64 * 1024;

/** Reads Markdown as it stands, links made absolute: front matter (YAML between `---`) gives the title and is no text. */
export function readMarkdown(source: string, file: { url?: string } = {}): FileText {
  const match = FRONT_MATTER.exec(source.slice(0, FRONT_MATTER_CHARS));
  const matter = match === null ? null : parseMatter(match[1] ?? "");
  const text = matter === null ? source : source.slice(match?.[0].length ?? 0);
  return {
    text: tidyLinks(text, file.url).trim(),
    mime: "text/markdown",
    title: matter?.title ?? headlineOf(text),
    sourceMime: "text/markdown",
  };
}

/** What front matter says; null when this is none but text between two rules. */
function parseMatter(yaml: string): { title: string | null } | null {
  if (yaml.trim() === "") return { title: null };
  try {
    const matter: unknown = parse(yaml, { maxAliasCount: 10, logLevel: "error" });
    if (typeof matter !== "object" || matter === null || Array.isArray(matter)) return null;
    const title: unknown = "title" in matter ? matter.title : null;
    return { title: typeof title === "string" && title.trim() !== "" ? title.trim() : null };
  } catch {
    return null;
  }
}

/** Lines that may be the first heading of level 1, and those that begin or end code. */
const HEADLINE = /^#[ \t]/;
const FENCE = /^(?:`{3,}|~{3,})/;

/** The first heading of level 1, outside of code. Each line is looked at once. */
function headlineOf(text: string): string | null {
  let fence: string | null = null;
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(start, end);
    const mark = FENCE.exec(line)?.[0] ?? null;
    if (fence !== null) fence = mark?.startsWith(fence) === true ? null : fence;
    else if (mark !== null) fence = mark;
    else if (HEADLINE.test(line)) {
      const { title } = readHeading(line);
      if (title !== "") return title;
    }
    start = end + 1;
  }
  return null;
}

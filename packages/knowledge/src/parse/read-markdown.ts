import { parse } from "yaml";
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

/** The first heading of level 1, outside of code. */
function headlineOf(text: string): string | null {
  const withoutCode = text.replace(/^(`{3,}|~{3,})[^]*?^\1/gm, "");
  const title = /^#[ \t]+(.+?)[ \t#]*$/m
    .exec(withoutCode)?.[1]
    ?.replace(/[*`]|\\(?=\p{P})/gu, "")
    .trim();
  return title === undefined || title === "" ? null : title;
}

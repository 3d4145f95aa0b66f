import { WIDGET_LIMITS } from "@svc/contracts";

/** Folders, and what Windows takes for them. */
const FOLDERS = /^.*[/\\]/s;
/** Control characters, and those that change the direction or the order of what stands around them, or cannot be seen. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** More marks on one letter than any writing has. */
const STACKED_MARKS = /(\p{M}{3})\p{M}+/gu;
/** What some systems do not take in a name, or take for something else. */
const FORBIDDEN = /[<>:"|?*]/g;
const FALLBACK = "file";

/**
 * The name of a file as it may be shown and saved: one line without folders, control characters, changes of direction
 * and heaps of marks, at most 200 characters, of which the last ones stay since they say the kind.
 */
export function cleanFileName(name: string): string {
  const clean = name
    .toWellFormed()
    .replace(FOLDERS, "")
    .normalize("NFC")
    .replace(INVISIBLE, "")
    .replace(STACKED_MARKS, "$1")
    .replace(FORBIDDEN, "_")
    .replace(/\s+/g, " ")
    .replace(/^[. ]+|[. ]+$/g, "");
  const chars = Array.from(clean);
  const max = WIDGET_LIMITS.fileNameMaxChars;
  if (chars.length === 0) return FALLBACK;
  if (chars.length <= max) return clean;
  const end = /\.[A-Za-z0-9]{1,10}$/.exec(clean)?.[0] ?? "";
  return `${chars.slice(0, max - end.length).join("")}${end}`;
}

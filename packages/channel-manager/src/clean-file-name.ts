import { WIDGET_LIMITS } from "@svc/contracts";

/** Folders, with the separators of all systems. */
const FOLDERS = /^.*[/\\]/s;
/** Control characters, and invisible ones or those that change the direction or order of surrounding text. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** More combining marks on one letter than any script uses. */
const STACKED_MARKS = /(\p{M}{3})\p{M}+/gu;
/** Characters that some systems reject in a name, or interpret. */
const FORBIDDEN = /[<>:"|?*]/g;
const FALLBACK = "file";

/**
 * Returns the name of a file for display and storage: one line without folders, control characters, changes of
 * direction and stacked marks; at most the last 200 characters, which include the extension.
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

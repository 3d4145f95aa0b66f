import type { VisitorMessage } from "@svc/contracts";
import { LIMITS } from "../limits.ts";
import type { Contact, FileView } from "../state.ts";
import { newId } from "./new-id.ts";

/** What a message is made of. */
export interface MessageParts {
  text: string;
  files: FileView[];
  wantsPerson: boolean;
  contact: Contact | null;
  /** BCP 47. */
  locale: string;
  page: { url: string; title: string };
}

/** A message as the server takes it, with an id of its own; null where it says nothing. */
export function composeMessage({
  text,
  files,
  wantsPerson,
  contact,
  locale,
  page,
}: MessageParts): VisitorMessage | null {
  const words = clean(text).trim();
  if (words === "" && files.length === 0) return null;
  const attachments = files.flatMap(({ fileId }) => (fileId === null ? [] : [{ fileId }]));
  return {
    text: words,
    clientMessageId: newId(),
    // What stands behind the # is the page's own business, and sometimes a secret.
    page: { url: firstChars(page.url.split("#")[0] ?? "", 2_048), title: firstChars(clean(page.title), 300) },
    locale,
    ...(attachments.length > 0 && { attachments }),
    ...(wantsPerson && { wantsPerson }),
    ...(contact !== null && Object.keys(contact).length > 0 && { contact }),
  };
}

/** Whether a text has more characters than a message may have. */
export function isTooLong(text: string): boolean {
  // Two code units may be one character; only a long text is worth counting.
  return text.length > LIMITS.textMaxChars && Array.from(text).length > LIMITS.textMaxChars;
}

/** The first characters of a text, never half of one. */
export function firstChars(text: string, count: number): string {
  return text.length <= count ? text : Array.from(text).slice(0, count).join("");
}

/** Without lone surrogates and NUL, which the server refuses. */
function clean(text: string): string {
  return text.replace(/\p{Cs}|\0/gu, "");
}

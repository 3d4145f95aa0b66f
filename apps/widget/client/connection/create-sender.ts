import type { VisitorMessage } from "@svc/contracts";
import { LIMITS } from "../limits.ts";
import type { Contact, FileView } from "../state.ts";
import { newId } from "./new-id.ts";
import type { ServerConnection } from "./open-connection.ts";
import type { Outbox } from "./outbox.ts";

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

/** Sends what is in an outbox: one message after the other, each until the server says that it has it. */
export interface Sender {
  /** Sends the next message, where none is under way and the line is up. */
  flush: () => void;
  /** The server has this message, which leaves the outbox. True when it was this tab that waited for it. */
  settle: (key: string) => boolean;
  /** Handles a rejected message: permanently with this error, or until `retryAfterSeconds` have passed. */
  refuse: (key: string, error: string, retryAfterSeconds?: number) => void;
  /** Handles a disconnect: unconfirmed messages are sent again after the reconnect. */
  hold: () => void;
}

const ACK_TIMEOUT_MS = 10_000;
/** Tries of one message over lines that were up, after which it has failed. */
const MOST_TRIES = 5;

/** Creates a sender without pending items. `onFailed` gets the name of the text that says why. */
export function createSender(
  line: Pick<ServerConnection, "isOnline" | "send" | "restart">,
  outbox: Pick<Outbox, "list" | "put" | "remove">,
  onFailed: (key: string, error: string) => void,
): Sender {
  /** The message that waits for its `ack`. */
  let underWay: string | null = null;
  let tries = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function hold(): void {
    clearTimeout(timer);
    underWay = null;
  }

  function settle(key: string): boolean {
    outbox.remove(key);
    if (underWay !== key) return false;
    hold();
    tries = 0;
    return true;
  }

  function flush(): void {
    if (underWay !== null || !line.isOnline()) return;
    const next = outbox.list().find(({ fault: error }) => error === null);
    if (next === undefined) return;
    const key = next.message.clientMessageId;
    underWay = key;
    line.send("message", next.message);
    timer = setTimeout(() => {
      // Nothing came back over a line that seemed to be up: another line may do better, and the id makes it one
      // message.
      if (++tries >= MOST_TRIES) fail(key, "faultOther");
      else line.restart();
    }, ACK_TIMEOUT_MS);
  }

  function fail(key: string, error: string): void {
    const item = outbox.list().find(({ message }) => message.clientMessageId === key);
    settle(key);
    if (item !== undefined) outbox.put({ ...item, fault: error });
    onFailed(key, error);
    flush();
  }

  return {
    flush,
    settle,
    refuse(key, error, retryAfterSeconds) {
      if (key !== underWay) return;
      if (retryAfterSeconds === undefined) return fail(key, error);
      // Nothing is wrong with the message: it goes again, before those after it.
      clearTimeout(timer);
      timer = setTimeout(() => {
        hold();
        flush();
      }, retryAfterSeconds * 1_000);
    },
    hold,
  };
}

import { domainToASCII } from "node:url";
import { createTransport } from "nodemailer";
import { errorMessage, toError } from "@svc/primitives";

/** Mail server of `SVC_SMTP_URL`. */
export interface SmtpServer {
  host: string;
  port: number;
  /**
   * Encryption of the connection: from its start, after STARTTLS, after STARTTLS if the server has it, or not at all.
   */
  tls: "implicit" | "required" | "opportunistic" | "none";
  auth: { user: string; pass: string } | null;
}

/** An email with plain text only. */
export interface Email {
  /** UUID, the same in each attempt: mail servers recognize a copy by the `Message-ID` made from it. */
  id: string;
  to: string;
  subject: string;
  text: string;
  /** Further headers. Line breaks in values are removed. */
  headers?: Readonly<Record<string, string>>;
}

/** Sends emails. */
export interface Mailer {
  /** Resolves once the server has accepted the email. Throws EmailError. */
  send(email: Email): Promise<void>;
  /** Connects and signs in, and sends nothing. Throws EmailError. */
  check(): Promise<void>;
  close(): void;
}

/** An email that was not accepted. The message explains why, without secrets. */
export class EmailError extends Error {
  /** True if the server rejects this email or its recipient permanently; false if another attempt may succeed. */
  readonly isFinal: boolean;

  constructor(message: string, { isFinal, cause }: { isFinal: boolean; cause?: unknown }) {
    super(message, { cause });
    this.name = "EmailError";
    this.isFinal = isFinal;
  }
}

/** Timeouts of each step, in milliseconds, shorter than those of RFC 5321: another attempt follows. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000, dnsTimeout: 5_000 };
/** Timeout of an attempt, in milliseconds, over all steps: it ends before its lease expires. */
const ATTEMPT_MS = 90_000;
/** Connections of this process to the server. */
const MAX_CONNECTIONS = 3;
/** Submission, and submission over TLS (RFC 6409, RFC 8314). */
const PORTS = { "smtp:": 587, "smtps:": 465 } as const;

const isLoopback = (host: string) => host === "localhost" || host === "::1" || /^127(?:\.\d+){3}$/.test(host);

/** Returns false for text with a literal percent sign, on which `decodeURIComponent` throws. */
function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Parses `smtp://user:password@host:port` or `smtps://…`, with `?tls=required`, `?tls=opportunistic` or `?tls=none`
 * after `smtp:`; null for anything else. A password is never sent unencrypted to another machine unless `tls` allows
 * it.
 */
export function parseSmtpUrl(text: string): SmtpServer | null {
  if (!URL.canParse(text)) return null;
  const { protocol, hostname, port, username, password, pathname, searchParams, hash } = new URL(text);
  if (protocol !== "smtp:" && protocol !== "smtps:") return null;
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  if (host === "" || hash !== "" || !["", "/"].includes(pathname) || (username === "") !== (password === ""))
    return null;
  if ([...searchParams.keys()].some((name) => name !== "tls")) return null;
  if (!isPercentEncoded(username) || !isPercentEncoded(password)) return null;
  const auth = username === "" ? null : { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  const fallback = auth !== null && !isLoopback(host) ? "required" : "opportunistic";
  const wanted = searchParams.get("tls") ?? (protocol === "smtps:" ? "implicit" : fallback);
  const known = protocol === "smtps:" ? (["implicit"] as const) : (["required", "opportunistic", "none"] as const);
  const tls = known.find((one) => one === wanted);
  return tls === undefined ? null : { host, port: port === "" ? PORTS[protocol] : Number(port), tls, auth };
}

/** A single plain address, safe in a header and an envelope: without display name, comment or line break. */
const ADDRESS = /^[^\s\p{C}<>()[\]\\,;:"@]{1,64}@[^\s\p{C}<>()[\]\\,;:"@]{1,253}$/u;

/** Returns true for an address that emails can be sent to. */
export const isEmailAddress = (text: string): boolean => ADDRESS.test(text);

/** Sender of emails, such as `Support <support@example.com>`. */
export interface Sender {
  name: string;
  address: string;
}

/** Parses `Name <address>` or an address; null if it is neither. */
export function parseSender(text: string): Sender | null {
  const [, name = "", address = ""] = /^([^<>\p{C}]*)<([^<>]*)>$/u.exec(text.trim()) ?? ["", "", text.trim()];
  return isEmailAddress(address) ? { name: name.trim().replace(/^"(.*)"$/, "$1"), address } : null;
}

/** Fields of nodemailer's errors. */
interface SmtpErrorFields {
  code?: unknown;
  command?: unknown;
  responseCode?: unknown;
}

/**
 * Returns true if the server has rejected the recipient or the text of this email, and not its sender or the sign-in.
 */
function isRejected({ command, responseCode }: SmtpErrorFields): boolean {
  return (command === "RCPT TO" || command === "DATA") && typeof responseCode === "number" && responseCode >= 500;
}

const oneLine = (text: string) => text.replaceAll(/[\s\p{C}]+/gu, " ").trim();

/** Removes an address as mail servers repeat it: in any case, and with its domain in ASCII or Unicode. */
function withoutAddress(text: string, to: string): string {
  const at = to.lastIndexOf("@");
  const forms = [to, `${to.slice(0, at)}@${domainToASCII(to.slice(at + 1))}`];
  const pattern = forms.map((form) => form.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join("|");
  return text.replaceAll(new RegExp(pattern, "giu"), "recipient");
}

function asEmailError(error: unknown, to?: string): EmailError {
  const cause = toError(error);
  // A server's response may have several lines and any characters, and repeats the address, which must not be stored.
  const text = oneLine(errorMessage(cause));
  const message = (to === undefined ? text : withoutAddress(text, to)).slice(0, 300);
  return new EmailError(message, { isFinal: isRejected(cause as SmtpErrorFields), cause });
}

/** Creates a mailer; it connects with the first email, and keeps connections open for further ones. */
export function openMailer({ host, port, tls, auth }: SmtpServer, from: Sender): Mailer {
  const transport = createTransport({
    host,
    port,
    secure: tls === "implicit",
    requireTLS: tls === "required",
    ignoreTLS: tls === "none",
    ...(auth === null ? {} : { auth }),
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    ...TIMEOUTS,
    // Prevents nodemailer from reading files and URLs that an email refers to.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = from.address.slice(from.address.lastIndexOf("@") + 1);
  return {
    async send({ id, to, subject, text, headers = {} }) {
      if (!isEmailAddress(to)) throw new EmailError("the recipient is not an email address", { isFinal: true });
      const given = Object.entries(headers).map(([key, value]): [string, string] => [key, oneLine(value)]);
      try {
        await transport.sendMail({
          messageId: `<${id}@${domain}>`,
          from,
          to: { name: "", address: to },
          envelope: { from: from.address, to: [to] },
          subject: oneLine(subject),
          text,
          // Suppresses automatic replies (RFC 3834).
          headers: { "Auto-Submitted": "auto-generated", ...Object.fromEntries(given) },
          signal: AbortSignal.timeout(ATTEMPT_MS),
        });
      } catch (error) {
        throw asEmailError(error, to);
      }
    },
    async check() {
      try {
        await transport.verify();
      } catch (error) {
        throw asEmailError(error);
      }
    },
    close: () => transport.close(),
  };
}

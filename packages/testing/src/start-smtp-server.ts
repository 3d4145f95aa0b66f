import PostalMime from "postal-mime";
import type { Email } from "postal-mime";
import { SMTPServer } from "smtp-server";
import { holdResource } from "./held-resources.ts";
import { waitFor } from "./wait-for.ts";

/** An email that a server has received. */
export interface ReceivedEmail {
  /** Recipients of the envelope. */
  recipients: string[];
  /** The message as it was sent. */
  raw: string;
  parsed: Email;
}

/** What a server does with an email: accepts it, rejects it at one of the steps, or breaks off the connection. */
export type EmailScript = "accept" | { rejectAt: "sender" | "recipient" | "text"; code: number } | "cut";

/** A server that accepts emails by SMTP and delivers none. */
export interface SmtpReceiver {
  readonly port: number;
  readonly url: string;
  /** Accepted emails, in the order of arrival. */
  readonly emails: readonly ReceivedEmail[];
  /** Number of emails whose text has arrived, accepted or not. */
  countTexts(): number;
  answerWith(script: EmailScript): void;
  /** Waits for the first email that matches and that `next` has not returned before. Rejects after 30 s. */
  next(predicate?: (email: ReceivedEmail) => boolean): Promise<ReceivedEmail>;
  close(): Promise<void>;
}

/** Starts a real SMTP server on 127.0.0.1, without encryption; `port` for one that comes back. */
export async function startSmtpServer({
  port = 0,
  user,
}: { port?: number; user?: string } = {}): Promise<SmtpReceiver> {
  const emails: ReceivedEmail[] = [];
  const returned = new Set<ReceivedEmail>();
  let script: EmailScript = "accept";
  let texts = 0;

  function rejectionAt(step: "sender" | "recipient" | "text"): Error | null {
    if (typeof script === "string" || script.rejectAt !== step) return null;
    return Object.assign(new Error(`rejected at ${step}`), { responseCode: script.code });
  }

  const server = new SMTPServer({
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    authOptional: user === undefined,
    logger: false,
    onAuth: ({ username }, _session, done) =>
      username === user ? done(null, { user: username }) : done(new Error("Invalid user")),
    onMailFrom: (_address, _session, done) => done(rejectionAt("sender")),
    onRcptTo: (_address, _session, done) => done(rejectionAt("recipient")),
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        texts++;
        const raw = Buffer.concat(chunks).toString("utf8");
        if (script === "cut") {
          // The sender never learns whether the email was accepted.
          for (const connection of server.connections) connection.close();
          return;
        }
        const rejection = rejectionAt("text");
        if (rejection !== null) {
          done(rejection);
          return;
        }
        PostalMime.parse(raw).then(
          (parsed) => {
            emails.push({ recipients: envelope.rcptTo.map(({ address }) => address), raw, parsed });
            done();
          },
          (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
        );
      });
    },
  });
  const bound = await new Promise<number>((resolve, reject) => {
    server.once("error", reject);
    const listening = server.listen(port, "127.0.0.1", () => {
      const address = listening.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  // A client that breaks off is no failure of a test.
  server.on("error", () => undefined);

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= new Promise((resolve) => {
      for (const connection of server.connections) connection.close();
      server.close(() => resolve());
    });
    return closing;
  };
  const release = holdResource(`SMTP server on port ${bound}`, close);
  return {
    port: bound,
    url: `smtp://${user === undefined ? "" : `${user}:secret@`}127.0.0.1:${bound}`,
    emails,
    countTexts: () => texts,
    answerWith(chosen) {
      script = chosen;
    },
    next(predicate = () => true) {
      const take = () => {
        const found = emails.find((email) => !returned.has(email) && predicate(email));
        if (found !== undefined) returned.add(found);
        return found;
      };
      const what = () =>
        `an email; there were ${emails.map(({ recipients, parsed }) => `${recipients.join()}: ${parsed.subject}`).join("; ") || "none"}`;
      return waitFor(take, { what });
    },
    async close() {
      await close();
      release();
    },
  };
}

import PostalMime from "postal-mime";
import type { Email } from "postal-mime";
import { SMTPServer } from "smtp-server";
import { holdResource } from "./held-resources.ts";
import { waitFor } from "./wait-for.ts";

/** An email that a server has received. */
export interface ReceivedEmail {
  /** Recipients of the envelope. */
  recipients: string[];
  /** The message as sent. */
  raw: string;
}

/** Handling of an email: accept it, reject it at one of the steps, or drop the connection. */
export type EmailScript = "accept" | { rejectAt: "sender" | "recipient" | "text"; code: number } | "cut";

/** A server that accepts emails by SMTP and delivers none. */
export interface SmtpReceiver {
  readonly port: number;
  readonly url: string;
  /** Accepted emails, in the order of arrival. */
  readonly emails: readonly ReceivedEmail[];
  answerWith(script: EmailScript): void;
  /** Waits for the first email that `next` has not returned before, and parses it. Rejects after 30 s. */
  next(): Promise<ReceivedEmail & { parsed: Email }>;
  close(): Promise<void>;
}

/** Starts a real SMTP server on 127.0.0.1, without encryption; `port` allows restarting one. */
export async function startSmtpServer({
  port = 0,
  user,
}: { port?: number; user?: string } = {}): Promise<SmtpReceiver> {
  const emails: ReceivedEmail[] = [];
  const returned = new Set<ReceivedEmail>();
  let script: EmailScript = "accept";

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
        emails.push({ recipients: envelope.rcptTo.map(({ address }) => address), raw });
        done();
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
  // A client that disconnects does not fail the test.
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
    answerWith(chosen) {
      script = chosen;
    },
    async next() {
      const take = () => {
        const found = emails.find((email) => !returned.has(email));
        if (found !== undefined) returned.add(found);
        return found;
      };
      const email = await waitFor(take, { what: () => `an email; there were ${emails.length}` });
      return { ...email, parsed: await PostalMime.parse(email.raw) };
    },
    async close() {
      await close();
      release();
    },
  };
}

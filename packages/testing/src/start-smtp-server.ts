import { chmod, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import PostalMime from "postal-mime";
import type { Email } from "postal-mime";
import { SMTPServer } from "smtp-server";
import { holdResource } from "./held-resources.ts";
import { waitFor } from "./wait-for.ts";
import { spawnChild, freePort, makeTemporaryFolder } from "./child-process.ts";
import { findInPath } from "./find-programs.ts";

/** Returns the path of Debian's exim4; null without it. Only root can use a custom configuration. */
export const findExim = async (): Promise<string | null> =>
  process.getuid?.() === 0 ? findInPath("exim4", ["/usr/sbin"]) : null;

/** A real mail server on this machine. */
export interface Exim {
  /** With the user `svc` and the password `secret`. */
  url: string;
  /** Returns emails delivered to addresses of example.com, as files of a Maildir. */
  readEmails(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Accepts emails for example.com except `unknown@example.com`, and relays nothing. */
const configuration = (folder: string, port: number) => `
primary_hostname = mail.example.com
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%slog
keep_environment =
tls_advertise_hosts =
acl_smtp_rcpt = recipients
acl_smtp_data = accept
never_users =
begin acl
recipients:
  deny condition = \${if eq{$local_part}{unknown}}
       message = no such user
  accept domains = example.com
         authenticated = *
  deny message = relay not permitted
begin routers
all:
  driver = accept
  transport = maildir
begin transports
maildir:
  driver = appendfile
  directory = ${folder}/mail
  maildir_format
  create_directory
  user = Debian-exim
  group = Debian-exim
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and{{eq{$auth2}{svc}}{eq{$auth3}{secret}}}}
  server_set_id = $auth2
`;

/** Starts Debian's exim4 with its own configuration. */
export async function startExim(): Promise<Exim> {
  const folder = await makeTemporaryFolder("exim");
  await chmod(folder.path, 0o755);
  for (const name of ["spool", "log", "mail"]) {
    await mkdir(join(folder.path, name));
    // exim4 switches from root to its own user.
    await chmod(join(folder.path, name), 0o777);
  }
  const port = await freePort();
  const file = join(folder.path, "exim.conf");
  await writeFile(file, configuration(folder.path, port));
  const server = await spawnChild({
    name: "exim4",
    command: (await findExim()) ?? "exim4",
    args: ["-C", file, "-bdf", "-oP", join(folder.path, "pid"), "-d-all+process_info"],
    env: {},
  });
  await server.ready(/listening|daemon running/i);
  return {
    url: `smtp://svc:secret@127.0.0.1:${port}`,
    async readEmails() {
      const inbox = join(folder.path, "mail", "new");
      const names = await readdir(inbox).catch((error: unknown) => {
        // The folder is created for the first email.
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
        throw error;
      });
      return Promise.all(names.map((name) => readFile(join(inbox, name), "utf8")));
    },
    async stop() {
      await server.kill("SIGTERM");
      await folder.remove();
    },
  };
}

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

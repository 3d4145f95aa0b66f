import { chmod, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { spawnChild } from "./child-process.ts";
import { findInPath } from "./find-in-path.ts";
import { freePort } from "./free-port.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";

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

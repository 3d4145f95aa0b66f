import { readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openStore } from "@svc/store";
import { createTestDatabase, freePort, startProcess, testLog, waitFor } from "@svc/testing";
import type { ChildProcess, TestDatabase } from "@svc/testing";
import { Client } from "pg";
import { SVC_BUILD, documentOf, run, svc as runSvc, svcJson as runSvcJson, svcWithInput } from "./support/run-svc.ts";
import type { Ran } from "./support/run-svc.ts";
import { makeFolder, newInstance, removeFolders, svcUp } from "./support/svc-instance.ts";
import { SECRET_KEY } from "./support/start-product.ts";
import type { SvcInstance } from "./support/svc-instance.ts";
import { svcWithin } from "./support/svc-within.ts";

const KEY = /svc_[0-9A-Za-z]{38}/g;
const QUESTION = "How do I send a message over the HTTP API?";

/** Fields of the commands' documents that the tests use. */
interface Document {
  adminKey: string;
  ticketId: string;
  replies: object[];
  files: object[];
  items: { messageId: string; text: string }[];
  retried: string[];
  checks: { name: string; status: string; detail: string }[];
}

/** Runs commands within this process; `runSvc` tests the program itself. */
const svc = (env: Record<string, string>, ...args: string[]): Promise<Ran> => svcWithin(env, "", ...args);

async function svcJson(env: Record<string, string>, ...args: string[]) {
  const { document, code } = documentOf(await svc(env, ...args, "--json"), args);
  return { document: document as Document, code };
}

/** Like `svcJson`, with the program. */
async function programJson(env: Record<string, string>, ...args: string[]) {
  const { document, code } = await runSvcJson(env, ...args);
  return { document: document as Document, code };
}

/** Returns the process id of the PostgreSQL of a data folder; null if it was stopped cleanly or never ran. */
async function postgresOf({ env }: SvcInstance): Promise<number | null> {
  try {
    return Number((await readFile(join(env.SVC_DATA_DIR, "postgres", "postmaster.pid"), "utf8")).split("\n")[0]);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}

/** Returns the running PostgreSQL of a data folder; fails if there is none. */
async function runningPostgresOf(instance: SvcInstance): Promise<number> {
  const pid = await postgresOf(instance);
  if (pid === null || !isAlive(pid)) throw new Error("no PostgreSQL runs on the data folder");
  return pid;
}

const curlOf = (output: string) => /^ *(curl .*)$/m.exec(output)?.[1] ?? "no curl line";
const hasCurl = (await run("/bin/sh", ["-c", "command -v curl"])).code === 0;
const testCurl = hasCurl ? test : test.skip;

interface Answer {
  ok: boolean;
  status: string;
  chatId: string;
  ticketId: string;
  replies: { type: string; text: string; author: string; sources?: { title: string; quote: string }[] }[];
}

afterAll(removeFolders);

describe("the product, started with one command on a new folder", () => {
  let instance: SvcInstance;
  let product: ChildProcess;
  let firstOutput = "";
  let key = "";

  beforeAll(async () => {
    // The built program, which users run; the other tests may use its sources.
    instance = { ...(await newInstance()), program: SVC_BUILD };
    product = await svcUp(instance);
    firstOutput = product.output();
    key = (await readFile(join(instance.env.SVC_DATA_DIR, "admin-key"), "utf8")).trim();
  });

  afterAll(() => product.kill("SIGINT"));

  test("prints its URL, its data folder, and the files of the key and the sign-up link", () => {
    expect(firstOutput).toMatch(new RegExp(`HTTP API +${instance.url}\n`));
    expect(firstOutput).toContain(`http://127.0.0.1:${instance.env.SVC_WIDGET_PORT}/`);
    expect(firstOutput).toContain(`http://127.0.0.1:${instance.env.SVC_TOOLS_PORT}/mcp`);
    expect(firstOutput).toContain(instance.env.SVC_DATA_DIR);
    expect(firstOutput).toMatch(/Admin key +\S+\/admin-key\n +This file contains the key\./);
    expect(firstOutput).toMatch(/Sign up +\S+\/sign-up-link\n/);
    // Standard output is not a terminal here, as in the log of a service.
    expect(key).toMatch(KEY);
    expect(firstOutput).not.toMatch(/svc_\w{38}|\/link#/);
  });

  testCurl("prints a curl line that gets an answer with its source when it is pasted", async () => {
    const { stdout } = await run("/bin/sh", ["-c", curlOf(firstOutput)]);
    const answer = JSON.parse(stdout) as Answer;
    expect(answer).toMatchObject({ ok: true, mode: "sync" });
    expect(answer.replies[0]?.text).toContain("/api/v1/messages");
    expect(answer.replies[0]?.sources?.length).toBeGreaterThan(0);
  });

  test("stores its secrets in files that only their owner can read", async () => {
    for (const file of ["admin-key", "sign-up-link", "cli-key", "secret-key", "postgres-password"]) {
      expect({ file, mode: (await stat(join(instance.env.SVC_DATA_DIR, file))).mode & 0o777 }).toEqual({
        file,
        mode: 0o600,
      });
    }
  });

  describe("ask", () => {
    test("prints the answer, its sources with title and quote, and the chat id", async () => {
      const { stdout, code } = await runSvc(instance.env, "ask", QUESTION);
      expect(code).toBe(0);
      expect(stdout).toMatch(/\/api\/v1\/messages[^]*\nSources\n {2}1\. .+\n {5}“.+”[^]*\nChat [0-9a-f-]{36}\n/);
    });

    test("continues a conversation, and prints one JSON document", async () => {
      const first = await svcJson(instance.env, "ask", QUESTION, "--chat", "a/b c%");
      const second = await svcJson(instance.env, "ask", QUESTION, "--chat", "a/b c%");
      expect(first).toMatchObject({ code: 0, document: { ok: true, status: "answered", chatId: "a/b c%" } });
      expect(second.document.ticketId).toBe(first.document.ticketId);
      expect(second.document.replies[0]).toMatchObject({ type: "message", author: "agent" });
    });

    test("reports a handoff to a person, and how to check again", async () => {
      const { stdout, code } = await svc(instance.env, "ask", "Wie viele Monde hat der Jupiter?", "--chat", "moons");
      expect(code).toBe(0);
      expect(stdout).toContain("An operator must review the answer first.\nCheck again:  svc ask --chat moons\n");
      const inProject = ["--chat", "moons", "--project", "default"];
      const again = await svc(instance.env, "ask", "Wie viele Monde hat der Saturn?", ...inProject);
      expect(again.stdout).toContain("Check again:  svc ask --chat moons --project default\n");
    });

    test("reports that there is no answer yet, and collects it later", async () => {
      const late = await svcJson(instance.env, "ask", QUESTION, "--chat", "late", "--timeout", "0.001");
      expect(late).toMatchObject({ code: 0, document: { ok: true, status: "pending", replies: [] } });
      const collected = await svc(instance.env, "ask", "--chat", "late", "--timeout", "20");
      expect(collected.stdout).toContain("/api/v1/messages");
      const again = await svc(instance.env, "ask", "--chat", "late", "--timeout", "0.001");
      expect(again).toMatchObject({ stdout: "There are no new replies in this chat.\n", code: 0 });
    });

    test("exits with 4 without a key, and with an unknown one", async () => {
      const elsewhere = { ...instance.env, SVC_DATA_DIR: await makeFolder() };
      expect(await svc(elsewhere, "ask", "hello")).toMatchObject({
        code: 4,
        stderr: expect.stringContaining("SVC_ADMIN_KEY"),
      });
      const unknown = await svcJson({ ...instance.env, SVC_ADMIN_KEY: "nobody-knows-this-key" }, "ask", "hello");
      expect(unknown).toMatchObject({ code: 4, document: { ok: false, error: { code: "invalid_key" } } });
    });

    test("exits with 3 if nothing listens, and explains how to start the service", async () => {
      const elsewhere = { ...instance.env, SVC_API_PORT: String(await freePort()) };
      const { stderr, code } = await runSvc(elsewhere, "ask", "hello");
      expect(code).toBe(3);
      expect(stderr).toContain("Start it with: svc up");
    });
  });

  describe("kb add", () => {
    test("adds files, skips unchanged ones, and replaces changed ones", async () => {
      const file = join(await makeFolder(), "kestrel.md");
      const add = async () => {
        const { document } = await svcJson(instance.env, "kb", "add", file);
        return document.files[0];
      };
      await writeFile(
        file,
        "# Kestrel\n\n## How do I charge the Kestrel battery?\nUse the blue cable for 95 minutes.\n",
      );
      expect(await add()).toMatchObject({ file, status: "added", chunks: expect.any(Number) });
      expect(await add()).toMatchObject({ file, status: "unchanged" });
      await writeFile(
        file,
        "# Kestrel\n\n## How do I charge the Kestrel battery?\nUse the green cable for 20 minutes.\n",
      );
      expect(await add()).toMatchObject({ file, status: "changed" });

      const { stdout } = await svc(instance.env, "ask", "How do I charge the Kestrel battery?");
      expect(stdout).toContain("green cable");
      expect(stdout).not.toContain("blue cable");
    });

    test("removed the product's documentation from the agent, and it can be assigned again", async () => {
      const change = ["agents", "change", "assistant", "--add-kb", "guide"];
      expect(await svcJson(instance.env, ...change)).toMatchObject({ code: 0, document: { ok: true } });
      const isBack = async () => (await svc(instance.env, "ask", QUESTION)).stdout.includes("\nSources\n");
      await waitFor(isBack, { what: "the guide to be answered from" });
    });

    test("lists an invalid file with its error, adds the others, and exits with 1", async () => {
      const folder = await makeFolder();
      await writeFile(join(folder, "good.txt"), "The office is open from nine to five.");
      await writeFile(join(folder, "bad.md"), "%PDF-1.7\nand no more");
      const files = [join(folder, "bad.md"), join(folder, "good.txt"), join(folder, "missing.md")];
      const { stdout, code } = await runSvc(instance.env, "kb", "add", ...files, "--kb", "office");
      expect(code).toBe(1);
      expect(stdout).toMatch(/bad\.md +failed: "bad\.md" /);
      expect(stdout).toMatch(/good\.txt +1 +added/);
      expect(stdout).toMatch(/missing\.md +failed: no such file/);
    });

    test("rejects an unknown project and lists the existing ones", async () => {
      const { stderr, code } = await svc(instance.env, "kb", "add", SVC_BUILD, "--project", "nowhere");
      expect(code).toBe(1);
      expect(stderr).toContain('No project is named "nowhere". Projects: default.');
    });
  });

  test("dead-letters list is empty", async () => {
    expect(await svc(instance.env, "dead-letters", "list")).toMatchObject({
      code: 0,
      stdout: "There are no dead letters.\n",
    });
    const { document } = await svcJson(instance.env, "dead-letters", "list");
    expect(document).toEqual({ ok: true, project: "default", items: [] });
  });

  test("doctor reports no failures", async () => {
    const { document, code } = await programJson(instance.env, "doctor");
    expect(code).toBe(0);
    const statuses = Object.fromEntries(document.checks.map(({ name, status }) => [name, status]));
    const { "Node.js": _, ...others } = statuses;
    // A new installation has no widget sites yet.
    expect(others["Widget sites"]).toBe("warn");
    expect(Object.entries(others).filter(([, status]) => status !== "ok")).toHaveLength(1);
    expect(Object.keys(others)).toEqual([
      "Configuration",
      "Data folder",
      "PostgreSQL",
      "Schema",
      "Secret key",
      "Clock",
      "Storage",
      "Processes",
      "Admin key",
      "CLI key",
      "Channels",
      "Webhook secret",
      "Widget",
      "Widget sites",
      "Console",
      "Knowledge",
      "Models",
      "Email",
      "Queues",
      "Backlog",
      "Dead letters",
      "Failing deliveries",
      "Dead deliveries",
      "Port",
      "HTTP API",
      "Tool server",
    ]);
  });

  test("init is idempotent while it runs, and shows the key only once", async () => {
    const { document, code } = await svcJson(instance.env, "init");
    expect(code).toBe(0);
    expect(document).toMatchObject({
      ok: true,
      isFirst: false,
      adminKey: null,
      enabled: ["api", "widget", "tool-server"],
      project: { name: "default" },
    });
  });

  test("a second start on its folder reports the other process in one line", async () => {
    const { stdout, stderr, code } = await runSvc(instance.env, "up");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`is in use by process ${product.pid}`);
    expect(stderr.trim().split("\n").length).toBeLessThanOrEqual(2);
  });

  test("a start on its port names the setting of the port, and leaves nothing running", async () => {
    const other = { ...(await newInstance()), url: instance.url };
    other.env.SVC_API_PORT = instance.env.SVC_API_PORT;
    const { stderr, code } = await runSvc(other.env, "up");
    expect(code).toBe(1);
    expect(stderr).toContain(`Port ${instance.env.SVC_API_PORT} is already in use`);
    expect(stderr).toContain("SVC_API_PORT");
    expect(stderr.trim().split("\n")).toHaveLength(1);
    // Detected before anything is created.
    expect((await readdir(other.env.SVC_DATA_DIR)).filter((name) => name !== "instance.lock")).toEqual([]);

    const { document, code: doctorCode } = await svcJson(other.env, "doctor");
    expect(doctorCode).toBe(1);
    expect(document.checks).toContainEqual(
      expect.objectContaining({
        name: "Port",
        status: "fail",
        detail: expect.stringContaining("another installation"),
      }),
    );
  });

  test("rejects a later start in one line if the widget's port is in use, and starts if the widget is disabled", async () => {
    const other = await newInstance();
    const ready = /"pid": \d+\n\}/;
    const port = Number(other.env.SVC_WIDGET_PORT);
    const whilePortIsTaken = async (work: () => Promise<void>) => {
      const holder = createServer();
      await new Promise<void>((resolve) => holder.listen(port, "127.0.0.1", resolve));
      try {
        await work();
      } finally {
        await new Promise((resolve) => holder.close(resolve));
      }
    };
    const refused = async () => {
      const { stdout, stderr, code } = await runSvc(other.env, "up");
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(new RegExp(`^Port ${port} is already in use, possibly by .* SVC_WIDGET_PORT\\.\n$`));
    };
    const starts = async () => void (await (await svcUp(other, ready, "--json")).kill("SIGINT"));

    await starts();
    await whilePortIsTaken(refused);
    const beside = await svcUp(other, ready, "--json");
    expect(await svcJson(other.env, "channels", "disable", "widget")).toMatchObject({ code: 0 });
    // Killed: the ports stored by the last clean shutdown are outdated.
    await beside.kill("SIGKILL");
    await whilePortIsTaken(starts);
    // Enabled while the product is stopped: the stored ports are outdated again.
    expect(await svcJson(other.env, "channels", "enable", "widget")).toMatchObject({ code: 0 });
    await starts();
    expect(await svcJson(other.env, "channels", "disable", "widget")).toMatchObject({ code: 0 });
    await whilePortIsTaken(starts);
    expect(await svcJson(other.env, "channels", "enable", "widget")).toMatchObject({ code: 0 });
    await whilePortIsTaken(async () => {
      const product = await svcUp(other);
      try {
        const lines = product.output().split("\n");
        const wanted = new RegExp(
          `^ +Widget +is not running: Port ${port} is already in use, possibly by .* SVC_WIDGET_PORT\\.$`,
        );
        expect(lines.filter((line) => wanted.test(line))).toHaveLength(1);
      } finally {
        await product.kill("SIGINT");
      }
    });
  });

  test("runs beside another instance with separate keys", async () => {
    const other = await newInstance();
    const beside = await svcUp(other, /"pid": \d+\n\}/, "--json");
    try {
      const output = beside.output();
      const document = JSON.parse(output.slice(output.indexOf("{"))) as {
        urls: object;
        adminKey: string;
        dataDir: string;
      };
      expect(document).toMatchObject({ ok: true, urls: { "HTTP API": other.url }, dataDir: other.env.SVC_DATA_DIR });
      expect(document.adminKey).toMatch(KEY);
      expect(await svcJson(other.env, "ask", QUESTION)).toMatchObject({ code: 0, document: { status: "answered" } });
      expect(await svcJson({ ...other.env, SVC_ADMIN_KEY: key }, "ask", QUESTION)).toMatchObject({ code: 4 });
    } finally {
      await beside.kill("SIGINT");
    }
  });

  test("starts again after SIGKILL with its data, without showing the key again or keeping a link that was used", async () => {
    const administrator = ["ann@example.com", "--name", "Ann", "--role", "*:administrator", "--password"];
    const created = await svcWithInput(instance.env, "a long password\n", "operators", "create", ...administrator);
    expect(created.code).toBe(0);
    const before = await svcJson(instance.env, "ask", QUESTION, "--chat", "survivor");
    await product.kill("SIGKILL");
    product = await svcUp(instance);
    expect(product.output()).not.toMatch(KEY);
    expect(product.output()).not.toContain("sign-up-link");
    expect(await readdir(instance.env.SVC_DATA_DIR)).not.toContain("sign-up-link");
    const after = await svcJson({ ...instance.env, SVC_ADMIN_KEY: key }, "ask", QUESTION, "--chat", "survivor");
    expect(after.document).toMatchObject({ status: "answered", ticketId: before.document.ticketId });
  });

  testCurl("prints a curl line that works on later starts as well", async () => {
    const { stdout } = await run("/bin/sh", ["-c", curlOf(product.output())]);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, mode: "sync" });
  });

  test("stops on Ctrl-C with exit code 0 and a message, and leaves no process", async () => {
    const postgres = await runningPostgresOf(instance);
    const { code } = await product.kill("SIGINT");
    expect(code).toBe(0);
    expect(product.output()).toContain("Stopped. To start again: svc up");
    // Its parent was killed above, so the system reaps it eventually.
    await waitFor(() => !isAlive(postgres), { what: "PostgreSQL to be gone" });
    expect(await postgresOf(instance)).toBeNull();
  });

  test("commands work on the data of a stopped product, and stop its database afterwards", async () => {
    const { stderr, stdout, code } = await runSvc(instance.env, "dead-letters", "list");
    expect(code).toBe(0);
    expect(stderr).toContain("starting its PostgreSQL temporarily");
    expect(stdout).toBe("There are no dead letters.\n");
    expect(await postgresOf(instance)).toBeNull();
  });
});

test("a missing secret key of a database is reported, and not replaced", async () => {
  const instance = await newInstance();
  expect(await svcJson(instance.env, "init")).toMatchObject({ code: 0 });
  const file = join(instance.env.SVC_DATA_DIR, "secret-key");
  const kept = await readFile(file);
  await rm(file);
  const files = await readdir(instance.env.SVC_DATA_DIR);
  const doctor = await svc(instance.env, "doctor");
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toMatch(/fail +Secret key +There is no secret key in \S+\/secret-key, .* set SVC_SECRET_KEY/);
  for (const args of [["up"], ["projects", "list"]]) {
    const { stderr, code } = await runSvc(instance.env, ...args);
    expect({ args, code, stderr }).toEqual({
      args,
      code: 78,
      stderr: expect.stringContaining("There is no secret key"),
    });
  }
  expect(await readdir(instance.env.SVC_DATA_DIR)).toEqual(files);
  await writeFile(file, kept, { mode: 0o600 });
  expect((await svc(instance.env, "doctor")).code).toBe(0);
});

describe("a folder without data", () => {
  test("is not initialized by a command that only reads", async () => {
    const instance = await newInstance();
    expect(await svc(instance.env, "dead-letters", "list")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("There is no data"),
    });
    expect((await svc(instance.env, "doctor")).code).toBe(0);
    await expect(stat(instance.env.SVC_DATA_DIR)).rejects.toThrow("ENOENT");
  });

  test("is initialized by init, which shows the key once; a start then shows none", async () => {
    const instance = await newInstance();
    const first = await programJson(instance.env, "init");
    expect(first).toMatchObject({ code: 0, document: { ok: true, isFirst: true, enabled: ["api", "tool-server"] } });
    expect(first.document.adminKey).toMatch(KEY);
    const product = await svcUp(instance);
    expect(product.output()).not.toMatch(KEY);
    const env = { ...instance.env, SVC_ADMIN_KEY: first.document.adminKey };
    expect(await svcJson(env, "ask", QUESTION)).toMatchObject({ code: 0, document: { status: "answered" } });
    await product.kill("SIGTERM");
  });

  test("has no process after Ctrl-C during the first start, and starts afterwards", async () => {
    const instance = await newInstance();
    const interrupted = await svcUp(instance, /Creating the database/);
    await interrupted.kill("SIGINT");
    const postgres = await postgresOf(instance);
    expect(postgres === null || !isAlive(postgres)).toBe(true);
    const product = await svcUp(instance);
    expect((await product.kill("SIGINT")).code).toBe(0);
  });
});

describe("commands on an external database", () => {
  let database: TestDatabase;
  let env: Record<string, string>;

  beforeAll(async () => {
    database = await createTestDatabase();
    env = {
      DATABASE_URL: database.url,
      SVC_SECRET_KEY: SECRET_KEY,
      SVC_ADMIN_KEY: "journey-cli-admin-key",
      SVC_API_PORT: String(await freePort()),
    };
  });

  afterAll(() => database.drop());

  test("doctor reports that it is not initialized and how to do so, and init does", async () => {
    const before = await svc(env, "doctor");
    expect(before.code).toBe(1);
    expect(before.stdout).toMatch(/fail +Installation +is not initialized\n +Run: svc init/);
    expect(await svcJson(env, "init")).toMatchObject({ code: 0, document: { isFirst: true, adminKey: null } });
    expect((await svc(env, "doctor")).code).toBe(0);
  });

  test("migrate is idempotent, and shows the schema before and after", async () => {
    const document = { ok: true, database: "configured", before: "current", after: "current" };
    expect(await svcJson(env, "migrate")).toEqual({ code: 0, document });
  });

  test("a wrong secret key is reported by the doctor, and rejected by every command", async () => {
    const wrong = { ...env, SVC_SECRET_KEY: "another-secret-key-of-48-characters-0123456789ab" };
    expect((await svc(wrong, "doctor")).stdout).toMatch(/fail +Secret key +SVC_SECRET_KEY is not the key/);
    expect((await svc(wrong, "dead-letters", "list")).code).toBe(1);
  });

  test("an unreachable database is reported in one line with exit code 3", async () => {
    const away = { ...env, DATABASE_URL: `postgres://svc@127.0.0.1:${await freePort()}/svc` };
    for (const args of [["up"], ["dead-letters", "list"]]) {
      const { stderr, code } = await runSvc(away, ...args);
      expect({ args, code }).toEqual({ args, code: 3 });
      expect(stderr.trim().split("\n")).toEqual([expect.stringContaining("PostgreSQL is unreachable")]);
    }
  });

  test("start api runs the app until SIGTERM, and exits with 78 without a database", async () => {
    expect((await runSvc({}, "start", "api")).code).toBe(78);
    const api = await startProcess({
      file: SVC_BUILD,
      args: ["start", "api"],
      env,
      name: "svc start api",
    });
    await api.ready(`http://127.0.0.1:${env["SVC_API_PORT"]}/api/v1/health`);
    expect((await api.kill("SIGTERM")).code).toBe(0);
  });

  describe("dead letters", () => {
    const EVIL = "\u001b[2Jerased \u202egnp";
    let messageIds: string[] = [];

    /** Creates a message that has failed five times. */
    async function addDeadLetter(chatId: string): Promise<string> {
      const store = openStore({ url: database.url, secretKey: env["SVC_SECRET_KEY"] ?? "", log: testLog() });
      const client = new Client({ connectionString: database.url });
      await client.connect();
      try {
        const { project } = await store.projects.ensure("default");
        const message = {
          channelId: "api",
          chatId,
          userId: null,
          text: EVIL,
          timestampMs: 1,
          attachments: null,
        } as const;
        const accepted = await store.messages.accept(project.id, {
          ...message,
          channelMeta: {},
          mode: "async",
          callInstance: null,
          callback: null,
        });
        await client.query(
          "UPDATE messages SET state = 'failed', attempts = 5, failure = $2, finished_at = now() WHERE id = $1",
          [accepted.messageId, EVIL],
        );
        return accepted.messageId;
      } finally {
        await client.end();
        await store.close();
      }
    }

    beforeAll(async () => {
      messageIds = [await addDeadLetter("one"), await addDeadLetter("two"), await addDeadLetter("three")];
    });

    test("are listed with text and reason, escaped for the terminal", async () => {
      const { stdout, code } = await svc(env, "dead-letters", "list");
      expect(code).toBe(0);
      for (const id of messageIds) expect(stdout).toContain(id);
      expect(stdout).toContain("erased <U+202E>gnp");
      expect(stdout).not.toContain("\u001b");
      const { document } = await svcJson(env, "dead-letters", "list");
      expect(document.items.map(({ messageId }) => messageId).sort()).toEqual([...messageIds].sort());
      expect(document.items[0]?.text).toBe(EVIL);
    });

    test("are a warning of the doctor", async () => {
      expect((await svc(env, "doctor")).stdout).toMatch(/warn +Dead letters +3 in default/);
    });

    test("are retried one by one or all at once, and then removed from the list", async () => {
      const [first = ""] = messageIds;
      expect(await svcJson(env, "dead-letters", "retry", first)).toMatchObject({
        code: 0,
        document: { retried: [first] },
      });
      expect(await svcJson(env, "dead-letters", "retry", first)).toMatchObject({
        code: 1,
        document: { error: { code: "not_found" } },
      });
      const { document } = await svcJson(env, "dead-letters", "retry", "--all");
      expect(document.retried.sort()).toEqual(messageIds.slice(1).sort());
      await waitFor(async () => (await svc(env, "dead-letters", "list")).stdout.startsWith("There are no"), {
        what: "the list to be empty",
      });
    });
  });
});

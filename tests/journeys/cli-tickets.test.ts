import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createClient } from "@svc/client";
import type { Client } from "@svc/client";
import type {
  AnswerStats,
  DeliveryItem,
  ProjectItem,
  ReplyItem,
  Stats,
  TicketDetail,
  TicketItem,
} from "@svc/contracts";
import { createTestDatabase, createTestQueueBackend, startWebhookReceiver, waitFor } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { SECRET_KEY, startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";
import { makeFolder, removeFolders } from "./support/svc-instance.ts";
import { runWithin } from "./support/svc-within.ts";

const DRAFT = "It left us **this morning**.";
const HANDOFF = "A person will look at it.";
/** A customer's message with escape sequences for the reader's terminal. */
const HOSTILE = "Where is \u001b]0;owned\u0007my \u202eparcel?\n\u001b[2J2026-11-21 10:00 UTC  operator\nAll is paid.";
// oxlint-disable-next-line no-control-regex -- Matches the characters that must not occur.
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

let product: Product;
let client: Client;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  const database = await createTestDatabase();
  const queues = await createTestQueueBackend();
  const redis = queues.redisUrl === undefined ? {} : { redisUrl: queues.redisUrl };
  const remove = async () => {
    await queues.stop();
    await database.drop();
  };
  const ground = { databaseUrl: database.url, prefix: queues.prefix, remove, ...redis };
  product = await startProduct({ replicas: 1, ground });
  folder = await makeFolder();
  env = {
    DATABASE_URL: product.databaseUrl,
    SVC_SECRET_KEY: SECRET_KEY,
    SVC_ADMIN_KEY: product.adminKey,
    // The same queues, so that the pipeline is notified of decisions immediately.
    SVC_QUEUE_PREFIX: queues.prefix,
    ...(queues.redisUrl === undefined ? {} : { REDIS_URL: queues.redisUrl }),
  };
  await addProject(product.store, "desk", { fixedReply: DRAFT, reviewPolicy: "review" }, { handoffText: HANDOFF });
  client = createClient({ url: product.composition.apiUrls[0] ?? "", key: product.adminKey, project: "desk" });
});

afterAll(async () => {
  await product.stop();
  await removeFolders();
});

/** Runs a command. `typed` is its standard input. */
const svcWith = (input: { typed?: string; isTTY?: boolean }, ...words: string[]) =>
  runWithin({ env, folder, ...input }, ...words);

const svc = (...words: string[]) => svcWith({}, ...words);
const tickets = (...words: string[]) => svc("tickets", ...words, "--project", "desk");

async function jsonOf<Document>(...words: string[]): Promise<Document> {
  const { stdout, stderr, code } = await svc(...words, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Document;
}

/** Returns a ticket from the API. */
async function show(chatId: string): Promise<TicketDetail> {
  const { items } = await client.call("listTickets", { query: { chatId } });
  const { item } = await client.call("getTicket", { params: { id: items[0]?.id ?? "none" } });
  return item;
}

/** Waits until a ticket matches. */
function until(named: string, isSo: (ticket: TicketDetail) => boolean, what: string): Promise<TicketDetail> {
  let seen: TicketDetail | undefined;
  const check = async () => {
    seen = await show(named);
    return isSo(seen) ? seen : null;
  };
  return waitFor(check, { what: () => `${named} to ${what}; it is ${JSON.stringify(seen)}` });
}

/** Sends a message that waits for an operator, with a draft. */
async function ask(chatId: string, text = "Where is my parcel?"): Promise<TicketDetail> {
  await client.send({ text, chatId, userId: "u-7", mode: "async" });
  return until(chatId, ({ stage, draft }) => stage === "review" && draft?.isStale === false, "have a draft");
}

const textOf = (reply: ReplyItem | undefined) => (reply?.type === "message" ? reply.text : undefined);

/** Returns the operator's reply that the customer gets, after the handoff text. */
async function answerIn(chatId: string): Promise<string | undefined> {
  for await (const reply of client.stream(chatId, { signal: AbortSignal.timeout(15_000) })) {
    if (reply.author !== "system") return textOf(reply);
  }
  return undefined;
}

describe("svc projects", () => {
  test("creates, shows, changes and renames a project", async () => {
    await writeFile(join(folder, "handoff.txt"), "A nurse will answer you.\n");
    const made = await svc("projects", "create", "clinic", "--retention", "90", "--handoff-file", "handoff.txt");
    expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining("--project clinic") });
    expect(made.stdout).toMatch(/^name +clinic\nid +\S+\n/);
    const find = async (name: string) => (await jsonOf<{ item: ProjectItem }>("projects", "show", name)).item;
    const before = await find("clinic");
    expect(before).toMatchObject({ handoffText: "A nurse will answer you.", retentionDays: 90, tablesAsXlsx: true });
    await svc("projects", "change", "clinic", "--retention", "forever", "--tables", "off", "--greeting", "Good day.");
    await svc("projects", "rename", "clinic", "surgery");
    const after = { ...before, name: "surgery", greeting: "Good day.", retentionDays: null, tablesAsXlsx: false };
    expect(await find("surgery")).toEqual({ ...after, version: before.version + 2 });
    const own = ["--handoff-in", "de=Eine Pflegekraft antwortet.", "--handoff-in", "fr=Une infirmière répondra."];
    await svc("projects", "change", "surgery", ...own);
    await svc("projects", "change", "surgery", "--handoff-in", "fr=");
    expect((await find("surgery")).handoffTexts).toEqual({ de: "Eine Pflegekraft antwortet." });
    expect((await svc("projects", "list")).stdout).toMatch(/\nsurgery +\S+ +forever +no +A nurse will answer you\.\n/);
  });

  test("deletes one only after its name was typed", async () => {
    await svc("projects", "create", "empty-one");
    const remove = (typed: string) => svcWith({ typed, isTTY: true }, "projects", "delete", "empty-one");
    expect(await svc("projects", "delete", "empty-one")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Add --confirm empty-one"),
    });
    const asked = await remove("yes\n");
    expect(asked).toMatchObject({ code: 0, stdout: "Nothing was deleted.\n" });
    expect(asked.stderr).toContain("permanently deletes the project empty-one and everything in it. It is empty.");
    expect((await remove("empty-one\n")).stdout).toBe("Deleted the project empty-one and everything in it.\n");
    expect((await svc("projects", "delete", "surgery", "--confirm", "surgery")).code).toBe(0);
    const names = (await jsonOf<{ items: ProjectItem[] }>("projects", "list")).items.map(({ name }) => name);
    expect(names).toEqual(["default", "desk"]);
  });

  test.each<[string, number, string[], string]>([
    ["an unknown project", 1, ["show", "none"], 'No project is named "none". Projects: default, desk.'],
    ["a name that is taken", 1, ["create", "desk"], "is already used by another project"],
    ["a bad name", 1, ["create", "No Way"], "1 to 63 characters of a-z"],
    ["another name for default", 1, ["rename", "default", "main"], "cannot be changed for default"],
    ["a wrong confirmation", 1, ["delete", "desk", "--confirm", "dusk"], "This deletes the project desk"],
    ["nothing to change", 2, ["change", "desk"], "Specify what to update"],
    ["a bad retention", 2, ["change", "desk", "--retention", "0"], "Must be a number of days, or forever."],
  ])("rejects %s, with an explanation", async (_what, code, words, message) => {
    expect(await svc("projects", ...words)).toMatchObject({
      code,
      stdout: "",
      stderr: expect.stringContaining(message),
    });
  });
});

describe("svc tickets list and show", () => {
  beforeAll(async () => {
    await ask("hostile", HOSTILE);
    await ask("calm");
  });

  test("show waiting tickets, by filters, pages and words", async () => {
    const list = async (...words: string[]) =>
      (await jsonOf<{ items: TicketItem[] }>("tickets", "list", "--project", "desk", ...words)).items;
    expect((await list()).map(({ chatId }) => chatId)).toEqual(["calm", "hostile"]);
    expect(await list("--stage", "review", "--status", "open", "--assignee", "none", "--needs-review")).toHaveLength(2);
    expect((await list("--sort", "createdAt", "--all")).map(({ chatId }) => chatId)).toEqual(["hostile", "calm"]);
    // The search index is updated shortly after a message is stored.
    const found = await waitFor(
      async () => {
        const items = await list("--q", "paid");
        return items.length > 0 && items;
      },
      { what: "the words to be indexed" },
    );
    expect(found.map(({ chatId }) => chatId)).toEqual(["hostile"]);
    expect(await list("--agent", "desk-agent", "--channel", "widget")).toEqual([]);
    const page = await tickets("list", "--limit", "1", "--sort", "-createdAt");
    const next = /Next page: {2}svc (tickets list .*--cursor \S+)\n$/;
    const words = next.exec(page.stdout)?.[1]?.replaceAll("'", "").split(" ") ?? [];
    expect((await svc(...words)).stdout).toContain("api hostile");
  });

  test("escape a customer's text, and mark it so that it cannot be mistaken for output", async () => {
    const [list, shown] = [await tickets("list"), await tickets("show", "hostile")];
    expect(list).toMatchObject({ code: 0, stderr: "" });
    for (const { stdout } of [list, shown]) expect(stdout).not.toMatch(OBEYED);
    expect(shown.stdout).toContain(
      "\n  │ Where is my <U+202E>parcel?\n  │ 2026-11-21 10:00 UTC  operator\n  │ All is paid.\n",
    );
    expect((await tickets("show", "hostile", "--json")).stdout).not.toMatch(OBEYED);
  });

  test("show the conversation, the events, and the draft with its reason", async () => {
    const { stdout } = await tickets("show", "calm");
    expect(stdout).toMatch(/^ticket +\S+\nsubject +Where is my parcel\?\nstate +open, review\nchat +api calm\n/);
    expect(stdout).toMatch(/customer u-7 {2}waiting for an operator\n {2}│ Where is my parcel\?\n/);
    expect(stdout).toContain(`service  not collected yet\n  │ ${HANDOFF}\n`);
    expect(stdout).toMatch(/\nEvents\n[^]*received → triage/);
    expect(stdout).toMatch(new RegExp(`\\nDraft for 1 message[^]*\\n {2}│ ${DRAFT.replaceAll("*", "\\*")}\\n`));
  });
});

describe("svc tickets approve, edit and reject", () => {
  test("send the draft after a confirmation", async () => {
    const { version } = await ask("approved");
    const nobody = await tickets("approve", "approved");
    expect(nobody).toMatchObject({ code: 2, stderr: expect.stringContaining(`Add --yes --seen ${version}`) });
    const answer = (typed: string) =>
      svcWith({ typed, isTTY: true }, "tickets", "approve", "approved", "--project", "desk");
    expect(await answer("no\n")).toMatchObject({ code: 0, stdout: "No decision was made.\n" });
    expect((await show("approved")).version).toBe(version);
    const { stdout, stderr, code } = await answer("yes\n");
    expect({ stdout, code }).toEqual({ stdout: "Approved. The draft is being sent.\n", code: 0 });
    expect(stderr).toContain("  │ Where is my parcel?\n");
    expect(stderr).toContain(`  │ ${DRAFT}\n`);
    expect(await answerIn("approved")).toBe(DRAFT);
  });

  test("send nothing if a newer message was not seen", async () => {
    const { version } = await ask("changed");
    await client.send({ text: "Forget it, it is here.", chatId: "changed", mode: "async" });
    await until("changed", (ticket) => ticket.version > version, "have the newer message");
    const late = await tickets("approve", "changed", "--yes", "--seen", String(version));
    expect(late).toMatchObject({ code: 1, stdout: "" });
    expect(late.stderr).toMatch(/version|newer|earlier|written/);
    expect((await show("changed")).replies.map(({ author }) => author)).toEqual(["system", "system"]);
    expect(await tickets("approve", "changed", "--yes")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--seen"),
    });
  });

  test("send another text instead of the draft: from an argument, a file or standard input", async () => {
    await ask("edited");
    const typed = { typed: "y\n", isTTY: true };
    const words = ["tickets", "edit", "edited", "Tomorrow at nine.", "--no-markdown", "--project", "desk"];
    const asked = await svcWith(typed, ...words);
    expect(asked).toMatchObject({ code: 0, stdout: "Edited. Your text is being sent instead of the draft.\n" });
    expect(asked.stderr).toContain("New text\n  │ Tomorrow at nine.\n");
    expect(await answerIn("edited")).toBe("Tomorrow at nine.");
    const { version } = await ask("piped");
    const piped = ["tickets", "edit", "piped", "--project", "desk"];
    expect((await svcWith({ typed: "no" }, ...piped)).code).toBe(2);
    const seen = ["--yes", "--seen", String(version)];
    expect((await svcWith({ typed: "Two\nlines.\n" }, ...piped, ...seen)).code).toBe(0);
    expect(await answerIn("piped")).toBe("Two\nlines.");
  });

  test("dismiss the draft, and store the reason", async () => {
    const { version } = await ask("rejected");
    const seen = ["--yes", "--seen", String(version)];
    expect((await tickets("reject", "rejected", "--reason", "Advertising.", ...seen)).code).toBe(0);
    const { stage, messages, draft } = await show("rejected");
    expect([stage, messages[0]?.state, draft]).toEqual(["done", "rejected", null]);
    expect((await tickets("show", "rejected")).stdout).toContain("Advertising.");
  });
});

describe("svc tickets", () => {
  test("adds notes, assigns, replies, resolves and reopens", async () => {
    await ask("moved");
    expect((await tickets("note", "moved", "She \u001b[31mcalled.")).stdout).toBe("Noted.\n");
    await writeFile(join(folder, "note.txt"), "Her second call.\n");
    expect((await tickets("note", "moved", "--file", "note.txt")).code).toBe(0);
    const shown = (await tickets("show", "moved")).stdout;
    expect(shown).toContain("She called.");
    expect(shown).toContain("Her second call.");
    expect(shown).not.toMatch(OBEYED);
    expect((await tickets("takeover", "moved")).stdout).toBe("The ticket is assigned to you.\n");
    expect((await show("moved")).assignee).toBe("command-line");
    expect((await tickets("assign", "moved", "ada@example.com")).code).toBe(0);
    expect((await show("moved")).assignee).toBe("ada@example.com");
    expect((await tickets("list", "--assignee", "ada@example.com")).stdout).toContain("api moved");
    expect((await tickets("reply", "moved", "It arrives tomorrow.")).stdout).toBe("Your reply is being sent.\n");
    expect(await answerIn("moved")).toBe("It arrives tomorrow.");
    await until("moved", ({ stage }) => stage === "done", "be done");
    expect((await tickets("unassign", "moved")).code).toBe(0);
    await tickets("resolve", "moved");
    expect((await show("moved")).status).toBe("resolved");
    expect((await tickets("reopen", "moved")).code).toBe(0);
    expect((await show("moved")).status).toBe("open");
    await tickets("resolve", "moved", "--spam");
    expect((await show("moved")).status).toBe("spam");
  });

  test("changes only the given properties of a ticket", async () => {
    const { subject } = await show("calm");
    expect((await tickets("change", "calm", "--priority", "urgent", "--tag", "parcel", "--tag", "lost")).code).toBe(0);
    expect(await show("calm")).toMatchObject({ subject, priority: "urgent", tags: ["parcel", "lost"] });
    expect((await tickets("list", "--tag", "lost", "--priority", "urgent")).stdout).toContain("urgent, #parcel, #lost");
    expect((await tickets("change", "calm", "--no-tag", "--subject", "A parcel")).stdout).toBe("Changed.\n");
    expect(await show("calm")).toMatchObject({ subject: "A parcel", priority: "urgent", tags: [] });
    expect((await tickets("change", "calm")).code).toBe(2);
  });

  test("assigns a ticket to another agent, whose draft replaces the first one", async () => {
    await product.store.projects
      .ensure("desk")
      .then(({ project }) =>
        product.store.agents.insert(project.id, { name: "second", fixedReply: "Second.", reviewPolicy: "review" }),
      );
    const { item } = await jsonOf<{ item: { id: string } }>("agents", "show", "second", "--project", "desk");
    await ask("rerouted");
    expect((await tickets("reroute", "rerouted")).code).toBe(2);
    expect((await tickets("reroute", "rerouted", "--agent", "second")).stdout).toBe("Rerouted.\n");
    const isDrafted = ({ draft }: TicketDetail) => draft?.text === "Second.";
    expect((await until("rerouted", isDrafted, "have the other agent's draft")).agentId).toBe(item.id);
    expect((await tickets("regenerate", "rerouted")).code).toBe(0);
  });

  test.each<[string, number, string[], string]>([
    ["an unknown chat", 1, ["show", "nobody"], 'No ticket or chat "nobody" exists.'],
    [
      "an unknown id",
      1,
      ["show", "01890a5d-ac96-774b-bcce-b302099a8057"],
      "No ticket with this ID exists in this project.",
    ],
    ["an unknown agent", 1, ["list", "--agent", "nobody"], 'No agent is named "nobody".'],
    ["a bad status", 2, ["list", "--status", "lost"], "Allowed choices are open, pending, resolved, spam."],
    ["a note without text", 1, ["note", "calm", " "], "/text"],
    ["a text that is given twice", 2, ["note", "calm", "a", "--file", "b"], "not both"],
    ["nobody to take it from", 1, ["unassign", "calm"], "This ticket is not assigned."],
    ["what has not failed", 1, ["retry", "calm"], "failed"],
  ])("rejects %s, with an explanation", async (_what, code, words, message) => {
    expect(await tickets(...words)).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(message) });
  });
});

describe("svc stats and svc deliveries", () => {
  test("show the statistics of a project", async () => {
    const stats = await jsonOf<Stats>("stats", "--project", "desk");
    expect(stats.messages).toBeGreaterThan(5);
    expect(stats.automatic).toBe(0);
    expect(stats.byChannel.map(({ channelId }) => channelId)).toEqual(["api"]);
    const { stdout } = await svc("stats", "--project", "desk");
    expect(stdout).toMatch(/\nanswered automatically +0 \(0 %\)\n/);
    expect(stdout).toMatch(/\nAGENT +MESSAGES/);
    expect(stdout).not.toMatch(OBEYED);
    expect((await svc("stats", "--from", "yesterday")).stderr).toContain("/from");
  });

  test("show the outcomes of answers in a project and period", async () => {
    const options = ["--project", "desk", "--from", "2026-11-01", "--to", "2026-11-02"];
    const stats = await jsonOf<AnswerStats & { project: string }>("stats", "answers", ...options);
    expect(stats).toMatchObject({ project: "desk", from: "2026-11-01T00:00:00.000Z", agents: [] });
    const { stdout } = await svc("stats", "answers", ...options);
    expect(stdout).toContain("No agent has answered from 2026-11-01T00:00:00.000Z to 2026-11-02T00:00:00.000Z.");
    expect((await svc("stats", "answers", "--from", "yesterday")).stderr).toContain("/from");
  });

  test("show every attempt of a callback", async () => {
    const receiver = await startWebhookReceiver({ answer: { status: 410 } });
    await client.send({ text: "hello", chatId: "called", webhookUrl: receiver.url("/hook") });
    await receiver.next();
    await receiver.close();
    const find = async () => {
      const words = ["deliveries", "list", "--project", "desk", "--state", "dead"];
      return (await jsonOf<{ items: DeliveryItem[] }>(...words)).items[0];
    };
    const delivery = await waitFor(find, { what: "the callback to be dead" });
    const { stdout, code } = await svc("deliveries", "show", delivery.id, "--project", "desk");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^delivery +\S+\ntype +message\.in_review\nstate +dead\n/);
    expect(stdout).toMatch(/\nattempts +\S+: .*410/);
  });
});

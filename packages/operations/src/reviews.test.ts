import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { localAdministrator, scopesOfRoles } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { OPERATOR_FILE_LIMITS } from "@svc/contracts";
import type { OperatorRole } from "@svc/contracts";
import type { Queues } from "@svc/queue";
import { newId, openStore } from "@svc/store";
import type { Project, Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { reviewTicket } from "./reviews.ts";

let database: TestDatabase;
let store: Store;
let project: Project;
/** The queues to which something was published. */
let published: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() });
  project = (await store.projects.ensure("reviewed")).project;
});

beforeEach(() => {
  published = [];
});

afterAll(async () => {
  await store.close();
  await database.drop();
});

const queues = {
  publish(name: string) {
    published.push(name);
    return Promise.resolve();
  },
} as unknown as Queues;
const deps = () => ({ store, queues, log: testLog() });
const operator = () => localAdministrator(project);

const accept = (chatId: string) =>
  store.messages.accept(project.id, {
    channelId: "api",
    chatId,
    userId: null,
    text: "Where is my parcel?",
    timestampMs: Date.now(),
    attachments: null,
    channelMeta: {},
    mode: "async",
    callInstance: null,
    callback: null,
  });

/** A ticket whose one message waits for a person, and its version. */
async function heldTicket(chatId: string): Promise<{ ticketId: string; version: number }> {
  const { ticketId } = await accept(chatId);
  const message = await store.messages.claim(project.id, ticketId);
  if (message === null) throw new Error("the message could not be claimed");
  await store.tickets.open(project.id, message);
  await store.tickets.finish(project.id, {
    message,
    state: "held",
    failure: null,
    stage: "review",
    status: "open",
    agentId: null,
    confidence: null,
    language: null,
    moves: [],
    trace: {},
    replies: [],
    draft: { text: "The draft.", markdown: false, sources: [], confidence: 0.4, why: "not sure" },
  });
  const ticket = await store.tickets.find(project.id, ticketId);
  return { ticketId, version: ticket?.version ?? 0 };
}

describe("a reply while the customer has written something that is not in the ticket yet", () => {
  test("is refused where it names the version that was read, and goes out where it names none", async () => {
    const chatId = newId();
    const { ticketId, version } = await heldTicket(chatId);
    await accept(chatId);
    const replying = reviewTicket.reply(deps(), operator(), { id: ticketId, versions: [version] }, { text: "Mine." });
    await expect(replying).rejects.toMatchObject({ code: "version_conflict" });
    expect(published).toEqual([]);
    const answered = await reviewTicket.reply(deps(), operator(), { id: ticketId }, { text: "Mine." });
    expect(answered).toMatchObject({ stage: "delivering", version: version + 1 });
    expect(published).toEqual(["review-decisions"]);
  });
});

describe("the pipeline is told of a decision", () => {
  test("where it has something to do, and of nothing else", async () => {
    const chatId = newId();
    const { ticketId } = await heldTicket(chatId);
    await reviewTicket.note(deps(), operator(), { id: ticketId }, { text: "A note." });
    await reviewTicket.takeover(deps(), operator(), { id: ticketId }, {});
    await reviewTicket.resolve(deps(), operator(), { id: ticketId }, {});
    await reviewTicket.reopen(deps(), operator(), { id: ticketId }, {});
    expect(published).toEqual([]);
    // A run in progress is restarted, which needs an announcement.
    await accept(chatId);
    await reviewTicket.takeover(deps(), operator(), { id: ticketId }, {});
    expect(published).toEqual(["review-decisions"]);
  });
});

describe("a closed ticket", () => {
  const read = async (ticketId: string) => {
    const found = await store.ticketDetails.read(project.id, ticketId);
    if (found === null) throw new Error("the ticket is not there");
    const { status, stage, assignee } = found.ticket;
    const { draft, messages } = found.contents;
    return { status, stage, assignee, draft, messages: messages.map(({ state }) => state) };
  };

  test.each(["resolved", "spam"] as const)("that was %s is what it was when closing is undone", async (status) => {
    const chatId = newId();
    const { ticketId } = await heldTicket(chatId);
    await reviewTicket.assign(deps(), operator(), { id: ticketId }, { assignee: "Ada" });
    const before = await read(ticketId);
    expect(before).toMatchObject({ stage: "review", draft: { text: "The draft.", why: "not sure", confidence: 0.4 } });
    await reviewTicket.resolve(deps(), operator(), { id: ticketId }, { status });
    expect(await read(ticketId)).toMatchObject({ status, stage: "done", draft: null, messages: ["rejected"] });
    await reviewTicket.reopen(deps(), operator(), { id: ticketId }, { restore: true });
    expect(await read(ticketId)).toEqual(before);
  });

  test("waits in review when it is reopened, also after it was marked as spam, and can be approved", async () => {
    const { ticketId } = await heldTicket(newId());
    await reviewTicket.resolve(deps(), operator(), { id: ticketId }, {});
    await reviewTicket.resolve(deps(), operator(), { id: ticketId }, { status: "spam" });
    const { version } = await reviewTicket.reopen(deps(), operator(), { id: ticketId }, {});
    expect(await read(ticketId)).toMatchObject({ status: "open", stage: "review", messages: ["held"] });
    const approved = await reviewTicket.approve(deps(), operator(), { id: ticketId, versions: [version] }, {});
    expect(approved.stage).toBe("delivering");
  });

  test("brings back no message that was rejected before it was closed, and no draft of a former project", async () => {
    const { ticketId, version } = await heldTicket(newId());
    await reviewTicket.reject(deps(), operator(), { id: ticketId, versions: [version] }, {});
    await reviewTicket.resolve(deps(), operator(), { id: ticketId }, {});
    await reviewTicket.reopen(deps(), operator(), { id: ticketId }, {});
    expect(await read(ticketId)).toMatchObject({ stage: "done", draft: null, messages: ["rejected"] });
    const other = await heldTicket(newId());
    await reviewTicket.resolve(deps(), operator(), { id: other.ticketId }, {});
    await reviewTicket.reroute(deps(), operator(), { id: other.ticketId }, { agentId: null });
    await reviewTicket.reopen(deps(), operator(), { id: other.ticketId }, {});
    expect(await read(other.ticketId)).toMatchObject({ stage: "review", draft: null, messages: ["held"] });
  });
});

test("a ticket can be assigned to operators who may answer in its project, and to names outside the console", async () => {
  const { ticketId } = await heldTicket(newId());
  const idOf = async (role: OperatorRole, disabled = false) => {
    const roles = [{ project: project.id, role }];
    const record = await store.operators.insert({ email: `${newId()}@example.com`, name: "Ann", roles });
    if (record === null) throw new Error("the operator could not be created");
    if (disabled) await store.operators.update(record.id, { disabled }, null);
    return record.id;
  };
  const assign = (assignee: string) => reviewTicket.assign(deps(), operator(), { id: ticketId }, { assignee });
  for (const id of [await idOf("viewer"), await idOf("operator", true), newId()]) {
    await expect(assign(`operator:${id}`)).rejects.toMatchObject({
      code: "invalid_request",
      errors: [{ pointer: "/assignee", code: "not_allowed", detail: expect.stringContaining("can answer") }],
    });
  }
  for (const assignee of [`operator:${await idOf("operator")}`, "ada@example.com"]) {
    expect((await assign(assignee)).assignee).toBe(assignee);
  }
});

test("a decision answers the ticket as it has made it, also where the ticket is gone a moment later", async () => {
  const { ticketId, version } = await heldTicket(newId());
  const vanishing: Store = {
    ...store,
    ticketDetails: { ...store.ticketDetails, find: () => Promise.resolve(null) },
  };
  const item = await reviewTicket.approve(
    { ...deps(), store: vanishing },
    operator(),
    { id: ticketId, versions: [version] },
    {},
  );
  expect(item).toMatchObject({ id: ticketId, stage: "delivering", version: version + 1, project: project.name });
});

describe("a ticket that is rerouted to another project", () => {
  let south: Project;

  beforeAll(async () => {
    south = (await store.projects.ensure("south")).project;
  });

  /** Somebody who is signed in, with a role in the project of the ticket, and perhaps one in the other. */
  async function signedIn(role: OperatorRole, elsewhere: OperatorRole | null): Promise<Principal> {
    const roles = [
      { project: project.id, role },
      ...(elsewhere === null ? [] : [{ project: south.id, role: elsewhere }]),
    ];
    const record = await store.operators.insert({ email: `${newId()}@example.com`, name: "Ann", roles });
    if (record === null) throw new Error("the operator could not be made");
    const scopes = scopesOfRoles(record.roles, project.name);
    return { ...operator(), actor: `operator:${record.id}`, operatorId: record.id, scopes };
  }
  const toSouth = { agentId: null, project: "south" };

  test.each([
    ["operator", "operator", null],
    ["operator", "administrator", null],
    ["operator", "viewer", "project_mismatch"],
    ["operator", null, "project_mismatch"],
    ["administrator", null, "project_mismatch"],
    ["viewer", "operator", "insufficient_scope"],
  ] as const)("by an operator who is %s here and %s there is %s", async (here, there, code) => {
    const { ticketId } = await heldTicket(newId());
    const rerouting = reviewTicket.reroute(deps(), await signedIn(here, there), { id: ticketId }, toSouth);
    if (code === null) await expect(rerouting).resolves.toMatchObject({ project: "south", assignee: null });
    else await expect(rerouting).rejects.toMatchObject({ code });
    const { id } = code === null ? south : project;
    expect((await store.tickets.find(project.id, ticketId))?.project).toBe(id);
  });

  test("by a key with the same scopes is refused, and which projects there are is not told", async () => {
    const { ticketId } = await heldTicket(newId());
    const key: Principal = {
      ...operator(),
      keyId: newId(),
      scopes: scopesOfRoles([{ project: "*", role: "operator" }], ""),
    };
    const ann = await signedIn("operator", null);
    for (const [principal, name] of [
      [key, "south"],
      [ann, "south"],
      [ann, "nowhere"],
    ] as const) {
      await expect(
        reviewTicket.reroute(deps(), principal, { id: ticketId }, { agentId: null, project: name }),
      ).rejects.toMatchObject({ code: "project_mismatch" });
    }
  });

  test("is told to the project that had it, also when it goes on or comes back", async () => {
    const { ticketId } = await heldTicket(newId());
    const newest = await store.ticketChanges.findNewest();
    const east = (await store.projects.ensure("east")).project;
    const inProject = ({ id, name }: Project) => ({ ...operator(), project: id, projectName: name });
    const move = (from: Project, { name }: Project) =>
      reviewTicket.reroute(deps(), inProject(from), { id: ticketId }, { agentId: null, project: name });
    await move(project, south);
    await reviewTicket.note(deps(), inProject(south), { id: ticketId }, { text: "Not ours." });
    await move(south, east);
    await move(east, project);
    const changes = await store.ticketChanges.listAfter(newest, [], 100);
    expect(changes.map(({ formerProject }) => formerProject)).toEqual([project.id, null, south.id, east.id]);
  });
});

test("files of a reply that was given up are kept for another try, and let go of when another reply is sent", async () => {
  const { ticketId } = await heldTicket(newId());
  const file = { filename: "a.txt", mime: "text/plain", content: Buffer.alloc(OPERATOR_FILE_LIMITS.unusedMaxBytes) };
  const fileId = await store.operatorFiles.insert(project.id, ticketId, file);
  const attachments = [{ fileId: fileId ?? "" }];
  await reviewTicket.reply(deps(), operator(), { id: ticketId }, { text: "With a file.", attachments });
  const review = await store.reviews.claim(project.id, ticketId);
  if (review === null) throw new Error("the decision could not be claimed");
  await store.reviews.giveUp(review, "too often");
  // What a decision has does not count as waiting; what is let go of does.
  const small = { ...file, content: Buffer.from("x") };
  expect(await store.operatorFiles.insert(project.id, ticketId, small)).not.toBeNull();
  await reviewTicket.reply(deps(), operator(), { id: ticketId }, { text: "Without one." });
  expect(await store.operatorFiles.insert(project.id, ticketId, small)).toBeNull();
});

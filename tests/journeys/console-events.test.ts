import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { visitorChatId } from "@svc/contracts";
import type { OperatorRole } from "@svc/contracts";
import { newId, ticketIdOf } from "@svc/store";
import type { Project } from "@svc/store";
import { waitFor } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import { signInToConsole } from "./support/create-console-client.ts";
import type { ConsoleClient } from "./support/create-console-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { hashCheaply } from "./support/hash-cheaply.ts";
import { closeEvents, openEvents } from "./support/open-events.ts";
import type { EventReader } from "./support/open-events.ts";
import { createVisitorLines, lastOf, say } from "./support/create-visitor-lines.ts";
import type { VisitorSocket } from "./support/open-visitor-socket.ts";
import { startWidget } from "./support/start-widget.ts";
import type { WidgetProduct } from "./support/start-widget.ts";

const PASSWORD = "correct horse battery";

let product: WidgetProduct;
let north: Project;
let south: Project;
let passwordHash: string;
let urls: readonly string[];

beforeAll(async () => {
  // Two replicas of each app: events of one replica reach the other.
  product = await startWidget({ composition: "separate", apps: ["console", "widget"] });
  urls = product.composition.consoleUrls;
  passwordHash = hashCheaply(PASSWORD);
  const agent = { fixedReply: "answered", reviewPolicy: "review" as const };
  north = await addProject(product.store, "north", agent);
  south = await addProject(product.store, "south", agent);
});

afterEach(() => closeEvents());
afterAll(async () => {
  closeEvents();
  await product?.stop();
});

/** Creates an operator with a role in a project, or in all, signed in at one replica. */
async function enter(
  replica: number,
  project: Project | null,
  role: OperatorRole,
  name = "Ann",
): Promise<ConsoleClient> {
  const email = `${newId()}@example.com`;
  const roles = [{ project: project?.id ?? null, role }];
  await product.store.operators.insert({ email, name, roles, passwordHash });
  return signInToConsole(urls[replica] ?? "", { email, password: PASSWORD });
}

/** Returns the latest typing state that a visitor received. */
const isTyping = ({ frames }: VisitorSocket) =>
  frames.flatMap((frame) => (frame.type === "typing" ? [frame.data.on] : [])).at(-1);

/** Opens the events of an operator, and waits until they have started. */
async function follow(client: ConsoleClient, tab = "main"): Promise<EventReader> {
  const reader = openEvents({
    url: () => `${client.baseUrl}/events?tab=${tab}`,
    headers: client.headers,
    types: ["hello", "ticket", "gone", "presence", "customerTyping"],
  });
  await reader.until("hello");
  return reader;
}

async function write(project: string): Promise<string> {
  const url = `${product.composition.apiUrls[0]}/api/v1/messages`;
  const answer = await callApi(url, { key: product.adminKey, project, json: { text: "hello there", mode: "async" } });
  return answer.body.ticketId ?? "";
}

const ticketsIn = (reader: EventReader, ticketId: string) =>
  reader.of("ticket").filter(({ data }) => data["ticketId"] === ticketId);
const toReview = (reader: EventReader, ticketId: string) =>
  waitFor(() => ticketsIn(reader, ticketId).find(({ data }) => data["stage"] === "review") ?? null, {
    what: "the ticket to be in review",
  });

describe("the events of tickets", () => {
  test("arrive at every replica as they happen, with the current ticket, and again when an operator decides", async () => {
    const [one, other] = [await enter(0, north, "operator"), await enter(1, null, "viewer")];
    const readers = [await follow(one), await follow(other)] as const;
    const ticketId = await write("north");
    for (const reader of readers) {
      const { data } = await toReview(reader, ticketId);
      expect(data).toMatchObject({ project: "north", status: "open", assignee: null, version: expect.any(Number) });
    }
    const assigned = await one.call(`/api/v1/admin/tickets/${ticketId}/takeover`, { method: "POST", project: "north" });
    expect(assigned.status).toBe(200);
    const mine = await waitFor(
      () => ticketsIn(readers[1], ticketId).find(({ data }) => data["assignee"] !== null) ?? null,
      { what: "the other replica to tell who has the ticket" },
    );
    expect(mine.data).toMatchObject({ actor: `operator:${one.session.operator.id}` });
  });

  test("are sent only to operators who may see the tickets", async () => {
    const reader = await follow(await enter(0, north, "administrator"));
    const foreign = await write("south");
    const own = await write("north");
    await toReview(reader, own);
    expect(ticketsIn(reader, foreign)).toEqual([]);
    expect(JSON.stringify(reader.events)).not.toContain("south");
  });

  test("report that a ticket was removed when it moves to another project, and nothing more about it", async () => {
    const reader = await follow(await enter(0, north, "operator"));
    const ticketId = await write("north");
    await toReview(reader, ticketId);
    const agents = await product.store.agents.list(south.id);
    const administrator = await enter(1, null, "administrator");
    const answer = await administrator.call(`/api/v1/admin/tickets/${ticketId}/reroute`, {
      project: "north",
      json: { project: "south", agentId: agents[0]?.id },
    });
    expect({ status: answer.status, text: answer.status === 200 ? "" : answer.text }).toEqual({
      status: 200,
      text: "",
    });
    const { data } = await reader.until("gone");
    expect(data).toEqual({ ticketId, project: "north" });
    expect(JSON.stringify(reader.events)).not.toContain("south");
  });

  test("end with the session, and when roles are revoked", async () => {
    const client = await enter(0, north, "operator");
    const reader = await follow(client);
    const { id } = client.session.operator;
    await product.store.operators.update(id, { roles: [] }, null);
    // At most a second later no more events arrive.
    await waitFor(async () => (await client.call("/api/v1/admin/tickets", { project: "north" })).status === 403, {
      what: "the role to be taken away",
    });
    const other = await follow(await enter(1, north, "operator"));
    await product.store.operators.remove(id, null);
    await waitFor(() => reader.answers.some(({ status }) => status === 401), { what: "the stream to end" });
    await toReview(other, await write("north"));
  });

  test("are rejected without a session", async () => {
    for (const url of urls) expectProblem(await callApi(`${url}/events`), "not_signed_in");
  });
});

describe("presence", () => {
  const showing = (client: ConsoleClient, ticketId: string | null, isTyping = false, tab = "main") =>
    client.call("/presence", { json: { ticketId, isTyping, tab }, project: "north" });
  const viewersOf = (reader: EventReader, ticketId: string) =>
    reader.of("presence").findLast(({ data }) => data["ticketId"] === ticketId)?.data["viewers"];

  test("shows on every replica who views a ticket, who is typing, and who has left", async () => {
    const [ann, ben] = [await enter(0, north, "operator", "Ann"), await enter(1, north, "operator", "Ben")];
    const [ofAnn, ofBen] = [await follow(ann), await follow(ben, "second")];
    const ticketId = await write("north");
    await toReview(ofAnn, ticketId);
    expect((await showing(ann, ticketId)).status).toBe(204);
    expect((await showing(ben, ticketId, true, "second")).status).toBe(204);
    const both = [
      { operatorId: ann.session.operator.id, name: "Ann", isTyping: false },
      { operatorId: ben.session.operator.id, name: "Ben", isTyping: true },
    ];
    for (const reader of [ofAnn, ofBen]) {
      await waitFor(() => JSON.stringify(viewersOf(reader, ticketId)) === JSON.stringify(both), {
        what: "both to be seen",
      });
    }
    ofBen.close();
    await waitFor(() => JSON.stringify(viewersOf(ofAnn, ticketId)) === JSON.stringify(both.slice(0, 1)), {
      what: "the one to have left who has closed the page",
    });
    await showing(ann, null);
    await waitFor(() => JSON.stringify(viewersOf(ofAnn, ticketId)) === "[]", { what: "nobody to be there" });
  });

  test("is hidden from operators who may not see the ticket, and cannot be set for one", async () => {
    const stranger = await enter(0, south, "operator");
    const ofStranger = await follow(stranger);
    const [ann, ofAnn] = await enter(1, north, "viewer").then(
      async (client) => [client, await follow(client)] as const,
    );
    const ticketId = await write("north");
    await toReview(ofAnn, ticketId);
    await showing(ann, ticketId);
    await waitFor(() => viewersOf(ofAnn, ticketId) !== undefined, { what: "presence to be told" });
    expectProblem(await showing(stranger, ticketId), "project_mismatch");
    expectProblem(
      await stranger.call("/presence", { json: { ticketId, isTyping: true }, project: "south" }),
      "not_found",
    );
    expect(ofStranger.of("presence")).toEqual([]);
  });

  test("shows only operators who view a ticket that its customer is typing", async () => {
    const lines = createVisitorLines(() => product.urls);
    const [ann, ben] = [await enter(0, null, "operator", "Ann"), await enter(1, null, "operator", "Ben")];
    const [ofAnn, ofBen] = [await follow(ann), await follow(ben)];
    const visitorId = randomUUID();
    const visitor = lines.hello(visitorId);
    await say(visitor);
    const home = await product.store.projects.findByName("default");
    const ticketId = home === null ? "" : ticketIdOf(home.id, "widget", visitorChatId(visitorId));
    await waitFor(() => ticketsIn(ofAnn, ticketId).length > 0, { what: "the ticket to be opened" });
    const json = { ticketId, isTyping: false, tab: "main" };
    expect((await ann.call("/presence", { json, project: "default" })).status).toBe(204);
    for (let count = 0; count < 20; count++) visitor.send("typing", { on: true });
    const { data } = await ofAnn.until("customerTyping");
    expect(data).toEqual({ ticketId });
    // This later event shows that no more typing events are pending.
    await ben.call(`/api/v1/admin/tickets/${ticketId}/takeover`, { method: "POST", project: "default" });
    await waitFor(() => ticketsIn(ofBen, ticketId).some((event) => event.data["assignee"] !== null), {
      what: "the ticket to be taken",
    });
    expect(ofBen.of("customerTyping")).toEqual([]);
    lines.closeAll();
  });

  test("shows the visitor who is typing, and who has written, by public name only", async () => {
    const lines = createVisitorLines(() => product.urls);
    const [ann, vic] = [await enter(0, null, "operator", "Ann"), await enter(1, null, "viewer", "Vic")];
    const ofAnn = await follow(ann);
    const face = { publicName: "Anna <b>", picture: "/team/anna.jpg" };
    expect((await ann.call("/session/profile", { method: "PUT", json: face })).status).toBe(200);
    const visitorId = randomUUID();
    const visitor = lines.hello(visitorId, 0, { replica: 1 });
    await say(visitor);
    const home = await product.store.projects.findByName("default");
    const ticketId = home === null ? "" : ticketIdOf(home.id, "widget", visitorChatId(visitorId));
    await waitFor(() => ticketsIn(ofAnn, ticketId).length > 0, { what: "the ticket to be opened" });
    await waitFor(() => isTyping(visitor) === false, { what: "the agent's answer" });
    const write = (client: ConsoleClient, isTyping: boolean) =>
      client.call("/presence", { json: { ticketId, isTyping, tab: "main" }, project: "default" });
    expect((await write(vic, true)).status).toBe(204);
    expect((await write(ann, true)).status).toBe(204);
    await waitFor(() => isTyping(visitor) === true, { what: "the operator to be seen writing" });
    expect(lastOf(visitor, "typing")).toEqual({ on: true, name: "Anna <b>" });
    expect((await write(ann, false)).status).toBe(204);
    // The viewer's tab is still open, and reports typing.
    await waitFor(() => isTyping(visitor) === false, { what: "nobody to be seen writing" });
    const json = { text: "Here I am." };
    const reply = await ann.call(`/api/v1/admin/tickets/${ticketId}/reply`, { json, project: "default" });
    expect(reply.status).toBe(200);
    const { data } = await visitor.next("reply", (frame) => frame.data.author === "operator");
    expect(data).toMatchObject({ authorName: "Anna <b>", authorPicture: "/team/anna.jpg" });
    expect(JSON.stringify(visitor.frames)).not.toContain("@example.com");
    lines.closeAll();
  });

  test.each([{ ticketId: "x" }, { ticketId: null, tab: "<b>" }, { ticketId: null, isTyping: "yes" }, { more: 1 }, []])(
    "%o is rejected with an explanation",
    async (json) => {
      const client = await enter(0, north, "viewer");
      expectProblem(await client.call("/presence", { json, project: "north" }), "invalid_request");
    },
  );
});

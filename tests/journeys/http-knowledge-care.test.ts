import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import {
  answeredGapSchema,
  articleSchema,
  cannedReplySchema,
  gapDetailSchema,
  gapSchema,
  proposalSchema,
  tagSchema,
} from "@svc/contracts";
import type {
  Article,
  ArticleImage,
  CannedReply,
  GapDetail,
  KbItem,
  Proposal,
  RenderedReply,
  Scope,
  Tag,
} from "@svc/contracts";
import { proposeFromEdit } from "@svc/operations";
import { newId } from "@svc/store";
import type { Project } from "@svc/store";
import { testLog, waitFor, queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { createKbClient, documentOf } from "./support/create-kb-client.ts";
import type { KbClient } from "./support/create-kb-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const SHOP = "care";
const STRANGER = "care-stranger";
const GUIDE = `# Shipping

## Europe

We ship to every country of the European Union within five days.

## Iceland

We do not ship parcels to Iceland at the moment.

## Prices

A parcel costs 5 EUR.
`;

let product: Product;
let api: ApiClient;
let kbs: KbClient;
let project: Project;
let kb: KbItem;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  kbs = createKbClient(product, SHOP);
  await product.store.projects.ensure(STRANGER);
  await product.store.projects.ensure(SHOP);
  kb = await kbs.makeKb();
  project = await addProject(product.store, SHOP, { kbIds: [kb.id], reviewPolicy: "auto_if" });
  await kbs.settled(kb.id, documentOf(await kbs.add(kb.id, { text: "# Opening hours\n\nWe open at nine." })).id);
});

afterAll(() => product.stop());

/** Calls a path below `/api/v1/admin/` as an administrator, alternating between replicas. */
let calls = 0;
const call = (path: string, request: ApiRequest = {}) =>
  callApi(`${api.baseUrl(calls++ % 2)}/api/v1/admin/${path}`, { key: product.adminKey, project: SHOP, ...request });
const itemOf = ({ body }: ApiAnswer) => (body as unknown as { item: unknown }).item;
const gapOf = (answer: ApiAnswer) => itemOf(answer) as GapDetail;
const proposalOf = (answer: ApiAnswer) => itemOf(answer) as Proposal;
const replyOf = (answer: ApiAnswer) => itemOf(answer) as CannedReply;
const itemsOf = ({ body }: ApiAnswer) => (body as unknown as { items: unknown[] }).items;
const gapsOf = (answer: ApiAnswer) => itemsOf(answer) as GapDetail[];
const keyWith = async (...scopes: Scope[]) =>
  (await issueKey(product.store, { name: "key", scopes, project: project.id, createdBy: "test" })).key;

/** Asks in a new chat, and returns the id of the ticket. */
async function ask(text: string): Promise<string> {
  const { status, body } = await api.send(SHOP, { text, chatId: newId(), userId: "ann *bold*", mode: "sync" });
  expect(status).toBe(202);
  return String(body["ticketId"]);
}

const findGap = (question: string) =>
  waitFor(async () => gapsOf(await call(`gaps?q=${encodeURIComponent(question)}`))[0] ?? false, {
    what: `a gap of ${question}`,
  });

describe("a gap", () => {
  test("groups unanswered questions, until an article answers them", async () => {
    const tickets = [
      await ask("Do you sell zebra saddles?"),
      await ask("Hello, I want zebra saddles. Do you sell them?"),
    ];
    const gap = await waitFor(
      async () => {
        const found = await findGap("zebra saddles");
        return found.count === 2 && found;
      },
      { what: "both questions" },
    );
    expect(gapSchema.strict().parse(gap)).toEqual(gap);
    expect(gap.examples.map(({ ticketId }) => ticketId).sort()).toEqual(tickets.sort());
    expect(gap).toMatchObject({
      question: "Do you sell zebra saddles?",
      status: "open",
      language: "en",
      article: null,
    });

    const before = gapOf(await call(`gaps/${gap.id}`));
    expect(gapDetailSchema.strict().parse(before)).toEqual(before);
    expect(before.answerNow?.sends ?? false).toBe(false);

    const json = { kbId: kb.id, title: "Saddles", text: "Yes, we sell zebra saddles in three sizes." };
    const written = await call(`gaps/${gap.id}/article`, { json });
    expect(written.status).toBe(201);
    expect(gapSchema.strict().parse(itemOf(written))).toEqual(itemOf(written));
    const { article, status } = gapOf(written);
    expect([status, article?.kbId]).toEqual(["answered", kb.id]);
    expect(written.headers.get("location")).toBe(`/api/v1/admin/kb/${kb.id}/documents/${article?.documentId}`);
    expect(await kbs.settled(kb.id, article?.documentId ?? "")).toMatchObject({ title: "Saddles", status: "ready" });
    expect((await kbs.search(kb.id, "zebra saddles"))[0]?.text).toContain("three sizes");

    // Of two changes to the same version one is made, and the other is rejected.
    const etag = written.headers.get("etag") ?? "";
    const write = (text: string, more: ApiRequest = {}) =>
      call(`gaps/${gap.id}/article`, { json: { ...json, text }, headers: { "If-Match": etag }, ...more });
    const both = await Promise.all([write("Yes, in four sizes."), write("Yes, in five sizes.")]);
    expect(both.map((answer) => answer.status).toSorted((one, other) => one - other)).toEqual([200, 412]);
    const again = both.find((answer) => answer.status === 200);
    const refused = both.find((answer) => answer.status === 412);
    if (again === undefined || refused === undefined) throw new Error("there are two answers");
    expect([gapOf(again).article, again.headers.get("location")]).toEqual([article, null]);
    expectProblem(refused, "version_conflict");

    // Customers' texts are only visible to callers who may read tickets.
    const item = itemOf(await write("Yes, in six sizes.", { key: await keyWith("kb:*"), headers: {} }));
    expect(answeredGapSchema.strict().parse(item)).toMatchObject({ question: null, examples: [], status: "answered" });
    const seen = gapOf(await call(`gaps/${gap.id}`, { key: await keyWith("tickets:read") }));
    expect([seen.examples.length, seen.answerNow]).toEqual([2, null]);
    const all = gapOf(await call(`gaps/${gap.id}`, { key: await keyWith("tickets:read", "kb:read") }));
    expect(all.answerNow).not.toBeNull();
    const page = gapsOf(await call("gaps?status=answered&sort=lastAt"));
    expect(page.map(({ id }) => id)).toContain(gap.id);
  });

  test("is created by a held question, and not by an answered one", async () => {
    const answered = await api.send(SHOP, { text: "When do you open?", chatId: newId(), mode: "sync" });
    expect(answered.status).toBe(200);
    const chatId = newId();
    expect((await api.send(SHOP, { text: "Do you sell quagga bridles?", chatId, mode: "sync" })).status).toBe(202);
    await findGap("quagga bridles");
    expect(itemsOf(await call("gaps?q=open"))).toEqual([]);
  });

  test("412, 400, 403, 404: is marked by its version, with a valid status, in its project, with the scope", async () => {
    await ask("Can I rent a giraffe ladder?");
    const { id } = await findGap("giraffe ladder");
    const patch = (json: unknown, more: ApiRequest = {}) => call(`gaps/${id}`, { method: "PATCH", json, ...more });
    expectProblem(await patch({ status: "ignored" }, { headers: { "If-Match": '"7"' } }), "version_conflict");
    expectProblem(await patch({ status: "done", x: 1 }), "invalid_request", ["/status", "/x"]);
    expectProblem(await patch({ status: "ignored" }, { project: STRANGER }), "not_found");
    expectProblem(await call(`gaps/${id}`, { project: STRANGER }), "not_found");
    expectProblem(await call(`gaps/${newId()}`), "not_found");
    expectProblem(await call("gaps/x"), "not_found");
    expectProblem(await call("gaps?status=x&sort=y&limit=0"), "invalid_request", ["/status", "/sort", "/limit"]);
    const article = { kbId: "x", title: "a\nb", text: " ", y: 1 };
    const errors = ["/kbId", "/title", "/text", "/y"];
    expectProblem(await call(`gaps/${id}/article`, { json: article }), "invalid_request", errors);
    const elsewhere = { kbId: newId(), title: "Ladders", text: "Yes." };
    expectProblem(await call(`gaps/${id}/article`, { json: { kbId: kb.id, text: "Yes." } }), "invalid_request", [
      "/title",
    ]);
    expectProblem(await call(`gaps/${id}/article`, { json: elsewhere }), "not_found");
    const key = await keyWith("tickets:*");
    expectProblem(await call(`gaps/${id}/article`, { key, json: elsewhere }), "insufficient_scope");
    const done = await patch({ status: "ignored" }, { key, headers: { "If-Match": '"1"' } });
    expect([done.status, gapOf(done).status, done.headers.get("etag")]).toEqual([200, "ignored", '"2"']);
  });
});

describe("a proposal", () => {
  const addGuide = async () =>
    kbs.settled(kb.id, documentOf(await kbs.add(kb.id, { text: GUIDE, key: newId(), title: "Guide" })).id);
  const quote = "We do not ship parcels to Iceland at the moment.";
  const sentText = "We ship parcels to Iceland again since May.";

  let edits = 0;

  /** Creates the proposal from an edited draft that quotes a document. */
  async function proposeChange(documentId: string, sent = sentText): Promise<Proposal | null> {
    // A different question each time, because an accepted proposal answers its question.
    const ticketId = await ask(`Where is shuttle ${"XYZWV"[edits++]}-9?`);
    const sources = [{ title: "Guide", documentId, chunkId: newId(), quote }];
    const edit = {
      project: project.id,
      ticketId,
      draft: { text: quote, sources },
      sentText: sent,
      actor: "operator:ann",
    };
    const id = await proposeFromEdit({ store: product.store, log: testLog() }, edit);
    return id === null ? null : proposalOf(await call(`proposals/${id}`));
  }
  const decide = (proposal: Proposal | null, verb: string, request: ApiRequest = {}) =>
    call(`proposals/${proposal?.id}/${verb}`, { method: "POST", ...request });

  test("of an operator's edit replaces the quoted passage in place, once", async () => {
    const guide = await addGuide();
    const proposal = await proposeChange(guide.id, `Hi Ann,\n\n${sentText}\n\nBest regards,\nBen`);
    expect(proposalSchema.strict().parse(proposal)).toEqual(proposal);
    expect(proposal).toMatchObject({
      documentId: guide.id,
      action: "replace",
      before: quote,
      after: sentText,
      question: expect.stringContaining("Where is shuttle"),
      status: "open",
      createdBy: "operator:ann",
    });
    expect(proposal?.diff).toContain(`-${quote}\n+${sentText}\n`);
    expectProblem(await decide(proposal, "accept", { headers: { "If-Match": '"9"' } }), "version_conflict");

    const [accepted, atOnce] = await Promise.all([1, 2].map(() => decide(proposal, "accept")));
    if (accepted === undefined || atOnce === undefined) throw new Error("there are two answers");
    expect(itemOf(atOnce)).toEqual(itemOf(accepted));
    expect([accepted.status, proposalOf(accepted)]).toMatchObject([
      200,
      { status: "accepted", resultDocumentId: guide.id, version: 2 },
    ]);
    const texts = (await kbs.search(kb.id, "ship parcels Iceland")).map(({ text }) => text);
    expect(texts[0]).toBe(sentText);
    expect(texts).not.toContain(quote);
    const changed = await kbs.readDocument(kb.id, guide.id);
    expect(changed).toMatchObject({ chunks: guide.chunks, title: "Guide" });

    expect(proposalOf(await decide(proposal, "accept"))).toEqual(proposalOf(accepted));
    expect(await kbs.readDocument(kb.id, guide.id)).toEqual(changed);
    expectProblem(await decide(proposal, "reject"), "version_conflict");

    // The text before the change does not come back when it is uploaded again.
    await kbs.add(kb.id, { text: GUIDE, key: changed.key, title: "Guide" });
    await kbs.settled(kb.id, guide.id);
    expect((await kbs.search(kb.id, "ship parcels Iceland"))[0]?.text).toBe(sentText);
    await kbs.call(`/${kb.id}/documents/${guide.id}`, { method: "DELETE" });
  });

  test("412: is not applied to a document that has changed since", async () => {
    const guide = await addGuide();
    const proposal = await proposeChange(guide.id);
    await kbs.add(kb.id, { text: `${GUIDE}\n## More\n\nAnd more.\n`, key: guide.key, title: "Guide" });
    await kbs.settled(kb.id, guide.id);
    const refused = await decide(proposal, "accept");
    expectProblem(refused, "version_conflict");
    expect(refused.headers.get("etag")).toBe('"1"');
    expect(proposalOf(await call(`proposals/${proposal?.id}`)).status).toBe("open");
    const rejected = await decide(proposal, "reject", { json: { reason: "It is old." } });
    expect(proposalOf(rejected)).toMatchObject({ status: "rejected", reason: "It is old." });
    expect(proposalOf(await decide(proposal, "reject"))).toMatchObject({ reason: "It is old.", version: 2 });
  });

  test("becomes a separate article if the document cannot be reassembled", async () => {
    const page = "<h1>Guide</h1><p>We do not ship parcels to Iceland at the moment.</p>";
    const document = documentOf(await kbs.upload(kb.id, `?name=${newId()}.html`, page, "text/html"));
    await kbs.settled(kb.id, document.id);
    const proposal = await proposeChange(document.id, "Write to ibex@example.com for parcels to Iceland.");
    expect(proposal).toMatchObject({ action: "add", documentId: document.id, before: "" });
    const { resultDocumentId } = proposalOf(await decide(proposal, "accept"));
    expect(resultDocumentId).not.toBe(document.id);
    const item = await kbs.readDocument(kb.id, resultDocumentId ?? "");
    expect(item).toMatchObject({ title: "Addition to Guide", key: `proposal:${proposal?.id}`, status: "ready" });
    expect((await kbs.search(kb.id, "ibex parcels Iceland"))[0]?.text).toContain("ibex@example.com");
  });

  test("removes nothing from the knowledge if the operator has written about something else", async () => {
    const guide = await addGuide();
    const proposal = await proposeChange(guide.id, "A courier from Reykjavik fetches it: ask him on Monday.");
    expect(proposal).toMatchObject({ action: "add", documentId: guide.id, before: "" });
    await decide(proposal, "accept");
    const texts = (await kbs.search(kb.id, "ship parcels Iceland")).map(({ text }) => text);
    expect(texts).toContain(quote);
    expect((await kbs.search(kb.id, "courier Reykjavik"))[0]?.text).toContain("ask him on Monday");
    await kbs.call(`/${kb.id}/documents/${guide.id}`, { method: "DELETE" });
  });

  test("is not created if only courtesies were changed, and is an article if nothing was quoted", async () => {
    const guide = await addGuide();
    expect(await proposeChange(guide.id, `Hello!\n\n${quote}\n\nKind regards,\nBen`)).toBeNull();
    expect(await proposeChange(guide.id, "Thank you!")).toBeNull();
    const ticketId = await ask("Narwhal tusks, where?");
    const edit = {
      project: project.id,
      ticketId,
      draft: { text: "", sources: [] },
      sentText: "No, never.",
      actor: "x",
    };
    const id = await proposeFromEdit({ store: product.store, log: testLog() }, edit);
    expect(proposalOf(await call(`proposals/${id}`))).toMatchObject({
      action: "add",
      documentId: null,
      kbId: kb.id,
      title: "Narwhal tusks, where?",
      after: "# Narwhal tusks, where?\n\nNo, never.",
    });
  });

  test("shows the new text, and the customer's question to callers with tickets:read", async () => {
    const question = "How much is a lift by manticore?";
    const ticketId = await ask(question);
    const made = { kbId: kb.id, text: "Twelve crowns.", ticketId };
    const curator = { key: await keyWith("kb:*") };
    expectProblem(await call("proposals", { json: made, ...curator }), "insufficient_scope");
    expectProblem(await call("proposals", { json: { ticketId }, ...curator }), "insufficient_scope");

    const proposal = proposalOf(await call("proposals", { json: made }));
    expect(proposal).toMatchObject({ question, ticketId, title: question, after: `# ${question}\n\nTwelve crowns.` });
    expect(proposal.diff).toContain(`+# ${question}\n`);
    const path = `proposals/${proposal.id}`;
    const shown = await call(path, curator);
    const hidden = { question: null, ticketId: null, title: "Answer to a customer", after: "Twelve crowns." };
    expect(proposalOf(shown)).toMatchObject(hidden);
    expect(shown.text).not.toContain("manticore");
    expect(itemsOf(await call("proposals?limit=1", curator))).toEqual([proposalOf(shown)]);
    expect(itemsOf(await call("proposals?q=manticore"))).toHaveLength(1);
    expect(itemsOf(await call("proposals?q=manticore", curator))).toEqual([]);
    expectProblem(await decide(proposal, "accept", curator), "insufficient_scope");

    const { resultDocumentId } = proposalOf(
      await decide(proposal, "accept", { key: await keyWith("kb:write", "tickets:read") }),
    );
    expect((await kbs.search(kb.id, "lift by manticore"))[0]?.text).toContain("Twelve crowns.");
    expect((await kbs.readDocument(kb.id, resultDocumentId ?? "")).title).toBe(question);
    // It is a normal document now.
    expect(proposalOf(await call(path, curator))).toMatchObject({ ...hidden, title: question, after: proposal.after });
  });

  test("is created for each draft that an operator edits", async () => {
    const ticketId = await ask("Where do quagga blankets come from?");
    const { headers } = await call(`tickets/${ticketId}`);
    const sent = "Quagga blankets come from Lisbon.";
    const edited = await call(`tickets/${ticketId}/edit`, {
      json: { text: `Hello Ann,\n\n${sent}` },
      headers: { "If-Match": headers.get("etag") ?? "" },
    });
    expect(edited.status).toBe(200);
    const found = itemsOf(await call("proposals?status=open")) as Proposal[];
    expect(found.find((proposal) => proposal.ticketId === ticketId)).toMatchObject({
      after: `# Where do quagga blankets come from?\n\n${sent}`,
      status: "open",
    });
  });

  test("201: is written by hand, listed and filtered", async () => {
    const guide = await addGuide();
    const json = {
      kbId: kb.id,
      documentId: guide.id,
      text: "A parcel costs 6 EUR.",
      replaces: "A parcel costs 5 EUR.",
    };
    const made = await call("proposals", { json });
    const item = proposalOf(made);
    expect([made.status, made.headers.get("location")]).toEqual([201, `/api/v1/admin/proposals/${item.id}`]);
    expect(itemsOf(await call(`proposals?status=open&kbId=${kb.id}&q=6%20eur`))).toEqual([item]);
    expect(itemsOf(await call(`proposals?kbId=${newId()}`))).toEqual([]);
    await decide(item, "accept");
    const texts = (await kbs.search(kb.id, "parcel costs 6 EUR")).map(({ text }) => text);
    expect(texts).toContain("A parcel costs 6 EUR.");
  });

  test("400, 403, 404: all errors of the input are reported, and other projects find nothing", async () => {
    const post = (json: unknown, more: ApiRequest = {}) => call("proposals", { json, ...more });
    expectProblem(await post({}), "invalid_request", ["/text", "/kbId"]);
    expectProblem(await post({ kbId: "x", text: " ", a: 1 }), "invalid_request", ["/kbId", "/text", "/a"]);
    expectProblem(await post({ ticketId: newId() }), "invalid_request", ["/ticketId"]);
    expectProblem(await post({ kbId: newId(), text: "a" }), "not_found");
    expectProblem(await post({ kbId: kb.id, text: "a", documentId: newId() }), "invalid_request", ["/documentId"]);
    expectProblem(await post({ kbId: kb.id, text: "a", replaces: "b" }), "invalid_request", ["/replaces"]);
    expectProblem(await call("proposals?status=x&kbId=y"), "invalid_request", ["/status", "/kbId"]);
    expectProblem(await post({ kbId: kb.id, text: "a" }, { key: await keyWith("kb:read") }), "insufficient_scope");
    const { id } = proposalOf(await post({ kbId: kb.id, text: "Something." }));
    for (const path of [`proposals/${id}`, "proposals/x"]) {
      expectProblem(await call(path, { project: STRANGER }), "not_found");
      expectProblem(await call(`${path}/accept`, { method: "POST", project: STRANGER }), "not_found");
    }
  });
});

describe("an article", () => {
  const GIF = "R0lGODlhAQABAAAAACw=";
  const articleOf = (answer: ApiAnswer) => itemOf(answer) as Article;
  const create = async (json: object = {}) =>
    articleOf(await call("articles", { json: { kbId: kb.id, title: "Canoes", text: "We rent red canoes.", ...json } }));
  const publish = async (id: string) => {
    const published = articleOf(await call(`articles/${id}/publish`, { method: "POST" }));
    await kbs.settled(kb.id, published.documentId ?? "");
    return published;
  };
  const found = async (query: string) => (await kbs.search(kb.id, query)).map(({ text }) => text).join("\n");

  test("is searchable once published, in its published version, with the descriptions of its images", async () => {
    const article = await create();
    const { id } = article;
    expect(articleSchema.strict().parse(article)).toMatchObject({ status: "draft", publishedRevision: null });
    const image = itemOf(await call(`articles/${id}/images`, { json: { content: GIF } })) as ArticleImage;
    expect(image).toMatchObject({ mime: "image/gif", sizeBytes: 14 });
    const text = `We rent red canoes.\n\n![Map of the canoe pier](images/${image.imageId})`;
    const saved = await call(`articles/${id}`, { method: "PATCH", json: { text, status: "in_review" } });
    expect(articleOf(saved)).toMatchObject({ status: "in_review", revision: 2 });
    expect(await found("canoes")).not.toContain("canoes");
    expect(await publish(id)).toMatchObject({ status: "published", publishedRevision: 2 });
    for (const status of ["in_review", "draft"]) {
      const change = { method: "PATCH", json: { status } };
      expectProblem(await call(`articles/${id}`, change), "invalid_request", ["/status"]);
      const stale = { ...change, headers: { "if-match": '"1"' } };
      expectProblem(await call(`articles/${id}`, stale), "version_conflict");
    }
    const searched = await found("map of the canoe pier");
    expect(searched).toContain("Map of the canoe pier");
    expect(searched).not.toContain("images/");

    await call(`articles/${id}`, { method: "PATCH", json: { text: "We rent blue canoes." } });
    expect(await found("canoes")).toContain("red canoes");
    const file = await call(`articles/${id}/images/${image.imageId}`);
    expect(file.headers.get("content-disposition")).toContain("attachment");
    expect(file.headers.get("content-security-policy")).toContain("sandbox");

    expect((await call(`articles/${id}`, { method: "DELETE" })).status).toBe(200);
    expect(await found("canoes")).not.toContain("canoes");
    expectProblem(await call(`articles/${id}/images/${image.imageId}`), "not_found");
  });

  test("is published by one call at a time, so that agents search the last published text", async () => {
    const { id } = await create();
    const [lease, anotherCall] = [`publication ${kb.id} article:${id}`, newId()];
    await product.store.serviceLeases.claim(lease, anotherCall, 30_000);
    const publishing = publish(id);
    await call(`articles/${id}`, { method: "PATCH", json: { text: "We rent green canoes." } });
    for (let look = 0; look < 10; look += 1) {
      expect(articleOf(await call(`articles/${id}`)).publishedRevision).toBeNull();
    }
    await product.store.serviceLeases.release(lease, anotherCall);
    expect(await publishing).toMatchObject({ status: "published", publishedRevision: 2 });
    expect(await found("canoes")).toContain("green canoes");
    await call(`articles/${id}`, { method: "DELETE" });
  });

  test("of a gap answers it once published, and a concurrent text for the gap is its next version", async () => {
    await ask("Do you repair torn kites?");
    const gap = await findGap("torn kites");
    const article = await create({ gapId: gap.id, title: "Kites", text: "We repair kites." });
    expectProblem(
      await call("articles", { json: { kbId: kb.id, gapId: gap.id, title: "Kites", text: "Again." } }),
      "invalid_request",
      ["/gapId"],
    );
    expect(gapOf(await call(`gaps/${gap.id}`)).status).toBe("open");
    const { documentId } = await publish(article.id);
    expect(gapOf(await call(`gaps/${gap.id}`))).toMatchObject({ status: "answered", article: { documentId } });
    const json = { kbId: kb.id, title: "Kites", text: "We repair kites for free." };
    expect((await call(`gaps/${gap.id}/article`, { json })).status).toBe(200);
    const [listed] = itemsOf(await call(`articles?gapId=${gap.id}`));
    expect(listed).toMatchObject({ id: article.id, status: "published", revision: 2, documentId });
  });

  test("is restored from a version as a new draft, by its current version", async () => {
    const { id, version } = await create();
    await call(`articles/${id}`, { method: "PATCH", json: { title: "Boats", text: "No canoes." } });
    const restore = (headers: Record<string, string> = {}) =>
      call(`articles/${id}/restore`, { json: { number: 1 }, headers });
    expectProblem(await restore({ "If-Match": `"${version}"` }), "version_conflict");
    const restored = { title: "Canoes", text: "We rent red canoes.", status: "draft", revision: 3 };
    expect(articleOf(await restore())).toMatchObject(restored);
    const versions = itemsOf(await call(`articles/${id}/versions`));
    expect(versions).toMatchObject([{ number: 3, restores: 1 }, { number: 2, title: "Boats" }, { number: 1 }]);
    expect(itemOf(await call(`articles/${id}/versions/2`))).toMatchObject({ text: "No canoes." });
    const unchanged = await call(`articles/${id}`, { method: "PATCH", json: { title: "Canoes" } });
    expect(articleOf(unchanged).revision).toBe(3);
    for (const number of ["4", "0", "x", "99999999999"]) {
      expectProblem(await call(`articles/${id}/versions/${number}`), "not_found");
    }
  });

  test("400, 413: only images of limited size are stored, by their content", async () => {
    const { id } = await create();
    const add = (content: string) => call(`articles/${id}/images`, { json: { content } });
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>').toString("base64");
    for (const content of [svg, Buffer.from("%PDF-1.7").toString("base64"), "no base64!", ""]) {
      expectProblem(await add(content), "invalid_request", ["/content"]);
    }
    const large = Buffer.concat([Buffer.from(GIF, "base64"), Buffer.alloc(2 * 1024 * 1024)]).toString("base64");
    expectProblem(await add(large), "invalid_request", ["/content"]);
    const oneByteMore = Buffer.concat([Buffer.from(GIF, "base64"), Buffer.alloc(2 * 1024 * 1024 - 13)]);
    expectProblem(await add(oneByteMore.toString("base64")), "payload_too_large");
    expectProblem(await call("articles?status=ready&gapId=x"), "invalid_request", ["/status", "/gapId"]);
  });
});

describe("a managed tag", () => {
  const tagOf = (answer: ApiAnswer) => itemOf(answer) as Tag;
  const make = async (more: object = {}) => tagOf(await call("tags", { json: { name: `tag ${newId()}`, ...more } }));
  const ticketsWith = async (tag: string) =>
    itemsOf(await call(`tickets?tag=${encodeURIComponent(tag)}`)).map((item) => (item as { id: string }).id);

  test("201: is created with a color, renamed on tickets by its version, merged and deleted", async () => {
    const made = await call("tags", { json: { name: ` money ${newId()} `, color: "orange", description: "Money." } });
    const tag = tagOf(made);
    expect(tagSchema.strict().parse(tag)).toEqual(tag);
    expect([made.status, tag]).toMatchObject([201, { color: "orange", description: "Money.", version: 1 }]);
    expect(itemsOf(await call("tags"))).toContainEqual(tag);
    expectProblem(await call("tags", { json: { name: tag.name.toUpperCase() } }), "invalid_request", ["/name"]);

    const ticketId = await ask("Do you give refunds?");
    await waitFor(
      async () => (await call(`tickets/${ticketId}`, { method: "PATCH", json: { tags: [tag.name] } })).status === 200,
      {
        what: "the ticket to be opened",
      },
    );
    const name = `refund ${newId()}`;
    const change = { method: "PATCH", json: { name }, headers: { "If-Match": '"1"' } };
    expect([(await call(`tags/${tag.id}`, change)).status, (await call(`tags/${tag.id}`, change)).status]).toEqual([
      200, 412,
    ]);
    const isRenamed = async () => (await ticketsWith(name)).includes(ticketId);
    await waitFor(isRenamed, { what: "the ticket to have the new name" });
    expect(await ticketsWith(tag.name)).toEqual([]);

    const into = await make();
    expectProblem(await call(`tags/${into.id}/merge`, { json: { tagId: into.id } }), "invalid_request", ["/tagId"]);
    expectProblem(await call(`tags/${into.id}/merge`, { json: { tagId: newId() } }), "invalid_request", ["/tagId"]);
    expect((await call(`tags/${into.id}/merge`, { json: { tagId: tag.id } })).status).toBe(200);
    await waitFor(async () => (await ticketsWith(into.name)).includes(ticketId), { what: "the merged tag" });
    expectProblem(await call(`tags/${tag.id}`), "not_found");
    expect((await call(`tags/${into.id}`, { method: "DELETE" })).status).toBe(200);
    const isRemoved = async () => (itemOf(await call(`tickets/${ticketId}`)) as { tags: string[] }).tags.length === 0;
    await waitFor(isRemoved, { what: "the tag to be removed" });
  });

  test("400, 404: invalid fields are rejected, and other projects find nothing", async () => {
    expectProblem(await call("tags", { json: { name: "\n", color: "mauve", x: 1 } }), "invalid_request", [
      "/name",
      "/color",
      "/x",
    ]);
    const { id } = await make();
    for (const method of ["GET", "DELETE"]) {
      expectProblem(await call(`tags/${id}`, { project: STRANGER, method }), "not_found");
    }
  });
});

describe("a canned reply", () => {
  const make = async (more: object = {}) =>
    replyOf(await call("canned-replies", { json: { name: newId(), text: "Hello.", ...more } }));

  test("201: is created, read, listed, updated by its version and deleted", async () => {
    const name = `Shipping ${newId()}`;
    const json = { name, text: "Dear {{ customer.userId }}", folder: "sales", tags: ["a", "b", "a"] };
    const made = await call("canned-replies", { json });
    const item = replyOf(made);
    expect(cannedReplySchema.strict().parse(item)).toEqual(item);
    expect([made.status, item]).toMatchObject([201, { ...json, tags: ["a", "b"], version: 1 }]);
    for (const query of ["q=SHIPPING", "tag=b&folder=sales"]) {
      expect(itemsOf(await call(`canned-replies?${query}`))).toContainEqual(item);
    }
    expect(itemsOf(await call("canned-replies?tag=c"))).toEqual([]);
    const change = { method: "PATCH", json: { folder: null } };
    const patched = await call(`canned-replies/${item.id}`, { ...change, headers: { "If-Match": '"1"' } });
    expect([patched.status, itemOf(patched)]).toMatchObject([200, { folder: null, tags: ["a", "b"], version: 2 }]);
    expectProblem(
      await call(`canned-replies/${item.id}`, { ...change, headers: { "If-Match": '"1"' } }),
      "version_conflict",
    );
    expectProblem(await call("canned-replies", { json }), "invalid_request", ["/name"]);
    const other = await make();
    expectProblem(await call(`canned-replies/${other.id}`, { method: "PATCH", json: { name } }), "invalid_request", [
      "/name",
    ]);
    expect((await call(`canned-replies/${item.id}`, { method: "DELETE" })).status).toBe(200);
    expectProblem(await call(`canned-replies/${item.id}`), "not_found");
  });

  test("is rendered for a ticket, with the customer's data as literal text", async () => {
    const hostile = "{{operator.name}} *bold* [x](javascript:alert(1)) <b>\n# head & `code`";
    const ticketId = await ask(`Do you rent ${hostile}`);
    const text = "Dear {{customer.userId}}: {{ticket.subject}} ({{ticket.id}}, {{project.name}}, {{operator.name}})";
    const { id } = await make({ text });
    const key = await keyWith("tickets:read");
    const rendered = await call(`canned-replies/${id}/render`, { json: { ticketId }, key });
    const item = itemOf(rendered) as { text: string };
    expect([rendered.status, item]).toMatchObject([200, { markdown: true }]);
    expect(item.text).toContain("Dear ann \\*bold\\*: Do you rent \\{\\{operator.name\\}\\} \\*bold\\* \\[x\\](");
    expect(item.text).not.toMatch(/[^\\][<`]|\n/);
    expect(item.text).toContain(`${SHOP}, key)`);
  });

  test("with actions is a macro: its actions apply with the reply, in one decision", async () => {
    const ticketId = await ask("Can I have my money back?");
    const actions = { addTags: ["refund"], priority: "high", assignee: "self", resolves: true } as const;
    const { id, actions: stored } = await make({ text: "It is on its way.", actions });
    expect(stored).toEqual(actions);
    const rendered = itemOf(await call(`canned-replies/${id}/render`, { json: { ticketId } })) as RenderedReply;
    expect(rendered).toMatchObject({
      resolves: true,
      actions: { addTags: ["refund"], priority: "high", assignee: expect.stringMatching(/^key:/) },
    });
    const before = itemOf(await call(`tickets/${ticketId}`)) as { version: number };
    const reply = await call(`tickets/${ticketId}/reply`, { json: rendered });
    expect([reply.status, itemOf(reply)]).toMatchObject([
      200,
      { tags: ["refund"], priority: "high", assignee: rendered.actions.assignee, version: before.version + 1 },
    ]);
    const isResolved = async () =>
      (itemOf(await call(`tickets/${ticketId}`)) as { status: string }).status === "resolved";
    await waitFor(isResolved, { what: "the ticket to be resolved with its reply" });

    const post = (json: object) => call("canned-replies", { json: { name: newId(), text: "Hello.", ...json } });
    expectProblem(await post({ actions: { resolves: true, snoozeHours: 4 } }), "invalid_request", [
      "/actions/snoozeHours",
    ]);
    expectProblem(await post({ actions: { assignee: "Ada", x: 1 } }), "invalid_request", [
      "/actions/assignee",
      "/actions/x",
    ]);
    const many = Array.from({ length: 20 }, (_, number) => `tag ${number}`);
    expectProblem(
      await call(`tickets/${ticketId}/reply`, { json: { text: "Hi.", actions: { addTags: many } } }),
      "invalid_request",
      ["/actions/addTags"],
    );
  });

  test("400, 404: unknown variables and invalid fields are rejected, and other projects find nothing", async () => {
    const post = (json: unknown) => call("canned-replies", { json });
    expectProblem(await post({ name: "a", text: "{{customer.password}}" }), "invalid_request", ["/text"]);
    expectProblem(await post({ name: "\n", text: "", tags: [1], x: 1 }), "invalid_request", [
      "/name",
      "/text",
      "/tags/0",
      "/x",
    ]);
    const { id } = await make({ text: "{{constructor}".concat(" fine") });
    expectProblem(await call(`canned-replies/${id}/render`, { json: { ticketId: newId() } }), "invalid_request", [
      "/ticketId",
    ]);
    expectProblem(await call(`canned-replies/${id}`, { project: STRANGER }), "not_found");
    expectProblem(await call(`canned-replies/${id}`, { project: STRANGER, method: "DELETE" }), "not_found");
    expectProblem(await call("canned-replies?folder=a&folder=b"), "invalid_request", ["/folder"]);
  });
});

test("each change is in the audit log with the id of its object, without customer data", async () => {
  const rows = await queryDatabase<{ action: string; object: string | null }>(
    product.databaseUrl,
    "SELECT DISTINCT ON (action) action, object FROM audit_events WHERE result = 'ok' AND action ~ '^(gaps|proposals|canned)' ORDER BY action",
  );
  expect(rows.map(({ action }) => action)).toEqual([
    "canned_replies.create",
    "canned_replies.delete",
    "canned_replies.update",
    "gaps.update",
    "gaps.write_article",
    "proposals.accept",
    "proposals.create",
    "proposals.reject",
  ]);
  for (const { object } of rows) expect(object).toMatch(/^[0-9a-f-]{36}$/);
});

import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { Principal } from "@svc/auth";
import type { Scope } from "@svc/contracts";
import { ensureKb } from "@svc/knowledge";
import { newId, openStore } from "@svc/store";
import type { Project, Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { addKnowledge } from "./add-knowledge.ts";

let database: TestDatabase;
let store: Store;
let project: Project;

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() });
});

beforeEach(async () => {
  project = (await store.projects.ensure(`project-${newId()}`)).project;
});

afterAll(async () => {
  await store.close();
  await database.drop();
});

const principal = (scopes: Scope[]): Principal => ({
  actor: "key:test",
  keyId: "test",
  rateLimit: null,
  scopes,
  project: project.id,
  projectName: project.name,
});

const add = (scopes: Scope[] = ["kb:write"], text = "# Prices\n\nA cup of tea is two euros.\n") =>
  addKnowledge({ store, log: testLog() }, principal(scopes), "prices", {
    key: "prices.md",
    text,
    mime: "text/markdown",
  });

/** The knowledge base that the document lies in. */
const findKbId = async () => (await ensureKb({ store }, project.id, "prices")).kb.id;

test("a document lies in the knowledge base of its name, which is made when there is none", async () => {
  const first = await add();
  expect((await store.kbs.list(project.id)).map(({ name }) => name)).toEqual(["prices"]);
  const again = await add(["kb:*"], "# Prices\n\nA cup of tea is three euros.\n");
  expect(again.documentId).toBe(first.documentId);
  const documents = await store.documents.list(project.id, await findKbId());
  expect(documents.map(({ id }) => id)).toEqual([first.documentId]);
});

test.each<[Scope[]]>([[["kb:read"]], [["messages:*", "tickets:*"]], [[]]])(
  "kb:write is needed: %j is not enough",
  async (scopes) => {
    await expect(add(scopes)).rejects.toMatchObject({ code: "insufficient_scope" });
  },
);

test("it is said whether anybody answers from it: an agent that is switched on and has the knowledge base", async () => {
  expect((await add()).isUsed).toBe(false);
  const kbId = await findKbId();
  await store.agents.insert(project.id, { name: "off", kbIds: [kbId], enabled: false });
  await store.agents.insert(project.id, { name: "elsewhere", kbIds: [] });
  expect((await add()).isUsed).toBe(false);
  await store.agents.insert(project.id, { name: "on", kbIds: [kbId] });
  expect((await add()).isUsed).toBe(true);
});

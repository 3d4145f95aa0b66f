import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Principal } from "@svc/auth";
import { AGENT_LIMITS, agentSchema } from "@svc/contracts";
import type { Agent, AgentInput, Scope } from "@svc/contracts";
import { addDocument, ensureKb } from "@svc/knowledge";
import { newId, openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { createAgent, deleteAgent, executeAgent, getAgent, listAgents, updateAgent } from "./agents.ts";
import { deleteKb } from "./kbs.ts";

let database: TestDatabase;
let stores: Store[];
let store: Store;

beforeAll(async () => {
  database = await createTestDatabase();
  stores = [1, 2].map(() => openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() }));
  [store] = stores as [Store];
});

afterAll(async () => {
  await Promise.all(stores.map((open) => open.close()));
  await database.drop();
});

/** A key of a project of its own. */
async function newPrincipal(scopes: Scope[] = ["agents:*", "kb:*"]): Promise<Principal> {
  const { project } = await store.projects.ensure(`p-${newId()}`);
  const { id, name } = project;
  return { actor: "key:test", keyId: "test", rateLimit: null, scopes, project: id, projectName: name };
}

const create = (who: Principal, input: AgentInput, on = store) => createAgent({ store: on }, who, input);
const execute = (who: Principal, id: string, input: string, context?: string) =>
  executeAgent(
    { store, embeddings: null, models: null },
    who,
    { id },
    {
      input,
      ...(context === undefined ? {} : { context }),
    },
  );
const newKb = async ({ project }: Principal) => (await ensureKb({ store }, project, newId())).kb.id;
const invalid = (...pointers: string[]) => ({
  code: "invalid_request",
  errors: pointers.map((pointer) => expect.objectContaining({ pointer })),
});

describe("an agent that is made", () => {
  test("has the service's settings where nothing is said", async () => {
    const who = await newPrincipal();
    const agent = await create(who, { name: "billing" });
    expect(agent).toMatchObject({
      description: "",
      kbIds: [],
      reviewPolicy: "auto_if",
      autoThreshold: 0.7,
      version: 1,
    });
    expect(agentSchema.strict().parse(agent)).toEqual(agent);
    expect(await getAgent({ store }, who, agent.id)).toEqual(agent);
    expect((await listAgents({ store }, who, { q: "BILL" })).items).toEqual([agent]);
  });

  test("has what was said, each knowledge base once", async () => {
    const who = await newPrincipal();
    const kbId = await newKb(who);
    const settings = {
      description: "Money.",
      instructions: "Be brief.",
      model: "small",
      examples: ["Where is my invoice?"],
      reviewPolicy: "review" as const,
      autoThreshold: 0.7,
      fixedReply: "We are back at nine.",
      enabled: false,
    };
    const agent = await create(who, { name: "billing", ...settings, kbIds: [kbId, kbId.toUpperCase()], tools: [] });
    expect(agent).toMatchObject({ ...settings, kbIds: [kbId] });
  });

  test("is made once, however many make it at once on several replicas", async () => {
    const who = await newPrincipal();
    const makers = Array.from({ length: 20 }, (_, index) => create(who, { name: "one" }, stores[index % 2]));
    const outcomes = await Promise.allSettled(makers);
    const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
    expect(refused).toHaveLength(19);
    for (const reason of refused) expect(reason).toMatchObject(invalid("/name"));
    // Another project may use the name.
    await create(await newPrincipal(), { name: "one" });
  });

  test.each<[string, object, string[]]>([
    ["no name", {}, ["/name"]],
    ["unknown fields", { name: "a", nmae: 1, version: 2, id: "x" }, ["/nmae", "/version", "/id"]],
    ["a name of two lines", { name: "a\nb" }, ["/name"]],
    ["a name that is too long", { name: "x".repeat(201) }, ["/name"]],
    ["a description that is too long", { name: "a", description: "x".repeat(10_001) }, ["/description"]],
    ["instructions that are too long", { name: "a", instructions: "x".repeat(50_001) }, ["/instructions"]],
    [
      "a bad example",
      { name: "a", examples: ["a", " ", "x".repeat(4_001), 1] },
      [1, 2, 3].map((n) => `/examples/${n}`),
    ],
    ["too many examples", { name: "a", examples: Array(5_001).fill("a") }, ["/examples"]],
    [
      "a bad policy and threshold",
      { name: "a", reviewPolicy: "x", autoThreshold: 2 },
      ["/reviewPolicy", "/autoThreshold"],
    ],
    ["an empty fixed reply", { name: "a", fixedReply: "" }, ["/fixedReply"]],
    ["tools", { name: "a", tools: ["search"] }, ["/tools/0"]],
    ["what is no id", { name: "a", kbIds: ["guide"] }, ["/kbIds/0"]],
  ])("with %s is refused with every fault, and nothing is made", async (_what, input, pointers) => {
    const who = await newPrincipal();
    await expect(create(who, input as AgentInput)).rejects.toMatchObject(invalid(...pointers));
    expect((await listAgents({ store }, who, {})).items).toEqual([]);
  });

  test("as large as is allowed is taken", async () => {
    const examples = Array.from({ length: AGENT_LIMITS.examplesMaxCount }, (_, index) => `example ${index}`);
    examples[0] = "😀".repeat(AGENT_LIMITS.exampleMaxChars);
    const agent = await create(await newPrincipal(), { name: "😀".repeat(AGENT_LIMITS.nameMaxChars), examples });
    expect(agent.examples).toEqual(examples);
  });

  test("cannot have a knowledge base that is not there, or of another project", async () => {
    const who = await newPrincipal();
    const own = await newKb(who);
    const foreign = await newKb(await newPrincipal());
    const kbIds = [own, foreign, newId()];
    await expect(create(who, { name: "a", kbIds })).rejects.toMatchObject(invalid("/kbIds/1", "/kbIds/2"));
    const agent = await create(who, { name: "a", kbIds: [own] });
    await expect(updateAgent({ store }, who, { id: agent.id }, { kbIds: [foreign] })).rejects.toMatchObject(
      invalid("/kbIds/0"),
    );
    await deleteKb({ store }, who, { id: own });
    expect((await getAgent({ store }, who, agent.id)).kbIds).toEqual([]);
    await expect(updateAgent({ store }, who, { id: agent.id }, { kbIds: [own] })).rejects.toMatchObject(
      invalid("/kbIds/0"),
    );
  });
});

describe("an agent that is changed", () => {
  let who: Principal;
  let agent: Agent;

  beforeAll(async () => {
    who = await newPrincipal();
    agent = await create(who, { name: "first", fixedReply: "a", model: "m", examples: ["a"] });
  });

  test("has what was said, also nothing where that is said, and else what it had; replicas notice", async () => {
    const mark = await store.agents.findMark(who.project);
    const changed = await updateAgent(
      { store },
      who,
      { id: agent.id },
      { fixedReply: null, model: null, examples: [] },
    );
    expect(changed).toEqual({ ...agent, fixedReply: null, model: null, examples: [], version: 2 });
    expect(await store.agents.findMark(who.project)).not.toBe(mark);
    agent = changed;
  });

  test("of another version is left alone, and the present one is told", async () => {
    const stale = { code: "version_conflict", headers: { ETag: '"2"' } };
    await expect(updateAgent({ store }, who, { id: agent.id, versions: [1] }, { name: "b" })).rejects.toMatchObject(
      stale,
    );
    await expect(deleteAgent({ store }, who, { id: agent.id, versions: [1, 3] })).rejects.toMatchObject(stale);
    expect(await getAgent({ store }, who, agent.id)).toEqual(agent);
  });

  test("by many at once who have read the same version is changed by one of them", async () => {
    const change = (index: number) =>
      updateAgent(
        { store: stores[index % 2] ?? store },
        who,
        { id: agent.id, versions: [agent.version] },
        { description: String(index) },
      );
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, (_, index) => change(index)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("cannot take the name of another", async () => {
    await create(who, { name: "second" });
    await expect(updateAgent({ store }, who, { id: agent.id }, { name: "second" })).rejects.toMatchObject(
      invalid("/name"),
    );
    await updateAgent({ store }, who, { id: agent.id }, { name: "first" });
  });

  test("and deleted is gone, its name free, and replicas notice", async () => {
    const mark = await store.agents.findMark(who.project);
    expect(await deleteAgent({ store }, who, { id: agent.id })).toMatchObject({ id: agent.id });
    expect(await store.agents.findMark(who.project)).not.toBe(mark);
    await expect(getAgent({ store }, who, agent.id)).rejects.toMatchObject({ code: "not_found" });
    await expect(deleteAgent({ store }, who, { id: agent.id })).rejects.toMatchObject({ code: "not_found" });
    await create(who, { name: "first" });
  });
});

describe("an agent that is asked", () => {
  test("quotes its knowledge bases, understands what a question goes on with, and says when it finds nothing", async () => {
    const who = await newPrincipal();
    const kbId = await newKb(who);
    const text =
      "# Kestrel\n\n## How do I charge the Kestrel?\n\nUse the blue cable for 95 minutes.\n\n" +
      "## What does the Kestrel weigh?\n\nThe Kestrel weighs two kilograms.\n";
    const document = { key: "kestrel.md", text, mime: "text/markdown" as const };
    await addDocument({ store, log: testLog() }, who.project, kbId, document);
    const { id } = await create(who, { name: "a", kbIds: [kbId], enabled: false });

    const found = await execute(who, id, "How do I charge the Kestrel?");
    expect(found).toMatchObject({
      output: { text: expect.stringContaining("blue cable"), markdown: true },
      sources: [{ title: "Kestrel", quote: expect.stringContaining("blue cable") }],
      usage: { model: null, inputTokens: 0, outputTokens: 0 },
    });
    expect(found.confidence).toBeGreaterThan(0.5);

    const goneOn = await execute(who, id, "And what does it weigh?", "How do I charge the Kestrel?\n");
    expect(goneOn.output.text).toContain("two kilograms");
    expect(await execute(who, id, "Who painted the Mona Lisa?")).toMatchObject({
      output: { text: null },
      sources: [],
      confidence: 0,
    });
  });

  test("answers its fixed reply, and refuses what is no question", async () => {
    const who = await newPrincipal();
    const { id } = await create(who, { name: "a", fixedReply: "We are back at nine." });
    expect(await execute(who, id, "anything")).toMatchObject({
      output: { text: "We are back at nine." },
      confidence: 1,
    });
    await expect(execute(who, id, " ")).rejects.toMatchObject(invalid("/input"));
    await expect(execute(who, id, "x".repeat(50_001), "\u0000")).rejects.toMatchObject(invalid("/input", "/context"));
  });
});

test("of another project is found by nobody", async () => {
  const { id } = await create(await newPrincipal(), { name: "a" });
  const stranger = await newPrincipal();
  for (const unknown of [id, newId(), "", "'; DROP TABLE agents", "\u0000"]) {
    const notFound = { code: "not_found" };
    await expect(getAgent({ store }, stranger, unknown)).rejects.toMatchObject(notFound);
    await expect(updateAgent({ store }, stranger, { id: unknown }, { name: "b" })).rejects.toMatchObject(notFound);
    await expect(deleteAgent({ store }, stranger, { id: unknown })).rejects.toMatchObject(notFound);
    await expect(execute(stranger, unknown, "hello")).rejects.toMatchObject(notFound);
  }
});

test("each needs its own scope", async () => {
  const calls: Record<string, (who: Principal) => Promise<unknown>> = {
    "agents:read": (who) => Promise.any([listAgents({ store }, who, {}), getAgent({ store }, who, newId())]),
    "agents:write": (who) =>
      Promise.any([
        create(who, { name: newId() }),
        updateAgent({ store }, who, { id: newId() }, {}),
        deleteAgent({ store }, who, { id: newId() }),
      ]),
    "agents:execute": (who) => execute(who, newId(), "hello"),
  };
  for (const [scope, call] of Object.entries(calls)) {
    const others = Object.keys(calls).filter((other) => other !== scope) as Scope[];
    const refused = await call(await newPrincipal([...others, "kb:*"])).catch((error: unknown) => error);
    const errors = refused instanceof AggregateError ? (refused.errors as unknown[]) : [refused];
    for (const error of errors) expect(error).toMatchObject({ code: "insufficient_scope" });
  }
});

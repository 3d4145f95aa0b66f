import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { projectItemSchema } from "@svc/contracts";
import fc from "fast-check";
import { keyOf, projectOf, projectsOf } from "./support/admin-body.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectDecent } from "./support/expect-decent.ts";
import { expectHealthy } from "./support/expect-healthy.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const UNKNOWN = "0190b5a0-9e8f-7c1d-8000-0123456789ab";
const RUNS = 60;

let product: Product;
let api: ApiClient;
/** An administrator's key without a rate limit. */
let admin: string;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  const { key } = await issueKey(product.store, {
    name: "journey",
    scopes: ["admin:*"],
    project: null,
    createdBy: "test",
    rateLimit: null,
  });
  admin = key;
});

afterAll(() => product.stop());

interface ProjectsRequest extends ApiRequest {
  replica?: number;
}

/** A request to `/api/v1/projects`, by an administrator unless another key is given. */
async function projects(path = "", { replica, ...request }: ProjectsRequest = {}): Promise<ApiAnswer> {
  const answer = await callApi(`${api.baseUrl(replica)}/api/v1/projects${path}`, { key: admin, ...request });
  expect(answer.headers.get("cache-control")).toBe("no-store");
  return answer;
}

const create = (json: unknown, request: ProjectsRequest = {}) => projects("", { json, ...request });
const replicas = () => product.composition.apiUrls.map((_, index) => index);

/** Makes a key over the API. */
async function makeKey(json: object): Promise<string> {
  const answer = await callApi(`${api.baseUrl()}/api/v1/admin/keys`, {
    key: admin,
    json: { name: "test", rateLimit: null, ...json },
  });
  expect(answer.status).toBe(201);
  return keyOf(answer).key ?? "";
}

/** The cheapest request that works on a project. */
const drain = (key: string, project?: string, replica = 0) =>
  callApi(`${api.baseUrl(replica)}/api/v1/messages/projects`, { key, ...(project === undefined ? {} : { project }) });

describe("a project that is made", () => {
  test("has the settings that were said, and is there on every replica", async () => {
    const made = await create({ name: "east", handoffText: "", tablesAsXlsx: false, retentionDays: 30 });
    const item = projectOf(made);
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      ok: true,
      item: {
        id: expect.any(String),
        name: "east",
        handoffText: "",
        tablesAsXlsx: false,
        retentionDays: 30,
        createdAt: expect.any(String),
        version: 1,
      },
    });
    expect(projectItemSchema.strict().parse(item)).toEqual(item);
    expect([made.headers.get("location"), made.headers.get("etag")]).toEqual([`/api/v1/projects/${item.id}`, '"1"']);
    for (const replica of replicas()) {
      const read = await projects(`/${item.id}`, { replica });
      expect([read.status, read.body, read.headers.get("etag")]).toEqual([200, { ok: true, item }, '"1"']);
      expect(projectsOf(await projects("?limit=1", { replica })).items).toEqual([item]);
      expect((await drain(admin, "east", replica)).headers.get("x-svc-project")).toBe("east");
    }
  });

  test("has the service's settings where nothing is said", async () => {
    expect(projectOf(await create({ name: "plain" }))).toMatchObject({
      handoffText: expect.stringMatching(/\S/),
      tablesAsXlsx: true,
      retentionDays: null,
    });
  });

  test("takes messages at once: without an agent they wait for a person, and the sender is told so", async () => {
    await create({ name: "desk", handoffText: "A person in the <desk> & co. will answer." });
    const sent = await api.send("desk", { text: "Is anybody there?" }, { key: admin });
    expect([sent.status, sent.body.status]).toEqual([202, "in_review"]);
    expect(sent.texts).toEqual(["A person in the <desk> & co. will answer."]);
  });

  test("is made once, however many make it at once on several replicas", async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => create({ name: "race" }, { replica: index % 2 })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === 201) continue;
      expectProblem(answer, "invalid_request", ["/name"]);
      expect(answer.body.errors).toMatchObject([{ code: "taken" }]);
    }
    expect(projectsOf(await projects("?q=race")).items).toHaveLength(1);
  });
});

describe("the list of projects", () => {
  test("comes page by page over replicas, each once, whatever is made meanwhile", async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.unshift(projectOf(await create({ name: `paging-${index}` })).id);
    const seen: string[] = [];
    let cursor: string | null = "";
    for (let page = 0; cursor !== null; page++) {
      const answer: ApiAnswer = await projects(`?limit=2&cursor=${cursor}&q=PAGING`, { replica: page % 2 });
      seen.push(...projectsOf(answer).items.map(({ id }) => id));
      cursor = projectsOf(answer).nextCursor;
      await create({ name: `paging-later-${page}` });
    }
    expect(seen).toEqual(ids);
  });

  test("has `default`, which the first start made", async () => {
    expect(projectsOf(await projects("?q=default")).items).toMatchObject([{ name: "default" }]);
  });

  test("is searched by words as they are", async () => {
    for (const q of ["p%25ging", "p_ging", "'%20OR%201=1;%20--", "<b>", "%5C"]) {
      expect(projectsOf(await projects(`?q=${q}`)).items).toEqual([]);
    }
  });

  test("is refused for a bad limit, cursor and search, all at once", async () => {
    expectProblem(await projects("?limit=0&cursor=x&q=%00"), "invalid_request", ["/limit", "/cursor", "/q"]);
    const cursor = projectsOf(await projects("?limit=1")).nextCursor ?? "";
    expectProblem(await projects(`?cursor=${cursor.slice(1)}`), "invalid_request", ["/cursor"]);
    const keys = await callApi(`${api.baseUrl()}/api/v1/admin/keys?cursor=${cursor}`, { key: admin });
    expectProblem(keys, "invalid_request", ["/cursor"]);
  });
});

describe("the project of a key", () => {
  test("is the one that it is bound to, and every answer says so", async () => {
    await create({ name: "bound" });
    const key = await makeKey({ scopes: ["messages:*"], project: "bound" });
    for (const project of [undefined, "bound"]) {
      const answer = await drain(key, project);
      expect([answer.status, answer.headers.get("x-svc-project")]).toEqual([200, "bound"]);
    }
    const refused = await projects("", { key });
    expectProblem(refused, "insufficient_scope");
    expect(refused.headers.get("x-svc-project")).toBe("bound");
  });

  test("is no other: the same 403 whether that exists or not", async () => {
    await create({ name: "bound-too" });
    const key = await makeKey({ scopes: ["messages:*"], project: "bound-too" });
    const shown = [];
    for (const project of ["default", "nowhere", "Bound-too", "%00", "'; DROP TABLE projects", "x".repeat(500)]) {
      const answer = await drain(key, project);
      expectProblem(answer, "project_mismatch");
      expect(answer.headers.get("x-svc-project")).toBeNull();
      const { requestId: _, ...body } = answer.body;
      shown.push({ body, headers: [...answer.headers.keys()].sort() });
    }
    for (const one of shown) expect(one).toEqual(shown[0]);
  });

  test("is chosen by name with admin:*, `default` without a name, and 404 for an unknown one", async () => {
    const key = await makeKey({ scopes: ["admin:*"] });
    expect((await drain(key)).headers.get("x-svc-project")).toBe("default");
    expectProblem(await drain(key, "chosen"), "not_found");
    await create({ name: "chosen" });
    for (const replica of replicas()) {
      const answer = await drain(key, "chosen", replica);
      expect([answer.status, answer.headers.get("x-svc-project")]).toEqual([200, "chosen"]);
    }
    expect((await projects("", { key, project: "chosen" })).headers.get("x-svc-project")).toBe("chosen");
    expectProblem(await projects("", { key, project: "nowhere" }), "not_found");
  });

  test("keeps what was said in it to itself", async () => {
    const keyOfProject = async (name: string) => {
      await create({ name, handoffText: `${name} will answer.` });
      return makeKey({ scopes: ["messages:*"], project: name });
    };
    const [one, other] = [await keyOfProject("apart-1"), await keyOfProject("apart-2")];
    const send = { text: "hello", chatId: "same-chat", mode: "async" };
    const sent = await callApi(`${api.baseUrl()}/api/v1/messages`, { key: one, json: send });
    expect(sent.status).toBe(202);
    const read = (key: string, query: string) => callApi(`${api.baseUrl()}/api/v1/messages/same-chat${query}`, { key });
    expect((await read(one, "?wait=20000&peek=1")).texts).toEqual(["apart-1 will answer."]);
    expect((await read(other, "")).replies).toEqual([]);
  });
});

describe("400 names the field:", () => {
  const FIELDS: [field: string, values: unknown[]][] = [
    ["name", [undefined, null, 5, [], {}, "", "Default", "a b", "-a", "a_b", "ä", "a/b", "../x", "n".repeat(64)]],
    ["name", ["'; DROP TABLE projects; --", "<script>alert(1)</script>", "a\u0000", "\ud800", "n".repeat(500_000)]],
    ["handoffText", [null, 5, [], {}, "a\u0000", "\ud800", "x".repeat(5_001)]],
    ["tablesAsXlsx", [null, 1, "true", [], {}]],
    ["retentionDays", [0, -1, 1.5, 36_501, "30", true, [], {}]],
  ];

  test.each(FIELDS)("%s", async (field, values) => {
    for (const value of values) {
      const answer = await create({ name: "never-made", [field]: value });
      expectProblem(answer, "invalid_request", [`/${field}`]);
      expect(answer.text.length).toBeLessThan(2_000);
    }
    expect(projectsOf(await projects("?q=never-made")).items).toEqual([]);
  });

  test("also for fields that nobody knows, all faults at once", async () => {
    const body = '{"name":"A","tablesAsXlsx":1,"id":"x","version":2,"__proto__":{"name":"a"},"toString":1}';
    const pointers = ["/name", "/tablesAsXlsx", "/id", "/version", "/__proto__", "/toString"];
    expectProblem(await projects("", { body }), "invalid_request", pointers);
  });

  test("unless the body is no object, or no JSON", async () => {
    for (const json of [null, [], [{ name: "a" }], "a", 5]) {
      expectProblem(await create(json), "invalid_request", [""]);
    }
    expectProblem(await projects("", { body: "{" }), "invalid_json");
    expectProblem(
      await projects("", { body: "name=a", headers: { "Content-Type": "application/x-www-form-urlencoded" } }),
      "unsupported_media_type",
    );
  });
});

describe("what is not there", () => {
  test.each(["default", "x", UNKNOWN, `${UNKNOWN}0`, "%00", "..%2Fprojects", "'%20OR%201=1"])(
    "is 404: the project with the id %s",
    async (id) => {
      expectProblem(await projects(`/${id}`), "not_found");
    },
  );

  test("is 405 with what is possible: other methods", async () => {
    const { id } = projectOf(await create({ name: "methods" }));
    for (const method of ["PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const [all, one] = [await projects("", { method }), await projects(`/${id}`, { method })];
      for (const answer of [all, one]) expectProblem(answer, "method_not_allowed");
      expect([all.headers.get("allow"), one.headers.get("allow")]).toEqual(["GET, HEAD, POST", "GET, HEAD"]);
    }
  });
});

describe("whatever is sent", () => {
  test("is taken or refused, and never a fault of the service", async () => {
    const anyProject = fc.record({
      name: fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[a-z0-9-]{1,70}$/), fc.jsonValue()),
      handoffText: fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue()),
      retentionDays: fc.oneof(fc.integer(), fc.jsonValue()),
    });
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyProject, fc.jsonValue()), async (json) => {
        const answer = await create(json);
        expectDecent(answer);
        expect([201, 400]).toContain(answer.status);
      }),
      { numRuns: RUNS },
    );
  });

  test("leaves every process healthy", async () => {
    await expectHealthy(product);
  });
});

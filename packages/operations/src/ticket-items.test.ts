import { expect, test } from "@jest/globals";
import { asProjectId } from "@svc/store";
import type { TicketRecord } from "@svc/store";
import { asTicketItem, ownCustomerOf, plainSnippet } from "./ticket-items.ts";

test("a visitor has the friendly name before the customer is stored, and an issue has no customer", () => {
  const project = asProjectId("01890a5d-ac96-774b-bcce-b302099a8057");
  const now = new Date();
  const ticket: TicketRecord = {
    id: "t",
    homeProject: project,
    homeProjectName: "default",
    project,
    channelId: "widget",
    chatId: "v-1",
    userId: null,
    customer: null,
    subject: "Hello",
    status: "open",
    stage: "review",
    priority: "normal",
    assignee: null,
    isSnoozed: false,
    snoozedUntil: null,
    agentId: null,
    confidence: null,
    language: null,
    tags: [],
    channelMeta: {},
    version: 1,
    createdAt: now,
    updatedAt: now,
    firstReplyAt: null,
    resolvedAt: null,
    deadline: null,
  };
  const principal = { actor: "key:k", keyId: "k", rateLimit: null, scopes: [], project, projectName: "default" };
  const { customer } = asTicketItem(ticket, principal);
  expect(customer).toMatchObject({ id: null, name: null, email: null });
  expect(customer?.alias).toMatch(/^[A-Z][a-z]+ [A-Z][a-z]+$/);
  const later = asTicketItem({ ...ticket, channelMeta: { firstChatId: "v-1" }, chatId: "v-2" }, principal);
  expect(later.customer?.alias).toBe(customer?.alias);
  expect(asTicketItem({ ...ticket, channelId: "api", chatId: "issue:1" }, principal).customer).toBeNull();
});

test("another project that works on a ticket does not get its stored customer", () => {
  const [home, other] = ["8057", "8058"].map((end) => asProjectId(`01890a5d-ac96-774b-bcce-b302099a${end}`));
  if (home === undefined || other === undefined) throw new Error("two projects are needed");
  const customer = { id: "c", alias: "Quiet Otter", name: "Ina Vogt", email: "ina@vogt.example" };
  expect(ownCustomerOf({ customer, homeProject: home }, { project: home })).toBe(customer);
  expect(ownCustomerOf({ customer, homeProject: home }, { project: other })).toBeNull();
});

test.each([
  ["Where is my parcel?", "Where is my parcel?"],
  [
    "# Returns\n\nYou have **30 days**, *counted* from ~~yesterday~~ `delivery`.",
    "Returns You have 30 days, counted from yesterday delivery.",
  ],
  ["- one\n- two\n* [x] three", "one two three"],
  ["> quoted\n\nanswer", "quoted answer"],
  ['See [the guide](https://shop.example/guide "Guide") and [more][ref].', "See the guide and more."],
  [
    '<a id="rotate"></a>Rotate <b>logs</b><!-- hidden --> with <https://shop.example>',
    "Rotate logs with https://shop.example",
  ],
  ["| Size | Price |\n|---|---:|\n| S | 4 |", "Size Price S 4"],
  ["```js\nlet a = 1;\n```", "let a = 1;"],
  ["2 * 3 * 4, snake_case_name, a < b > c, 5 \\* 6", "2 * 3 * 4, snake_case_name, a < b > c, 5 * 6"],
  ["safe\u202eevil\u0000 \u2066text", "safeevil text"],
  ["", ""],
])("%j reads as %j", (text, plain) => {
  expect(plainSnippet(text)).toBe(plain);
});

test("is one line of at most 140 characters", () => {
  const snippet = plainSnippet("long line\n".repeat(60));
  expect(Array.from(snippet)).toHaveLength(140);
  expect(snippet).toMatch(/^long line long line .*…$/);
});

test.each(["*", "_", "[", "<a ", "`", "|", "\\", "- ", "<!--", "~~", "!["])(
  "reads 600 characters of %j at once",
  (part) => {
    const text = part.repeat(Math.ceil(600 / part.length)).slice(0, 600);
    expect(plainSnippet(text).length).toBeLessThanOrEqual(140);
  },
);

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { exchange, newMessage, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let world: TestStore;

beforeAll(async () => {
  world = await openTestStore();
});
afterAll(() => world.close());

describe("the history of a chat", () => {
  test("is listed up to a sequence number, oldest first, truncated to the newest messages, and only in its project", async () => {
    const { store } = world;
    const project = await world.newProject();
    const message = (text: string) => newMessage({ chatId: "one", text });
    await exchange(store, project, message("hello"), ["hi", "how can I help?"]);
    await exchange(store, project, message("is it open?"), ["yes"]);
    const { accepted } = await exchange(store, project, message("and on Sunday?"), ["no"]);
    await exchange(store, project, newMessage({ chatId: "two", text: "another chat" }), ["nothing"]);

    const { ticketId, seq } = accepted;
    const said = await store.history.listBefore(project, ticketId, seq, 10);
    expect(said.map(({ author, text }) => `${author}: ${text}`)).toEqual([
      "customer: hello",
      "agent: hi",
      "agent: how can I help?",
      "customer: is it open?",
      "agent: yes",
    ]);
    const last = await store.history.listBefore(project, ticketId, seq, 2);
    expect(last.map(({ text }) => text)).toEqual(["is it open?", "yes"]);
    expect(await store.history.listBefore(await world.newProject(), ticketId, seq, 10)).toEqual([]);
  });

  test("names the first file that an operator sent without a text, and no other attachment", async () => {
    const { store } = world;
    const project = await world.newProject();
    await exchange(store, project, newMessage({ chatId: "files", text: "my invoice?" }), ["see the table", "file"]);
    await exchange(store, project, newMessage({ chatId: "files", text: "and the other?" }), ["here", "file", "file"]);
    const { accepted } = await exchange(store, project, newMessage({ chatId: "files", text: "OK" }), []);
    const attach = "UPDATE replies SET type = 'attachment', text = NULL, filename = $2, author = $3 WHERE text = $1";
    await world.sql(attach, ["see the table", "table.xlsx", "agent"]);
    await world.sql(attach, ["file", "invoice.pdf", "operator"]);
    await world.sql("UPDATE replies SET author = 'operator' WHERE text = 'here'");

    const said = await store.history.listBefore(project, accepted.ticketId, accepted.seq, 10);
    expect(said.map(({ author, text }) => `${author}: ${text}`)).toEqual([
      "customer: my invoice?",
      "operator: invoice.pdf",
      "customer: and the other?",
      "operator: here",
    ]);
  });
});

import { describe, expect, test } from "@jest/globals";
import { OPERATIONS } from "@svc/client";
import type { CallInput, CallOutput, Client } from "@svc/client";
import { ENDPOINTS } from "@svc/contracts";
import type { Agent, AgentInput, KbHit, SyncAnswer } from "@svc/contracts";

test("the client knows every endpoint with its method and path; npm run docs generates them", () => {
  const expected = Object.entries(ENDPOINTS).map(([name, { method, path }]) => [name, `${method} ${path}`]);
  expect(OPERATIONS).toEqual(Object.fromEntries(expected));
});

/** Compiles only if both types accept the same values. */
type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : never) : never;
describe("types of calls follow from the endpoints", () => {
  test("for inputs and outputs", () => {
    // Does not compile if one of them is wrong.
    const held: [
      Same<CallInput<"getAgent">["params"], { id: string }>,
      Same<CallInput<"getDocument">["params"], Record<"id" | "docId", string>>,
      Same<CallOutput<"getAgent">["item"], Agent>,
      Same<CallOutput<"searchKb">["items"][number], KbHit>,
      SyncAnswer extends CallOutput<"sendMessage"> ? true : never,
      AgentInput extends CallInput<"createAgent">["body"] ? true : never,
    ] = [true, true, true, true, true, true];
    expect(held).not.toContain(false);
  });

  test("for invalid calls", () => {
    // Never called: the compiler must report each of these errors.
    const calls = async (client: Client) => {
      // @ts-expect-error -- there is no such operation
      await client.call("eatCake");
      // @ts-expect-error -- the id is missing
      await client.call("getAgent");
      // @ts-expect-error -- the query is missing
      await client.call("searchKb", { params: { id: "1" } });
      // @ts-expect-error -- an agent has a name
      await client.call("createAgent", { body: { description: "" } });
      // @ts-expect-error -- there is no body
      await client.call("deleteAgent", { params: { id: "1" }, body: {} });
      await client.call("listAgents");
      await client.call("listAgents", { query: { limit: 5 } });
      await client.call("rotateKey", { params: { id: "1" } });
      await client.call("deleteAgent", { params: { id: "1" }, ifMatch: 3 });
    };
    expect(calls).toBeInstanceOf(Function);
  });
});

import { describe, expect, test } from "@jest/globals";
import type { CallableTool } from "./callable-tool.ts";
import { offerTools, handleReadOnlyCalls } from "./offer-tools.ts";
import type { RequestedCall } from "./offer-tools.ts";
import { NO_CONVERSATION, REFUSED } from "./check-arguments.ts";
import type { ToolCustomer } from "./check-arguments.ts";

const signal = new AbortController().signal;
const options = { callId: "of-the-model", signal };

function toolOf(access: "read" | "write"): CallableTool {
  return {
    name: access,
    description: access,
    parameters: { type: "object", properties: { id: { type: "string" }, note: { type: "string" } }, required: ["id"] },
    access,
    approval: "auto",
    bind: {},
    anonymous: "allow",
    mark: access,
    call: (input) => Promise.resolve({ state: "done", text: JSON.stringify(input) }),
  };
}

const ANYBODY = { customer: NO_CONVERSATION, onRefused: () => undefined };

/** Offers both tools, and records which calls reach the handler. */
function offer() {
  const asked: RequestedCall[] = [];
  const [read, write] = offerTools(
    [toolOf("read"), toolOf("write")],
    (call) => {
      asked.push(call);
      return Promise.resolve(`answer ${asked.length}`);
    },
    ANYBODY,
  );
  const call = (tool: typeof read, input: unknown) => tool?.execute(input, options);
  return { asked, read: (input: unknown) => call(read, input), write: (input: unknown) => call(write, input) };
}

describe("tools that are offered to a model", () => {
  test("are called with arguments that fit, and say what is wrong with others", async () => {
    const { asked, read } = offer();
    expect(await read({ id: 7 })).toBe("Not called: /id must be string.");
    expect(await read({ id: "7" })).toBe("answer 1");
    expect(asked.map(({ arguments: input }) => input)).toEqual([{ id: "7" }]);
  });

  test("make the same write once, also at the same time and with its arguments in another order", async () => {
    const { asked, write } = offer();
    const same = [
      { id: "7", note: "n" },
      { note: "n", id: "7" },
    ];
    expect(await Promise.all(same.map(write))).toEqual(["answer 1", "answer 1"]);
    expect(await write(same[0])).toBe("answer 1");
    expect(await write({ id: "8", note: "n" })).toBe("answer 2");
    expect(asked.map(({ occurrence }) => occurrence)).toEqual([0, 0]);
  });

  test("tell one read from the next by how often it was asked", async () => {
    const { asked, read } = offer();
    await read({ id: "7" });
    await read({ id: "7" });
    expect(asked.map(({ key, occurrence }) => [key === asked[0]?.key, occurrence])).toEqual([
      [true, 0],
      [true, 1],
    ]);
  });

  test("are called twenty times for one message at most", async () => {
    const { asked, read } = offer();
    const answers = await Promise.all(Array.from({ length: 30 }, (_, id) => read({ id: String(id) })));
    expect(asked).toHaveLength(20);
    expect(answers.filter((answer) => answer?.startsWith("Not called: too many calls for this message"))).toHaveLength(
      10,
    );
  });

  test("change nothing where there is no ticket", async () => {
    const [read, write] = offerTools([toolOf("read"), toolOf("write")], handleReadOnlyCalls, ANYBODY);
    expect(await read?.execute({ id: "7" }, options)).toBe('{"id":"7"}');
    expect(await write?.execute({ id: "7" }, options)).toMatch(/require a ticket/);
    const [guarded] = offerTools([{ ...toolOf("read"), approval: "operator" }], handleReadOnlyCalls, ANYBODY);
    expect(await guarded?.execute({ id: "7" }, options)).toMatch(/requires a ticket/);
  });
});

describe("a tool with bound arguments", () => {
  const orders: CallableTool = {
    ...toolOf("read"),
    parameters: { type: "object", properties: { note: { type: "string" } } },
    bind: { id: "customer.userId" },
  };

  function callAs(tool: CallableTool, customer: ToolCustomer) {
    const asked: RequestedCall[] = [];
    const refused: string[] = [];
    const [offered] = offerTools(
      [tool],
      (call) => {
        asked.push(call);
        return Promise.resolve("made");
      },
      { customer, onRefused: ({ name }) => refused.push(name) },
    );
    return { asked, refused, call: (input: unknown) => offered?.execute(input, options) };
  }

  test("gets the proven value, whatever the model sends under that name", async () => {
    const { asked, call } = callAs(orders, { isAnonymous: false, values: { "customer.userId": "u-7" } });
    await call({ id: "somebody else", note: "n" });
    expect(asked[0]?.arguments).toEqual({ id: "u-7", note: "n" });
  });

  test("is not called where the conversation has no such value", async () => {
    const { asked, refused, call } = callAs(orders, NO_CONVERSATION);
    expect(await call({ id: "u-7" })).toMatch(/no verified customer\.userId/);
    expect([asked, refused]).toEqual([[], ["read"]]);
  });

  test("is not called for an anonymous customer if it could show anybody's data, unless an operator approves it", async () => {
    const anonymous = { isAnonymous: true, values: {} };
    const unbound: CallableTool = { ...toolOf("read"), anonymous: "refuse" };
    expect(await callAs(unbound, anonymous).call({ id: "7" })).toBe(REFUSED);
    expect(await callAs({ ...unbound, anonymous: "allow" }, anonymous).call({ id: "7" })).toBe("made");
    expect(await callAs({ ...unbound, approval: "operator" }, anonymous).call({ id: "7" })).toBe("made");
    expect(await callAs(unbound, NO_CONVERSATION).call({ id: "7" })).toBe("made");
  });
});

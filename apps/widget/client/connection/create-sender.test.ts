import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { createSender } from "./create-sender.ts";
import type { OutboxItem } from "./outbox.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A sender with two messages to send, over a line that says nothing back. */
function start() {
  const item = (id: string): OutboxItem => ({
    message: { text: id, clientMessageId: id },
    files: [],
    at: 0,
    fault: null,
  });
  let items = [item("1"), item("2")];
  const sent: string[] = [];
  const failed: string[] = [];
  let restarts = 0;
  let isOnline = true;
  const idOf = ({ message }: OutboxItem) => message.clientMessageId;
  const sender = createSender(
    {
      isOnline: () => isOnline,
      send(_type, data) {
        sent.push(String((data as { clientMessageId?: unknown }).clientMessageId));
        return true;
      },
      restart() {
        restarts++;
        // As the line does: it goes away, and comes back.
        sender.hold();
        sender.flush();
      },
    },
    {
      list: () => items,
      put: (changed) => void (items = items.map((other) => (idOf(other) === idOf(changed) ? changed : other))),
      remove: (id) => void (items = items.filter((other) => idOf(other) !== id)),
    },
    (key, error) => failed.push(`${key}: ${error}`),
  );
  return {
    sender,
    sent,
    failed,
    restarts: () => restarts,
    setOnline: (on: boolean) => void (isOnline = on),
  };
}

test("one message is under way at a time, and the next one goes when the server has it", () => {
  const { sender, sent } = start();
  sender.flush();
  sender.flush();
  expect(sent).toEqual(["1"]);
  expect(sender.settle("1")).toBe(true);
  sender.flush();
  expect(sent).toEqual(["1", "2"]);
  expect(sender.settle("1")).toBe(false);
});

test("a message that stays without an answer is sent again over other lines, and has failed after five tries", () => {
  const { sender, sent, failed, restarts } = start();
  sender.flush();
  jest.advanceTimersByTime(49_999);
  expect({ sent, failed, restarts: restarts() }).toEqual({ sent: ["1", "1", "1", "1", "1"], failed: [], restarts: 4 });
  jest.advanceTimersByTime(1);
  expect({ sent: sent.slice(5), failed, restarts: restarts() }).toEqual({
    sent: ["2"],
    failed: ["1: faultOther"],
    restarts: 4,
  });
});

test("a message that the server wants later waits so long, and those after it wait too", () => {
  const { sender, sent, failed } = start();
  sender.flush();
  sender.refuse("1", "faultTooFast", 30);
  jest.advanceTimersByTime(29_999);
  expect(sent).toEqual(["1"]);
  jest.advanceTimersByTime(1);
  expect({ sent, failed }).toEqual({ sent: ["1", "1"], failed: [] });
});

test("nothing is sent without a line, and a word about a message that is not under way changes nothing", () => {
  const { sender, sent, failed, setOnline } = start();
  setOnline(false);
  sender.flush();
  sender.refuse("1", "faultRefused");
  expect({ sent, failed }).toEqual({ sent: [], failed: [] });
});

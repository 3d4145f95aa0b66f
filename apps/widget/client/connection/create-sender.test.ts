import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { createSender } from "./create-sender.ts";
import type { OutboxItem } from "./outbox.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Starts a sender with two messages, over a connection without responses. */
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
        // Like the connection: it drops, and is restored.
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

test("one message is in progress at a time, and the next one follows when the server has it", () => {
  const { sender, sent } = start();
  sender.flush();
  sender.flush();
  expect(sent).toEqual(["1"]);
  expect(sender.settle("1")).toBe(true);
  sender.flush();
  expect(sent).toEqual(["1", "2"]);
  expect(sender.settle("1")).toBe(false);
});

test("a message without a response is sent again over other connections, and fails after five attempts", () => {
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

test("a message that the server defers waits for the requested time, and so do later ones", () => {
  const { sender, sent, failed } = start();
  sender.flush();
  sender.refuse("1", "faultTooFast", 30);
  jest.advanceTimersByTime(29_999);
  expect(sent).toEqual(["1"]);
  jest.advanceTimersByTime(1);
  expect({ sent, failed }).toEqual({ sent: ["1", "1"], failed: [] });
});

test("nothing is sent without a connection, and a response for another message changes nothing", () => {
  const { sender, sent, failed, setOnline } = start();
  setOnline(false);
  sender.flush();
  sender.refuse("1", "faultRefused");
  expect({ sent, failed }).toEqual({ sent: [], failed: [] });
});

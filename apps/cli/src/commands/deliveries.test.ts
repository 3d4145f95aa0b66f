import { expect, test } from "@jest/globals";
import type { DeliveryItem } from "@svc/contracts";
import { describeDelivery } from "./deliveries.ts";
import { createTerminal } from "../terminal.ts";

const ID = "01890a5d-ac96-774b-bcce-b302099a8057";
const AT = "2026-11-21T10:00:00.123Z";
const stream = { write: () => undefined };
const terminal = createTerminal({ stdout: stream, stderr: stream, isJson: false, env: {} });

/** Returns the lines of one delivery. */
function linesOf(changes: Partial<DeliveryItem>): string[] {
  const item: DeliveryItem = {
    id: ID,
    type: "message.completed",
    chatId: "order-1",
    ticketId: ID,
    messageId: ID,
    webhookId: null,
    eventId: null,
    url: "https://example.com/hook",
    state: "pending",
    attempts: [],
    nextAt: null,
    createdAt: AT,
    ...changes,
  };
  return describeDelivery(item, terminal.paint).split("\n");
}

test("shows a delivery with its URL, its last attempt and its next one", () => {
  const attempt = { at: AT, status: 500, ms: 12, error: "the receiver responded with 500" };
  const lines = linesOf({ attempts: [attempt, attempt], nextAt: "2026-11-21T10:00:30Z" });
  expect(lines.slice(0, 2)).toEqual(["message.completed of 2026-11-21T10:00:00Z", "https://example.com/hook"]);
  expect(lines.slice(2).join(" ")).toBe(
    "2 attempts, the last at 2026-11-21T10:00:00Z: the receiver responded with 500; next attempt at 2026-11-21T10:00:30Z",
  );
});

test.each<[string, Partial<DeliveryItem>, string]>([
  ["not attempted yet", { nextAt: AT }, "no attempts yet; next attempt at 2026-11-21T10:00:00Z"],
  [
    "delivered",
    { state: "delivered", attempts: [{ at: AT, status: 204, ms: 3, error: null }] },
    "1 attempt at 2026-11-21T10:00:00Z: status 204",
  ],
  [
    "being tried",
    { attempts: [{ at: AT, status: null, ms: null, error: null }] },
    "1 attempt at 2026-11-21T10:00:00Z: in progress",
  ],
])("a delivery that is %s says so", (_, changes, text) => {
  expect(linesOf(changes).slice(2).join(" ")).toBe(text);
});

test("escapes URLs and errors for the terminal", () => {
  const attempts = [{ at: AT, status: null, ms: 1, error: "\u001b[2J\u202enothing\nmore" }];
  const lines = linesOf({ url: "https://example.com/\u001b]0;title\u0007x", attempts }).join("\n");
  expect(lines).toContain("https://example.com/x\n");
  expect(lines).toMatch(/<U\+202E>nothing\s+more/);
  expect(lines).not.toContain("\u001b");
});

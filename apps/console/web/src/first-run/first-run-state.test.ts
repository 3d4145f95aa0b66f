import { expect, test } from "@jest/globals";
import type { ChannelItem, KbItem, KeyItem } from "@svc/contracts";
import { isReachable, isTaught } from "./first-run-state.ts";

const kb = (name: string, documents: number, failed = 0) => ({ name, documents, failed }) as KbItem;
const channel = (id: string, enabled: boolean, allowedOrigins: string[] = []) =>
  ({ id, enabled, config: { allowedOrigins } }) as unknown as ChannelItem;
const key = (createdBy: string, revokedAt: string | null = null) => ({ createdBy, revokedAt }) as KeyItem;

test("the service's own guide does not count as knowledge, nor does an empty knowledge base", () => {
  expect(isTaught([kb("guide", 30), kb("Knowledge", 0)])).toBe(false);
  expect(isTaught([kb("guide", 30), kb("empty", 0), kb("Knowledge", 1)])).toBe(true);
  expect(isTaught([kb("Knowledge", 2, 2)])).toBe(false);
});

test("customers can write through the widget and the messenger, and through the API with a key created by an operator", () => {
  const api = channel("api", true);
  expect(isReachable([api, channel("widget", false)], [key("initialisation")])).toBe(false);
  expect(isReachable([api, channel("widget", true)], [])).toBe(false);
  expect(isReachable([api, channel("widget", true, ["https://shop.example.com"])], [])).toBe(true);
  expect(isReachable([api, channel("messenger", true)], [])).toBe(true);
  expect(isReachable([api], [key("operator:1", "2026-01-01T00:00:00Z")])).toBe(false);
  expect(isReachable([api], [key("operator:1")])).toBe(true);
  expect(isReachable([channel("api", false)], [key("operator:1")])).toBe(false);
});

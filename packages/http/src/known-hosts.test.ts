import { expect, test } from "@jest/globals";
import { createKnownHosts } from "./known-hosts.ts";

const publicUrls = ["https://console.example.com"];

test.each([
  ["127.0.0.1", "localhost:31418", true],
  ["127.0.0.1", "[::1]:31418", true],
  ["127.0.0.1", "console.example.com", true],
  ["127.0.0.1", "192.0.2.7:31418", false],
  ["0.0.0.0", "192.0.2.7:31418", true],
  ["0.0.0.0", "evil.example:31418", false],
  ["192.0.2.7", "192.0.2.7:31418", true],
  ["127.0.0.1", "localhost/evil", false],
  ["127.0.0.1", "localhost@evil.example", false],
  ["127.0.0.1", "", false],
  ["127.0.0.1", undefined, false],
])("a server bound to %s knows the host %s: %s", (bindHost, host, isKnown) => {
  expect(createKnownHosts({ bindHost, publicUrls }).isKnown(host)).toBe(isKnown);
});

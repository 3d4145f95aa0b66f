import { expect, test } from "@jest/globals";
import type { Request } from "express";
import { clientNetwork } from "./client-network.ts";

test.each([
  ["203.0.113.7", "203.0.113.0/24"],
  ["203.0.113.255", "203.0.113.0/24"],
  ["::ffff:203.0.113.7", "203.0.113.0/24"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
  ["::1", "0:0:0::/48"],
  ["junk", null],
  ["", null],
])("a request from %j comes from the network %j", (ip, network) => {
  expect(clientNetwork({ ip, socket: {} } as unknown as Request)).toBe(network);
});

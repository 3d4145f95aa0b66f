import { describe, expect, test } from "@jest/globals";
import { classifyAddress, normalizeAddress } from "./classify-address.ts";

describe("classifyAddress", () => {
  test.each(["1.1.1.1", "93.184.215.14", "172.32.0.1", "2606:4700::1111", "2a00:1450:4001:81b::200e"])(
    "%s is public",
    (address) => expect(classifyAddress(address)).toBe("public"),
  );

  test.each(["127.0.0.1", "127.255.255.254", "::1", "0:0:0:0:0:0:0:1"])("%s is loopback", (address) =>
    expect(classifyAddress(address)).toBe("loopback"),
  );

  test.each([
    ["10.0.0.1", "private"],
    ["172.16.0.1", "private"],
    ["192.168.1.1", "private"],
    ["169.254.169.254", "the metadata service of most clouds"],
    ["100.100.100.200", "the metadata service of Alibaba Cloud, in carrier-grade NAT"],
    ["192.0.0.192", "the metadata service of Oracle Cloud"],
    ["198.18.0.1", "benchmarks"],
    ["203.0.113.7", "documentation"],
    ["240.0.0.1", "reserved"],
    ["fc00::1", "unique local"],
    ["fd00:ec2::254", "the metadata service of AWS over IPv6"],
    ["fe80::1", "link-local"],
    ["fec0::1", "site-local"],
    ["64:ff9b::7f00:1", "NAT64"],
    ["64:ff9b:1::a00:1", "local NAT64"],
    ["2002:7f00:1::", "6to4"],
    ["2001::1", "Teredo"],
    ["2001:db8::1", "documentation"],
    ["4000::1", "not given out"],
    ["5f00::1", "segment routing"],
  ])("%s is internal (%s)", (address) => expect(classifyAddress(address)).toBe("internal"));

  test.each([
    ["0.0.0.0", "unspecified"],
    ["0.1.2.3", "this network"],
    ["::", "unspecified"],
    ["::ffff:127.0.0.1", "mapped"],
    ["::ffff:8.8.8.8", "mapped"],
    ["::127.0.0.1", "compatible"],
    ["::7f00:1", "compatible, in hex"],
    ["::ffff:0:127.0.0.1", "translated"],
    ["224.0.0.1", "multicast"],
    ["ff02::1", "multicast"],
    ["255.255.255.255", "broadcast"],
  ])("%s is never allowed (%s)", (address) => expect(classifyAddress(address)).toBe("never"));

  test("what is no address is an error and not public", () => {
    expect(() => classifyAddress("example.com")).toThrow();
  });
});

test("two spellings of an address are the same after normalizeAddress", () => {
  expect(normalizeAddress("2001:DB8:0:0:0:0:0:1")).toBe(normalizeAddress("2001:db8::1"));
});

import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { classifyAddress, createAddressGuard, normalizeAddress } from "./address-guard.ts";
import type { AddressPolicy } from "./address-guard.ts";
import { BlockedAddressError } from "./outbound-errors.ts";

const STRICT: AddressPolicy = { allow: [], allowLoopback: false, ownPorts: [] };

function lookupOf(...addresses: string[]): LookupFunction {
  const answer = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return (_name, _options, callback) => callback(null, answer);
}

type CheckResult = { readonly error: Error | null; readonly addresses: string | LookupAddress[] };

/** Checks a connection to this URL. */
function check(policy: AddressPolicy, url: string, addresses: string[], own: string[] = []): CheckResult {
  const guard = createAddressGuard(policy, { lookup: lookupOf(...addresses), ownAddresses: () => own });
  let checked: CheckResult | undefined;
  guard.lookupFor(new URL(url))(new URL(url).hostname, { all: true }, (error, found) => {
    checked = { error, addresses: found };
  });
  if (checked === undefined) throw new Error("The look-up did not answer.");
  return checked;
}

describe("checkUrl lets through what may be public", () => {
  const guard = createAddressGuard(STRICT);
  test.each([
    "https://example.com/hook?x=1",
    "http://example.com:8080",
    "https://example.com./absolute",
    "https://1.1.1.1/",
    "http://[2606:4700::1111]/",
    "https://bücher.example/",
    "https://localhost.example.com/",
    "https://internal.example.com/",
  ])("%s", (url) => expect(guard.checkUrl(url)).toEqual({ ok: true }));
});

describe("checkUrl refuses by the text alone", () => {
  const guard = createAddressGuard(STRICT, {
    lookup: () => {
      throw new Error("The check of a URL must not look up names.");
    },
  });
  test.each([
    ["", "nothing"],
    ["example.com/hook", "no scheme"],
    ["http://", "no host"],
    ["ftp://example.com/", "another scheme"],
    ["file:///etc/passwd", "a file"],
    ["gopher://example.com/", "another scheme"],
    ["data:text/plain,x", "data"],
    ["ws://example.com/", "a socket"],
    ["https://user@example.com/", "a user name"],
    ["https://user:pass@example.com/", "user info"],
    ["https://:pass@example.com/", "a password"],
    ["https://example.com@127.0.0.1/", "user info that looks like a host"],
    ["http://127.0.0.1/", "loopback"],
    ["http://127.0.0.1./", "a trailing dot"],
    ["http://127.1/", "a short form"],
    ["http://127.0.1/", "a short form"],
    ["http://2130706433/", "decimal"],
    ["http://0x7f000001/", "hex"],
    ["http://0x7f.0.0.1/", "hex in part"],
    ["http://017700000001/", "octal"],
    ["http://0177.0.0.1/", "octal in part"],
    ["http://%31%32%37.0.0.1/", "percent-encoded"],
    ["http://１２７.０.０.１/", "full width digits"],
    ["http://127。0。0。1/", "ideographic full stops"],
    ["http://\t127.0.0.1/", "a tab"],
    ["http:\\\\127.0.0.1\\", "backslashes"],
    ["http://0/", "unspecified"],
    ["http://0.0.0.0/", "unspecified"],
    ["http://[::]/", "unspecified"],
    ["http://[::1]/", "loopback"],
    ["http://[::ffff:127.0.0.1]/", "mapped"],
    ["http://[::ffff:7f00:1]/", "mapped, in hex"],
    ["http://[::127.0.0.1]/", "compatible"],
    ["http://[64:ff9b::127.0.0.1]/", "NAT64"],
    ["http://[2002:7f00:1::]/", "6to4"],
    ["http://10.0.0.1/", "private"],
    ["http://192.168.0.1/", "private"],
    ["http://169.254.169.254/latest/meta-data/", "cloud metadata"],
    ["http://2852039166/", "cloud metadata, decimal"],
    ["http://[fd00:ec2::254]/", "cloud metadata"],
    ["http://metadata.google.internal/", "cloud metadata by name"],
    ["http://metadata.google.internal./", "cloud metadata by name, with a dot"],
    ["http://[fe80::1]/", "link-local"],
    ["http://localhost/", "localhost"],
    ["http://LOCALHOST/", "localhost in capitals"],
    ["http://localhost./", "localhost with a dot"],
    ["http://localhost../", "localhost with dots"],
    ["http://ｌocalhost/", "localhost in full width"],
    ["http://a.b.localhost/", "below localhost"],
    ["http://localhost.localdomain/", "localhost by its old name"],
    ["http://ip6-localhost/", "localhost of the hosts file"],
    ["http://redis:6379/", "a single label"],
    ["http://postgres./", "a single label with a dot"],
    ["http://printer.local/", "mDNS"],
    ["http://router.home.arpa/", "a home network"],
  ])("%j (%s)", (url) => {
    const check = guard.checkUrl(url);
    expect(check.ok).toBe(false);
    if (!check.ok) expect(check.reason).toMatch(/^[A-Z].*\.$/);
  });

  test("never throws, whatever the text", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.webUrl()), (text) => typeof guard.checkUrl(text).ok === "boolean"));
  });
});

describe("every spelling of a refused IPv4 address is refused", () => {
  const guard = createAddressGuard(STRICT);
  const refused = fc.oneof(
    fc.tuple(fc.constantFrom(0, 10, 127, 224, 255), fc.nat(255), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(192), fc.constant(168), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(169), fc.constant(254), fc.nat(255), fc.nat(255)),
  );
  const part = fc.constantFrom(
    (value: number) => String(value),
    (value: number) => `0x${value.toString(16)}`,
    (value: number) => `0${value.toString(8)}`,
  );
  test("in decimal, hex and octal, in four parts and in one, and within IPv6", () => {
    fc.assert(
      fc.property(refused, part, ([a, b, c, d], spell) => {
        const whole = ((a * 256 + b) * 256 + c) * 256 + d;
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        const hosts = [
          [a, b, c, d].map(spell).join("."),
          spell(whole),
          ...["::ffff:", "::", "64:ff9b::", "2002:"].map((prefix) =>
            prefix === "2002:" ? `[2002:${hex}::]` : `[${prefix}${hex}]`,
          ),
        ];
        for (const host of hosts) expect(guard.checkUrl(`http://${host}/`).ok).toBe(false);
      }),
    );
  });
});

describe("lookupFor", () => {
  test("hands on the addresses of a public name", () => {
    expect(check(STRICT, "https://example.com/", ["1.1.1.1", "2606:4700::1111"])).toEqual({
      error: null,
      addresses: [
        { address: "1.1.1.1", family: 4 },
        { address: "2606:4700::1111", family: 6 },
      ],
    });
  });

  test("gives a single address to who asks for one", () => {
    const guard = createAddressGuard(STRICT, { lookup: lookupOf("1.1.1.1") });
    const found: unknown[] = [];
    guard.lookupFor(new URL("https://example.com"))("example.com", {}, (...answer) => found.push(answer));
    expect(found).toEqual([[null, "1.1.1.1", 4]]);
  });

  test.each(["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1"])(
    "refuses a name that resolves to %s, without telling so",
    (address) => {
      const { error, addresses } = check(STRICT, "https://rebound.example.com/", [address]);
      expect(error).toBeInstanceOf(BlockedAddressError);
      expect(error?.message).not.toContain(address);
      expect(addresses).toEqual([]);
    },
  );

  test("refuses a name when only one of its addresses is not public", () => {
    expect(check(STRICT, "https://mixed.example.com/", ["1.1.1.1", "10.0.0.1"]).error).toBeInstanceOf(
      BlockedAddressError,
    );
  });

  test("a name without an address is ENOTFOUND", () => {
    expect(check(STRICT, "https://empty.example.com/", []).error).toMatchObject({ code: "ENOTFOUND" });
  });

  test("passes on the resolver's error", () => {
    const failure = Object.assign(new Error("away"), { code: "EAI_AGAIN" });
    const guard = createAddressGuard(STRICT, { lookup: (_name, _options, callback) => callback(failure, []) });
    const found: unknown[] = [];
    guard.lookupFor(new URL("https://example.com"))("example.com", {}, (error) => found.push(error));
    expect(found).toEqual([failure]);
  });
});

describe("policy.allow", () => {
  const policy: AddressPolicy = {
    allow: ["hooks.internal", "Receiver", "10.1.0.0/16", "192.168.7.7", "fd00:1::/64"],
    allowLoopback: false,
    ownPorts: [],
  };
  const guard = createAddressGuard(policy);

  test.each([
    "http://hooks.internal/x",
    "http://hooks.internal./x",
    "http://receiver:8080/",
    "http://10.1.2.3/",
    "http://0x0a010203/",
    "http://192.168.7.7/",
    "http://[fd00:1::5]/",
  ])("%s is named, so it passes", (url) => expect(guard.checkUrl(url)).toEqual({ ok: true }));

  test.each([
    "http://other.internal/",
    "http://sub.hooks.internal/",
    "http://10.2.0.1/",
    "http://192.168.7.8/",
    "http://[fd00:2::5]/",
    "http://[::ffff:10.1.2.3]/",
    "http://localhost/",
    "http://127.0.0.1/",
  ])("%s is not named, so it does not pass", (url) => expect(guard.checkUrl(url).ok).toBe(false));

  test("a named host may resolve to a private address, another one may not", () => {
    expect(check(policy, "http://hooks.internal/", ["172.16.0.9"]).error).toBeNull();
    expect(check(policy, "http://hooks.example.com/", ["172.16.0.9"]).error).toBeInstanceOf(BlockedAddressError);
  });

  test("a named network holds for names that resolve into it", () => {
    expect(check(policy, "http://hooks.example.com/", ["10.1.9.9"]).error).toBeNull();
  });

  test("not even a network of everything allows addresses in disguise", () => {
    const everything = createAddressGuard({ allow: ["0.0.0.0/0", "::/0"], allowLoopback: true, ownPorts: [] });
    expect(everything.checkUrl("http://10.0.0.1/").ok).toBe(true);
    expect(everything.checkUrl("http://[::ffff:127.0.0.1]/").ok).toBe(false);
    expect(everything.checkUrl("http://0.0.0.0/").ok).toBe(false);
  });

  test.each(["", "10.0.0.0/33", "10.0.0", "http://host/", "host:80", "*.example.com", "a b", "user@host"])(
    "the entry %j is named in an error, since a typing error must not pass silently",
    (entry) => {
      expect(() => createAddressGuard({ ...STRICT, allow: [entry] })).toThrow(`"${entry}"`);
    },
  );
});

describe("policy.allowLoopback", () => {
  const guard = createAddressGuard({ ...STRICT, allowLoopback: true });

  test.each(["http://127.0.0.1:3000/", "http://[::1]:3000/", "http://localhost:3000/", "http://app.localhost:3000/"])(
    "allows %s",
    (url) => expect(guard.checkUrl(url)).toEqual({ ok: true }),
  );

  test.each(["http://0.0.0.0:3000/", "http://[::ffff:127.0.0.1]:3000/", "http://10.0.0.1/", "http://redis/"])(
    "does not allow %s",
    (url) => expect(guard.checkUrl(url).ok).toBe(false),
  );

  test("holds for names that resolve to loopback", () => {
    const policy = { ...STRICT, allowLoopback: true };
    expect(check(policy, "http://dev.example.com/", ["127.0.0.1"]).error).toBeNull();
  });
});

describe("policy.ownPorts", () => {
  const policy: AddressPolicy = {
    allow: ["10.0.0.0/8", "localhost", "db.internal", "127.0.0.0/8"],
    allowLoopback: true,
    ownPorts: [80, 5432],
  };
  const guard = createAddressGuard(policy);

  test.each([
    "http://127.0.0.1:5432/",
    "http://127.9.9.9:5432/",
    "http://2130706433:5432/",
    "http://[::1]:5432/",
    "http://localhost:5432/",
    "http://localhost.:5432/",
    "http://10.0.0.5:5432/",
    "http://localhost/",
  ])("%s is refused although its host is allowed", (url) => expect(guard.checkUrl(url).ok).toBe(false));

  test("another port of an allowed host is not refused", () => {
    expect(guard.checkUrl("http://localhost:3000/")).toEqual({ ok: true });
    expect(guard.checkUrl("http://10.0.0.5:3000/")).toEqual({ ok: true });
  });

  test("the same port of a public host is not refused", () => {
    expect(check(policy, "http://example.com:5432/", ["1.1.1.1"]).error).toBeNull();
  });

  test("a name that resolves to this machine is refused, even at a public address of it", () => {
    expect(check(policy, "http://db.internal:5432/", ["10.0.0.5"]).error).toBeInstanceOf(BlockedAddressError);
    expect(check(policy, "http://example.com:5432/", ["1.1.1.1"], ["1.1.1.1"]).error).toBeInstanceOf(
      BlockedAddressError,
    );
    expect(check(policy, "http://example.com:443/", ["1.1.1.1"], ["1.1.1.1"]).error).toBeNull();
  });
});

describe("publicOnly: nothing counts that the policy allows beyond public addresses", () => {
  const guard = createAddressGuard(
    { allow: ["10.0.0.0/8", "wiki.internal", "localhost", "docs.example.com"], allowLoopback: true, ownPorts: [] },
    { lookup: (_name, _options, callback) => callback(null, [{ address: "10.0.0.5", family: 4 }]) },
  );

  test.each(["http://10.0.0.5/", "http://wiki.internal/", "http://localhost/", "http://127.0.0.1/", "http://[::1]/"])(
    "%s",
    (url) => {
      expect(guard.checkUrl(url)).toEqual({ ok: true });
      expect(guard.checkUrl(url, { publicOnly: true }).ok).toBe(false);
    },
  );

  test("nor the address of an allowed name", () => {
    const url = new URL("http://docs.example.com/");
    expect(guard.checkUrl(url, { publicOnly: true })).toEqual({ ok: true });
    const errors = [{}, { publicOnly: true }].map((options) => {
      let found: Error | null = null;
      guard.lookupFor(url, options)(url.hostname, {}, (error) => (found = error));
      return found;
    });
    expect(errors).toEqual([null, expect.any(BlockedAddressError)]);
  });

  test("and public addresses stay allowed", () => {
    expect(guard.checkUrl("http://1.1.1.1/", { publicOnly: true })).toEqual({ ok: true });
  });
});

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

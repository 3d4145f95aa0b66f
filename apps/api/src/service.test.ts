import { describe, expect, test } from "@jest/globals";
import type { Listening } from "@svc/http";
import { testLog } from "@svc/testing";
import { createBinding } from "./service.ts";

describe("createBinding", () => {
  /** Creates a server that records the host it should listen on, and fails if `canListen` is false. */
  function fakeServer(manners: { canListen: boolean }) {
    const hosts: string[] = [];
    const listening = {
      port: 1,
      rebind(host: string) {
        hosts.push(host);
        return manners.canListen ? Promise.resolve() : Promise.reject(new Error("Port 1 is taken."));
      },
    } as unknown as Listening;
    return { hosts, listening };
  }

  test("a server changes its host once when the settings change", async () => {
    const { hosts, listening } = fakeServer({ canListen: true });
    const binding = createBinding(testLog());
    await binding.follow("0.0.0.0");
    binding.attach(listening, "127.0.0.1");
    for (const host of ["127.0.0.1", "0.0.0.0", "0.0.0.0", "127.0.0.1"]) await binding.follow(host);
    expect(hosts).toEqual(["0.0.0.0", "127.0.0.1"]);
    expect([binding.host(), binding.findProblem()]).toEqual(["127.0.0.1", null]);
  });

  test("an unavailable host keeps the previous one and is the channel's error until the settings change", async () => {
    const manners = { canListen: false };
    const { hosts, listening } = fakeServer(manners);
    const binding = createBinding(testLog());
    binding.attach(listening, "127.0.0.1");
    await binding.follow("0.0.0.0");
    await binding.follow("0.0.0.0");
    // Each attempt closes the port for a moment.
    expect(hosts).toEqual(["0.0.0.0"]);
    expect(binding.host()).toBe("127.0.0.1");
    expect(binding.findProblem()).toMatch(/Cannot listen on 0\.0\.0\.0; still listening on 127\.0\.0\.1\..*taken/);
    await binding.follow("127.0.0.1");
    expect(binding.findProblem()).toBeNull();
  });
});

import { describe, expect, test } from "@jest/globals";
import { QueryClient } from "@tanstack/react-query";
import type { Session } from "../api/session.ts";
import { clearDataOfOthers } from "./preferences.ts";

const sessionOf = (id: string): Session => ({
  ok: true,
  operator: {
    id,
    name: id,
    email: `${id}@example.com`,
    hasPassword: true,
    onDuty: false,
    signature: "",
    publicName: "",
    picture: "",
    roles: [],
  },
  projects: [],
  isAdministrator: false,
  csrf: "x",
  expiresAt: "2026-11-23T00:00:00.000Z",
});

/** Opens a page that has read a ticket as Ann, and whose session then becomes each of `sessions`. */
function afterAnn(sessions: readonly (Session | null)[]) {
  const queryClient = new QueryClient();
  let notified = 0;
  clearDataOfOthers(queryClient, () => {
    notified += 1;
  });
  queryClient.setQueryData(["session"], sessionOf("ann"));
  queryClient.setQueryData(["ticket", "shop", "t1"], { subject: "Secret" });
  queryClient.setQueryData(["sign-in-ways"], { oidc: null });
  for (const session of sessions) queryClient.setQueryData(["session"], session);
  const keys = queryClient.getQueryCache().getAll();
  return { notified, kept: keys.map(({ queryKey }) => queryKey[0]) };
}

describe("data read for one operator", () => {
  test("is removed when the session ends, and when another operator signs in", () => {
    const nothing = { notified: 1, kept: ["session", "sign-in-ways"] };
    expect(afterAnn([null])).toEqual(nothing);
    expect(afterAnn([sessionOf("bob")])).toEqual(nothing);
    expect(afterAnn([null, sessionOf("ann")])).toEqual(nothing);
  });

  test("stays while the same operator continues, for example with a new password", () => {
    expect(afterAnn([sessionOf("ann")])).toEqual({ notified: 0, kept: ["session", "ticket", "sign-in-ways"] });
  });
});

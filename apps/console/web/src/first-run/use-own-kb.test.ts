import { expect, test } from "@jest/globals";
import type { Agent, KbItem } from "@svc/contracts";
import { giveOwnKb } from "./use-own-kb.ts";

const kb = (id: string, name: string) => ({ id, name }) as KbItem;
const agent = (kbIds: string[], description: string) => ({ kbIds, description }) as Agent;
const KBS = [kb("k1", "guide"), kb("k2", "Knowledge"), kb("k3", "handbook")];
const ABOUT_GUIDE = "Answers questions about this service from its guide.";

test("an agent that knew only the service's guide answers from one's own documents alone", () => {
  expect(giveOwnKb(agent(["k1"], ABOUT_GUIDE), "k2", KBS)).toEqual({ kbIds: ["k2"], description: "" });
  expect(giveOwnKb(agent(["k1"], "Helps everybody"), "k2", KBS)).toEqual({ kbIds: ["k2"] });
});

test("what somebody has given an agent, it keeps", () => {
  expect(giveOwnKb(agent(["k1", "k3"], ABOUT_GUIDE), "k2", KBS)).toEqual({ kbIds: ["k1", "k3", "k2"] });
  expect(giveOwnKb(agent([], "Fixed"), "k2", KBS)).toEqual({ kbIds: ["k2"] });
});

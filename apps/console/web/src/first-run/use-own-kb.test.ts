import { expect, test } from "@jest/globals";
import type { Agent, KbItem } from "@svc/contracts";
import { assignOwnKb } from "./use-own-kb.ts";

const kb = (id: string, name: string) => ({ id, name }) as KbItem;
const agent = (kbIds: string[], description: string) => ({ kbIds, description }) as Agent;
const KBS = [kb("k1", "guide"), kb("k2", "Knowledge"), kb("k3", "handbook"), kb("k4", "demo shop")];
const ABOUT_GUIDE = "Answers questions about this service from its guide.";

test("an agent that used only the service's guide and the demo shop answers only from the project's own documents", () => {
  expect(assignOwnKb(agent(["k1"], ABOUT_GUIDE), "k2", KBS)).toEqual({ kbIds: ["k2"], description: "" });
  expect(assignOwnKb(agent(["k1"], "Helps everybody"), "k2", KBS)).toEqual({ kbIds: ["k2"] });
  expect(assignOwnKb(agent(["k1", "k4"], "Helps everybody"), "k2", KBS)).toEqual({ kbIds: ["k2"] });
});

test("the first agent gets the default threshold for the project's own documents, unless it was changed", () => {
  const withThreshold = (autoThreshold: number) => ({ ...agent(["k1"], ABOUT_GUIDE), autoThreshold });
  expect(assignOwnKb(withThreshold(0.5), "k2", KBS)).toMatchObject({ autoThreshold: 0.7 });
  expect(assignOwnKb(withThreshold(0.4), "k2", KBS)).not.toHaveProperty("autoThreshold");
});

test("an agent's own settings are kept", () => {
  expect(assignOwnKb(agent(["k1", "k3"], ABOUT_GUIDE), "k2", KBS)).toEqual({ kbIds: ["k1", "k3", "k2"] });
  expect(assignOwnKb(agent([], "Fixed"), "k2", KBS)).toEqual({ kbIds: ["k2"] });
});

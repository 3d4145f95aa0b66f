import { expect, test } from "@jest/globals";
import { answerQuestion } from "@svc/agents";
import type { Agent } from "@svc/contracts";
import { LANGUAGES } from "../../../apps/widget/client/locales/create-texts.ts";
import type { Locale } from "../../../apps/widget/client/locales/strings.ts";

const AGENT: Agent = {
  id: "a",
  name: "assistant",
  description: "",
  instructions: "",
  model: null,
  kbIds: [],
  examples: [],
  reviewPolicy: "auto",
  autoThreshold: 0.5,
  fixedReply: null,
  assignment: "none",
  tools: [],
  enabled: true,
  version: 1,
};

const search = () => Promise.reject(new Error("nothing is searched for who asks for a person"));

test.each(LANGUAGES)("the text that the widget's handoff button sends in %s requests a person", async (language) => {
  const { default: locale } = (await import(`../../../apps/widget/client/locales/${language}.json`, {
    with: { type: "json" },
  })) as {
    default: Locale;
  };
  const answer = await answerQuestion({ agent: AGENT, text: locale.strings.personMessage, search });
  expect(answer.needsPerson).toBe(true);
});

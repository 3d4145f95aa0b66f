import { describe, expect, test } from "@jest/globals";
import { textForCustomer } from "./language-of.ts";
import type { Run } from "./run.ts";

const handoff = (text: string, documents: string[] | null, replyTimes = {}) =>
  textForCustomer(
    {
      message: { text, channelId: "api", channelMeta: {} },
      project: {
        handoffText: "A person will reply.",
        handoffTexts: { es: "Una persona te responderá." },
        businessHours: null,
        replyTimeMinutes: null,
        ...replyTimes,
      },
      ticket: null,
      said: null,
      passages: documents === null ? null : { languages: documents },
    } as unknown as Run,
    "handoff",
  );

describe("the language of the handoff text", () => {
  test("is that of a message in a clear language, whatever the language of the documents", () => {
    expect(handoff("¿Dónde está mi pedido? No lo encuentro.", ["en"])).toBe("Una persona te responderá.");
  });

  test("is the most likely language of an unclear message if the documents are in it too", () => {
    expect(handoff("como busco un paquete por su nombre?", ["es", "en"])).toBe("Una persona te responderá.");
    expect(handoff("como busco un paquete por su nombre?", null)).toBe("A person will reply.");
    expect(handoff("como busco un paquete por su nombre?", ["en"])).toBe("A person will reply.");
    expect(handoff("maximum number of columns in a table?", ["es"])).toBe("A person will reply.");
  });
});

test("the handoff text is followed by the expected reply in its language", () => {
  const open = { replyTimeMinutes: 120 };
  expect(handoff("¿Dónde está mi pedido? No lo encuentro.", null, open)).toBe(
    "Una persona te responderá.\n\nTiempo de respuesta habitual: 2 horas.",
  );
  expect(handoff("Hmm", null, open)).toBe("A person will reply.\n\nWe usually reply within 2 hours.");
  const businessHours = { timeZone: "UTC", week: {}, holidays: [] };
  expect(handoff("Hmm", null, { ...open, businessHours })).toBe("A person will reply.");
  const silentInSpanish = { ...open, handoffTexts: { es: "" } };
  expect(handoff("¿Dónde está mi pedido? No lo encuentro.", null, silentInSpanish)).toBe("");
});

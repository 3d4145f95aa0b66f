import { describe, expect, test } from "@jest/globals";
import { replyToSmallTalk } from "./small-talk.ts";

describe("replyToSmallTalk", () => {
  test.each([
    ["Hello", "greeting", "Hello!"],
    ["hi there!! 👋", "greeting", "Hello!"],
    ["Good morning everyone", "greeting", "Hello!"],
    ["Guten Tag!", "greeting", "Hallo!"],
    ["Bonjour à tous", "greeting", "Bonjour"],
    ["¡Hola! ¿Qué tal?", "greeting", "¡Hola!"],
    ["thanks a lot!", "thanks", "You're welcome!"],
    ["ok, thank you very much for your help", "thanks", "You're welcome!"],
    ["No thanks", "thanks", "You're welcome!"],
    ["Vielen Dank für die Hilfe", "thanks", "Gern geschehen!"],
    ["Merci beaucoup.", "thanks", "Avec plaisir"],
    ["muchas gracias", "thanks", "¡De nada!"],
    ["Bye!", "goodbye", "Goodbye"],
    ["Tschüss", "goodbye", "Auf Wiedersehen"],
    ["Au revoir et bonne journée", "goodbye", "Au revoir"],
    ["Hasta luego", "goodbye", "¡Hasta luego"],
    ["Thanks, and goodbye!", "goodbye", "Goodbye"],
    ["Hallo, danke!", "thanks", "Gern geschehen!"],
  ])("%s is small talk (%s) and is answered in its language", (text, topic, beginning) => {
    const reply = replyToSmallTalk(text);
    expect(reply?.topic).toBe(topic);
    expect(reply?.text.startsWith(beginning)).toBe(true);
  });

  test.each([
    "Hello, how do I reset my password?",
    "Thanks, but it still does not work",
    "hi can you help me with backups",
    "Danke, aber wo finde ich die Rechnung?",
    "What does 'hello' mean in the settings?",
    "hello world example",
    "ok",
    "no",
    "great team",
    "👍",
    "?",
    "",
    "hello ".repeat(30),
  ])("%j says or asks something, or nothing at all", (text) => {
    expect(replyToSmallTalk(text)).toBeNull();
  });
});

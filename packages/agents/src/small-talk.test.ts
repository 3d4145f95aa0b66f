import { describe, expect, test } from "@jest/globals";
import { replyToSmallTalk } from "./small-talk.ts";
import { SMALL_TALK } from "./small-talk-phrases.ts";

const TWOFOLD = /^(?:dag|ciao|boa noite|bona nit|moikka|selamat malam|hej hej|moi moi)$/;

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

  test.each(Object.entries(SMALL_TALK))(
    "%s: each phrase is answered, in that language when the chat is in it",
    (language, words) => {
      for (const [topic, phrases] of Object.entries(words.phrases)) {
        for (const phrase of phrases.split(",")) {
          const reply = replyToSmallTalk(`${phrase.trim()}!`, { language });
          expect([phrase, reply?.language]).toEqual([phrase, language]);
          // Some phrases greet and part alike.
          if (reply?.topic !== topic) expect(phrase.trim()).toMatch(TWOFOLD);
        }
      }
    },
  );

  test("there are replies for every language that PostgreSQL has a stemmer for", () => {
    expect(Object.keys(SMALL_TALK).sort()).toEqual(
      "ar ca da de el en es eu fi fr ga hi hu hy id it lt ne nl no pt ro ru sr sv ta tr yi".split(" "),
    );
  });

  test.each([
    ["👍", undefined, "thanks", "en"],
    ["🙏🏽", "de", "thanks", "de"],
    ["❤️", "pl", "thanks", "pl"],
    ["?", undefined, "help", "en"],
    ["??", "de", "help", "de"],
    ["help", "de", "help", "de"],
    ["Hilfe!", undefined, "help", "de"],
    ["Can you help me?", undefined, "help", "en"],
    ["Dobrý den", undefined, "greeting", "cs"],
    ["Dzięki!", undefined, "thanks", "pl"],
    ["Дякую!", undefined, "thanks", "uk"],
    ["こんにちは", undefined, "greeting", "ja"],
    ["谢谢", undefined, "thanks", "zh"],
    ["감사합니다", undefined, "thanks", "ko"],
    ["Xin chào", undefined, "greeting", "vi"],
    ["ขอบคุณครับ", undefined, "thanks", "th"],
    ["תודה רבה", undefined, "thanks", "he"],
    ["سلام", "fa", "greeting", "fa"],
  ])("%s in a chat in %s is small talk (%s, %s)", (text, language, topic, replied) => {
    expect(replyToSmallTalk(text, { language })).toMatchObject({ topic, language: replied });
  });

  test.each([
    ["hi", undefined, "en"],
    ["hi", "de", "de"],
    ["Hey!", "pt-BR", "pt"],
    ["thanks", "sv", "sv"],
    ["hi", "pl", "pl"],
    ["hi", "xx", "en"],
    ["ciao", "de", "de"],
    ["ciao", undefined, "it"],
    ["hallo", "nl", "nl"],
    ["hallo", undefined, "de"],
    ["Hola", "ca", "ca"],
    ["Hola", undefined, "es"],
    ["Guten Tag", "en", "de"],
    ["Hi, danke!", "en", "de"],
    ["Merci", "de", "fr"],
  ])("%s in a chat in %s is answered in %s", (text, language, expected) => {
    expect(replyToSmallTalk(text, { language })?.language).toBe(expected);
  });

  test.each([
    ["Hello Anna", "greeting"],
    ["Hi Anna Maria, good morning 🌞", "greeting"],
    ["Guten Morgen Frau Meier!", "greeting"],
    ["Hi, how are you?", "greeting"],
    ["hellooooo", "greeting"],
    ["Thanks Peter!!! 🙏🙏", "thanks"],
    ["ok thank you, have a nice day :)", "goodbye"],
    ["Hi, thanks!", "thanks"],
    ["Спасибо, до свидания", "goodbye"],
    ["buenos dias", "greeting"],
    ["MERHABA", "greeting"],
  ])("%s: names, emoji, case, accents and punctuation change nothing (%s)", (text, topic) => {
    expect(replyToSmallTalk(text)?.topic).toBe(topic);
  });

  test.each([
    "Hello, how do I reset my password?",
    "Thanks, but it still does not work",
    "hi can you help me with backups",
    "Danke, aber wo finde ich die Rechnung?",
    "What does 'hello' mean in the settings?",
    "hello world example",
    "Hi, is it free?",
    "Hi What Now",
    "Bonjour, je voudrais un remboursement",
    "Hola, ¿cuánto cuesta?",
    "Привет, как отменить заказ?",
    "Merhaba, şifremi unuttum",
    "नमस्ते, मेरा ऑर्डर कहाँ है?",
    "Hi Anna, where is my order?",
    "ok",
    "no",
    "great team",
    "🚲",
    "…",
    "",
    "hello ".repeat(30),
  ])("%j says or asks something, or nothing at all", (text) => {
    expect(replyToSmallTalk(text)).toBeNull();
  });
});

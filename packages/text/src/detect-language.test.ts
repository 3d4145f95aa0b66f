import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { detectLanguage } from "./detect-language.ts";

describe("a sentence or two are recognised, surely", () => {
  test.each([
    ["ar", "كيف يمكنني إعادة تعيين كلمة المرور؟"],
    ["ca", "Bon dia, vaig fer una comanda la setmana passada i encara no l'he rebuda."],
    ["cs", "Dobrý den, minulý týden jsem si objednal zboží a stále jsem ho nedostal."],
    ["da", "Hvordan kan jeg ændre min adgangskode? Jeg kan ikke logge ind."],
    ["de", "Wie kann ich mein Passwort zurücksetzen?"],
    ["el", "Πώς μπορώ να αλλάξω τον κωδικό μου;"],
    ["en", "How do I reset my password?"],
    ["es", "¿Cómo puedo restablecer mi contraseña?"],
    ["et", "Kuidas ma saan oma parooli lähtestada?"],
    ["eu", "Egun on, joan den astean eskaera bat egin nuen eta oraindik ez dut jaso."],
    ["fa", "چگونه می‌توانم رمز عبور خود را بازنشانی کنم؟"],
    ["fi", "Miten voin vaihtaa salasanani?"],
    ["fr", "Comment puis-je changer mon mot de passe ?"],
    ["ga", "Conas is féidir liom mo phasfhocal a athshocrú?"],
    ["he", "איך אני יכול לאפס את הסיסמה שלי?"],
    ["hi", "मैं अपना पासवर्ड कैसे रीसेट करूँ?"],
    ["hu", "Hogyan állíthatom vissza a jelszavamat?"],
    ["hy", "Ինչպե՞ս կարող եմ վերականգնել գաղտնաբառը"],
    ["id", "Bagaimana cara mengatur ulang kata sandi saya?"],
    ["it", "Come posso reimpostare la mia password?"],
    ["ja", "パスワードをリセットするにはどうすればいいですか？"],
    ["ko", "비밀번호를 재설정하려면 어떻게 해야 하나요?"],
    ["lt", "Kaip galiu atkurti slaptažodį?"],
    ["ne", "म मेरो पासवर्ड कसरी रिसेट गर्न सक्छु?"],
    ["nl", "Hoe kan ik mijn wachtwoord opnieuw instellen?"],
    ["no", "Hvordan kan jeg endre passordet mitt? Jeg får ikke logget inn."],
    ["pl", "Jak mogę zmienić hasło?"],
    ["pt", "Como posso redefinir minha senha?"],
    ["ro", "Cum îmi pot reseta parola?"],
    ["ru", "Как мне сбросить пароль?"],
    ["sr", "Како могу да променим лозинку?"],
    ["sr", "Kako mogu da promenim lozinku?"],
    ["sv", "Hur återställer jag mitt lösenord?"],
    ["ta", "எனது கடவுச்சொல்லை எவ்வாறு மீட்டமைப்பது?"],
    ["th", "ฉันจะรีเซ็ตรหัสผ่านได้อย่างไร"],
    ["tr", "Şifremi nasıl sıfırlayabilirim?"],
    ["uk", "Як мені скинути пароль?"],
    ["yi", "ווי אזוי קען איך ענדערן מיין פאראל?"],
    ["zh", "如何重置我的密码？"],
  ])("%s: %s", (language, text) => {
    const detected = detectLanguage(text);
    expect(detected.language).toBe(language);
    expect(detected.confidence).toBeGreaterThanOrEqual(0.5);
  });
});

describe("what says nothing is unsure: en, or the hint", () => {
  test.each(["", "123 456", "😀", "OK", "iPhone 15", "https://example.com/datenschutz", "info@beispiel.de"])(
    "%j",
    (text) => {
      expect(detectLanguage(text).language).toBe("en");
      expect(detectLanguage(text).confidence).toBeLessThan(0.5);
      expect(detectLanguage(text, "de-AT").language).toBe("de");
    },
  );
});

describe("the hint", () => {
  test.each([
    ["hola", "ca"],
    ["hola", "es"],
    ["Printeren virker ikke", "da"],
    ["Printeren virker ikke", "nb"],
    ["La impressora no funciona", "ca"],
  ])("decides where languages are close: %s, %s", (text, hint) => {
    expect(detectLanguage(text, hint).language).toBe(hint === "nb" ? "no" : hint);
  });

  test("never turns a clear text into another language", () => {
    for (const hint of ["de", "fr", "ru", "ja", "xx", ""]) {
      expect(detectLanguage("How do I reset my password?", hint).language).toBe("en");
      expect(detectLanguage("Как мне сбросить пароль?", hint).language).toBe("ru");
    }
  });
});

test("foreign names and words do not turn a text", () => {
  expect(
    detectLanguage("We sat in a café near the Champs-Élysées and talked about the résumé that he sent to Zürich.")
      .language,
  ).toBe("en");
  expect(
    detectLanguage("Wir verwenden Microsoft Windows Server mit Active Directory. Was können wir tun?").language,
  ).toBe("de");
  expect(detectLanguage("Как установить Windows Server 2022 на VMware vSphere?").language).toBe("ru");
});

test("a long text is judged by more than its beginning", () => {
  const header = "Windows Server Active Directory VMware vSphere ".repeat(20);
  expect(
    detectLanguage(header + "Das ist ein langer deutscher Text, und er geht noch weiter. ".repeat(100)).language,
  ).toBe("de");
});

test("any text gets a language and a confidence from 0 to 1", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      const { language, confidence } = detectLanguage(text);
      expect(language).toMatch(/^[a-z]{2}$/);
      expect(confidence).toBeGreaterThanOrEqual(0);
      expect(confidence).toBeLessThanOrEqual(1);
    }),
  );
});

test("hostile texts are judged by a bounded part", () => {
  for (const part of ["a", "é", "a ", "@ ", "漢", "a'", "ж", " ", "\ud800", "://"]) {
    expect(detectLanguage(part.repeat(1_000_000 / part.length)).language).toMatch(/^[a-z]{2}$/);
  }
});

import { STOP_WORD_LANGUAGES, stopWords } from "./stop-words.ts";

/**
 * Words of short messages that show the language, though they are no stop words: greetings, thanks,
 * and the words for password, order, invoice, account, delivery, refund, subscription, cancel, delete, forgotten.
 */
const MESSAGE_WORDS: Readonly<Record<string, string>> = {
  ca: "hola gràcies bon dia contrasenya comanda factura compte enviament reemborsament subscripció cancel·lar eliminar oblidat",
  cs: "ahoj děkuji díky dobrý den prosím heslo objednávka objednávku faktura účet doručení vrácení předplatné zrušit smazat zapomenuté",
  da: "hej tak godmorgen goddag venligst adgangskode bestilling ordre faktura konto levering refusion abonnement annullere slet slette glemt virker",
  de: "hallo guten tag morgen abend danke moin servus grüße passwort bestellung rechnung konto lieferung versand erstattung abo kündigen löschen vergessen",
  en: "hello hi hey thanks thank help good morning password order invoice account delivery shipping refund subscription cancel delete forgot login error update missing",
  es: "hola gracias buenos buenas días tardes favor ayuda contraseña pedido factura cuenta envío reembolso suscripción cancelar eliminar olvidé funciona",
  et: "tere aitäh palun parool parooli tellimus arve konto tarne tagasimakse tühistada kustuta unustasin",
  eu: "kaixo eskerrik egun mesedez pasahitza eskaera faktura kontua bidalketa itzulketa harpidetza ezabatu ahaztu",
  fi: "hei moi kiitos hyvää päivää terve salasana salasanan tilaus tilaukseni lasku tili toimitus hyvitys peruuttaa poista unohdin",
  fr: "bonjour bonsoir salut merci passe commande facture compte livraison remboursement abonnement annuler supprimer oublié",
  ga: "dia duit maith agat raibh pasfhocal phasfhocal ordú sonrasc cuntas seachadadh aisíocaíocht síntiús dearmad",
  hu: "szia köszönöm jó napot üdvözlöm jelszó jelszavam rendelés rendelésem számla fiók szállítás visszatérítés előfizetés lemondás törlése elfelejtett",
  id: "halo terima kasih selamat pagi siang sandi pesanan faktur akun pengiriman pengembalian langganan batalkan hapus lupa",
  it: "ciao buongiorno buonasera grazie salve aiuto favore password ordine fattura account spedizione rimborso abbonamento annullare eliminare dimenticata funziona",
  lt: "labas ačiū prašau diena slaptažodis slaptažodį užsakymas užsakymą sąskaita paskyra pristatymas grąžinimas prenumerata atšaukti ištrinti pamiršau",
  nl: "hallo hoi bedankt goedemorgen goedemiddag goedendag dank wachtwoord bestelling factuur account levering verzending terugbetaling abonnement opzeggen verwijderen vergeten",
  no: "hei takk hallo god morgen passord passordet bestilling bestillingen faktura konto levering refusjon abonnement avbestille slett slette glemt virker fungerer",
  pl: "cześć dziękuję dzień dobry witam hasło hasła zamówienie faktura konto dostawa zwrot subskrypcja anulować usunąć zapomniałem",
  pt: "olá oi obrigado obrigada bom dia boa tarde favor ajuda senha pedido fatura conta entrega frete reembolso assinatura cancelar excluir esqueci funciona",
  ro: "bună salut mulțumesc multumesc ziua parola comanda factura cont livrare rambursare abonament anulare ștergere uitat",
  ru: "привет здравствуйте спасибо добрый день пароль заказ счёт счет аккаунт доставка возврат подписку отменить удалить забыл работает",
  sr: "здраво хвала молим лозинка лозинку поруџбина рачун налог достава претплата отказати обрисати заборавио ради zdravo hvala molim dobar dan lozinka lozinku porudžbina račun nalog dostava pretplata otkazati obrisati zaboravio",
  sv: "hej tack hejsan snälla lösenord beställning faktura konto leverans frakt återbetalning prenumeration avbryta radera glömt fungerar",
  tr: "merhaba teşekkürler teşekkür ederim selam günaydın şifre şifremi sipariş siparişim fatura hesap hesabı teslimat kargo iade abonelik iptal sil unuttum çalışmıyor",
  uk: "привіт дякую вітаю добрий день пароль замовлення рахунок акаунт доставка повернення підписка скасувати видалити забув працює",
};

/**
 * For each stop word and word of messages, the languages that have it, each with its weight: 1 when it is alone with
 * it, the smaller the more others share it, since the word then means little.
 */
export const FUNCTION_WORD_WEIGHTS: ReadonlyMap<string, readonly (readonly [language: string, weight: number])[]> =
  weighWords();

function weighWords(): Map<string, [string, number][]> {
  const languagesOf = new Map<string, string[]>();
  for (const language of STOP_WORD_LANGUAGES) {
    const messageWords = (MESSAGE_WORDS[language] ?? "").split(" ").filter((word) => word !== "");
    for (const word of new Set([...stopWords(language), ...messageWords])) {
      languagesOf.set(word, [...(languagesOf.get(word) ?? []), language]);
    }
  }
  return new Map(
    [...languagesOf].map(([word, languages]) => [
      word,
      languages.map((language): [string, number] => [language, 1 / languages.length]),
    ]),
  );
}

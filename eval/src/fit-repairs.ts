// Fits the weights of corrections (packages/agents/data/repair-weights.json):
//   node scripts/run.mjs eval/src/fit-repairs.ts TRAIN.jsonl > packages/agents/data/repair-weights.json
// A line has a sentence with its slips, `text`, and without them, `fluent`, as in Disfl-QA (Gupta et al. 2021). A
// multinomial logistic model over the readings of each sentence, by AdaGrad; the same file always gives the same weights.
import { applyReading, findRepairCues, noteWords, repairCandidates } from "@svc/agents";
import { readJsonLines } from "./read-set.ts";

// Sentences of notes, written for this purpose: with slips and their meaning, or without slips. Disfl-QA has only
// questions.

const STATEMENTS: readonly (readonly [said: string, meant?: string])[] = [
  ["The meeting is on Tuesday no sorry Wednesday.", "The meeting is on Wednesday."],
  ["Call Anna I mean Maria at nine.", "Call Maria at nine."],
  ["We need five uh six new chairs in the office.", "We need six new chairs in the office."],
  ["The invoice, no wait, the receipt is missing.", "The receipt is missing."],
  ["Send it to the warehouse or rather to the shop.", "Send it to the shop."],
  [
    "The printer on the second floor, sorry, on the third floor is jammed.",
    "The printer on the third floor is jammed.",
  ],
  ["The customer wants a refund scratch that a replacement.", "The customer wants a replacement."],
  ["He said the app crashes er freezes after the update.", "He said the app freezes after the update."],
  ["Tell him we open at eight, no, nine.", "Tell him we open at nine."],
  ["The order number is 4711 no 4712.", "The order number is 4712."],
  ["They want to cancel, actually to change, the subscription.", "They want to change, the subscription."],
  ["We should I mean they should pay the deposit first.", "they should pay the deposit first."],
  ["Please ship it on Friday, make that Monday.", "Please ship it on Monday."],
  ["The lamp in the hall um flickers.", "The lamp in the hall flickers."],
  ["Uh the heating in room twelve does not work.", "the heating in room twelve does not work."],
  ["The export takes ten minutes wait no ten hours.", "The export takes ten hours."],
  ["He was charged twice this month no wait last month.", "He was charged twice last month."],
  ["She was here this morning, no, this afternoon.", "She was here this afternoon."],
  ["They pay next week, sorry, next month.", "They pay next month."],
  ["The delivery came last Friday, I mean last Thursday.", "The delivery came last Thursday."],
  ["It broke on the first floor, no sorry, the third floor.", "It broke on the third floor."],
  ["There is no wifi in the meeting room."],
  ["There is no hot water on the third floor."],
  ["We have no idea why the export fails."],
  ["The customer gets no answer from support."],
  ["No invoice was sent in March."],
  ["It makes no difference which browser they use."],
  ["They have no access and no password."],
  ["There was no error, but the page stayed empty."],
  ["He has no receipt and wants his money back."],
  ["No one answers the phone after five."],
  ["Actually the printer works again."],
  ["The customer actually paid twice."],
  ["It is actually the second time this week."],
  ["She would rather have a replacement than a refund."],
  ["The page is rather slow in the morning."],
  ["They got the red one instead of the blue one."],
  ["He wants a refund instead."],
  ["Sorry for the delay, the parcel was lost."],
  ["The customer said sorry and paid."],
  ["We have to wait for the supplier."],
  ["They wait for two hours each time."],
  ["Wait times on the phone are too long."],
  ["Make sure that the backup runs."],
  ["We should make the button larger."],
  ["Please make it larger."],
  ["The new version is better than the old one."],
  ["It would be better to call him first."],
  ["I do not know what these numbers mean."],
  ["What does the red light mean?"],
  ["She meant the other invoice."],
  ["Send the offer to Anna or Maria."],
  ["Either the cable or the plug is broken."],
  ["The fee is not five but six euros."],
  ["It is not the printer."],
  ["Hold on to the old contract until June."],
  ["They never mind waiting."],
  ["Is there a correction of the invoice?"],
  ["The correction was sent on Monday."],
  ["Press the button and wait until it blinks."],
  ["The answer is no."],
  ["He said no to the offer."],
  ["We got no reply to the second letter."],
  ["They saw no progress and left no comment."],
  ["The report shows no change in April."],
  ["I found no button for that on the page."],
  ["The driver had no address and came back."],
  ["Maria actually wrote to us last week."],
  ["The shop actually opens at nine."],
  ["The team would rather meet in the morning."],
  ["I would rather keep the old phone."],
  ["They want to wait for the next version."],
  ["Customers wait too long at the counter."],
  ["We can wait until Monday."],
  ["I am sorry about the noise in room five."],
  ["Paul is better now and works from home."],
  ["The second model makes better coffee."],
  ["You can make a copy at the desk."],
  ["They make parts for the old lamps."],
  ["We use the stairs instead of the lift."],
  ["Ben took the train instead."],
  ["Someone forgot to lock the door, no, the gate.", "Someone forgot to lock the gate."],
  ["The parcel went to Berlin, actually, to Hamburg.", "The parcel went to Hamburg."],
  ["Two, sorry, three screws are missing.", "three screws are missing."],
  ["Ask Peter, wait, ask Paul for the key.", "ask Paul for the key."],
];

/** A reading of a sentence. */
interface Reading {
  features: ReturnType<typeof repairCandidates>[number]["features"];
  isRight: boolean;
}

const EPOCHS = 6;
const RATE = 0.15;
const DECAY = 1e-5;
const MIN_WEIGHT = 0.05;

const [file] = process.argv.slice(2);
const lines = readJsonLines<{ text: string; fluent: string }>(file ?? "");
const plain = (text: string) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(" ");

/** Returns all readings of a sentence, and which of them give the wanted words. */
function readingsOf(text: string, wanted: string): Reading[][] {
  const words = noteWords(text, "en");
  const readings = findRepairCues(words, "en").flatMap((cue) =>
    repairCandidates(words, cue, true).map(({ reading, features }) => ({
      features,
      isRight: plain(applyReading(text, words, { cue, reading })) === plain(wanted),
    })),
  );
  return readings.some(({ isRight }) => isRight) ? [readings] : [];
}

const samples = [
  ...lines.flatMap(({ text, fluent }) => readingsOf(text, fluent)),
  // A sentence without slips must stay unchanged.
  ...lines.flatMap(({ fluent }) => readingsOf(fluent, fluent)),
  ...Array.from({ length: 8 }, () => STATEMENTS.flatMap(([text, wanted = text]) => readingsOf(text, wanted))).flat(),
];
console.error(`${samples.length} sentences of ${lines.length} can be mended, or need not be`);

const weights = new Map<string, number>();
const squares = new Map<string, number>();
const scoreOf = ({ features }: Reading) =>
  features.reduce((sum, [name, value]) => sum + (weights.get(name) ?? 0) * value, 0);
let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;

for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
  for (let last = samples.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const [one, two] = [samples[last], samples[other]];
    if (one !== undefined && two !== undefined) [samples[last], samples[other]] = [two, one];
  }
  for (const readings of samples) learn(readings);
}

function learn(readings: readonly Reading[]) {
  const scores = readings.map(scoreOf);
  const top = Math.max(...scores);
  const odds = scores.map((score) => Math.exp(score - top));
  const all = odds.reduce((sum, one) => sum + one, 0);
  const right = odds.reduce((sum, one, index) => sum + (readings[index]?.isRight === true ? one : 0), 0);
  const slopes = new Map<string, number>();
  readings.forEach(({ features, isRight }, index) => {
    const own = odds[index] ?? 0;
    const error = own / all - (isRight ? own / right : 0);
    if (Math.abs(error) < 1e-5) return;
    for (const [name, value] of features) slopes.set(name, (slopes.get(name) ?? 0) + error * value);
  });
  for (const [name, slope] of slopes) {
    const step = slope + DECAY * (weights.get(name) ?? 0);
    const square = (squares.get(name) ?? 1e-6) + step * step;
    squares.set(name, square);
    weights.set(name, (weights.get(name) ?? 0) - (RATE * step) / Math.sqrt(square));
  }
}

const kept = [...weights].filter(([, weight]) => Math.abs(weight) >= MIN_WEIGHT).sort(([a], [b]) => (a < b ? -1 : 1));
console.log(
  JSON.stringify(Object.fromEntries(kept.map(([name, weight]) => [name, Number(weight.toFixed(2))])), null, 2),
);

// How long notes of 50,000 characters take, without a model, of several kinds:
//   node scripts/eval/time-notes.mjs
// After `npm run build`. The first round warms up and does not count.
import { summarizeNotes } from "../../packages/agents/dist/index.js";

const CHARS = 50_000;
const ROUNDS = 5;

const SAID =
  "so um the the printer on floor %n is jammed again, no wait, on floor %m, and the customer of room %n was charged twice and wants a refund by Friday no sorry by Thursday it is the third time ";
const KINDS = {
  "run-on speech": (n) => SAID.replaceAll("%n", n).replaceAll("%m", n + 1),
  sentences: (n) => `The heating in room ${n} does not work. They need it by Monday, I mean Tuesday. Lunch was nice. `,
  "a list": (n) => `- um the lamp in room ${n} flickers\n- order toner for printer ${n % 7}\n`,
  "nothing but corrections": () => "no wait i mean sorry scratch that ",
  "one word": () => "a".repeat(1_000),
};

for (const [name, make] of Object.entries(KINDS)) {
  let notes = "";
  for (let n = 0; notes.length < CHARS; n += 1) notes += make(n);
  notes = notes.slice(0, CHARS);
  const times = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const startedAt = performance.now();
    await summarizeNotes({ notes, question: "What about the printer in room 12?" });
    times.push(performance.now() - startedAt);
  }
  const [first, ...rest] = times.map((ms) => Math.round(ms));
  console.log(`${name}: ${Math.max(...rest)} ms at most of ${rest.length}, the very first ${first} ms`);
}

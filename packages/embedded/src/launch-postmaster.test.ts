import { expect, test } from "@jest/globals";
import { createLineForwarder } from "./launch-postmaster.ts";

function startForwarder() {
  const clock = { ms: 0 };
  const lines: string[] = [];
  const note = (level: string) => (fields: object, text: string) =>
    void lines.push(`${level} ${text} ${JSON.stringify(fields)}`);
  const log = { info: note("info"), warn: note("warn"), error: note("error") };
  return { clock, lines, forward: createLineForwarder(log, () => clock.ms) };
}

test("a line has the level that Postgres gave it", () => {
  const { lines, forward } = startForwarder();
  for (const line of ["LOG:  ready", "FATAL:  no", "PANIC:  the end", "  of a longer text"]) forward(line);
  expect(lines).toEqual([
    'info ready {"component":"postgres","severity":"LOG"}',
    'warn no {"component":"postgres","severity":"FATAL"}',
    'error the end {"component":"postgres","severity":"PANIC"}',
    'info   of a longer text {"component":"postgres","severity":"LOG"}',
  ]);
});

test("a line that is repeated is said once in ten seconds, with how often it came", () => {
  const { clock, lines, forward } = startForwarder();
  const line = "FATAL:  could not write init file: No space left on device";
  for (clock.ms = 0; clock.ms < 20_000; clock.ms += 100) forward(line);
  forward("LOG:  another");
  expect(lines).toEqual([
    'warn could not write init file: No space left on device {"component":"postgres","severity":"FATAL"}',
    'warn could not write init file: No space left on device {"component":"postgres","severity":"FATAL","repeated":99}',
    'info another {"component":"postgres","severity":"LOG"}',
  ]);
});

test("many different lines are all said", () => {
  const { lines, forward } = startForwarder();
  for (let number = 0; number < 300; number++) forward(`LOG:  line ${number}`);
  expect(lines).toHaveLength(300);
});

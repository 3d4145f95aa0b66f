import { expect, test } from "@jest/globals";
import { missingNames } from "./missing-names.ts";

test.each([
  ["How do I connect to Cassandra?", ["Connections go through a pool."], ["Cassandra"]],
  ["How do I connect to Cassandra?", ["Cassandra is connected to by its driver."], []],
  ["Wie viel kostet die Reparatur der Waschmaschine?", ["Eine Reparatur kostet 40 Euro."], ["Waschmaschine"]],
  ["What does error E12 mean?", ["Error E11: the door is open."], ["E12"]],
  ["Hello?", ["Something else."], ["Hello"]],
])("%s asks about what no text mentions", (question, texts, names) => {
  expect(missingNames(question, texts)).toEqual(names);
});

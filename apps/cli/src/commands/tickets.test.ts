import { expect, test } from "@jest/globals";
import { REVIEW_ACTIONS } from "@svc/contracts";
import { Command } from "commander";
import { describeCall } from "../cli.ts";
import { createTerminal } from "../terminal.ts";
import { addTickets } from "./tickets.ts";

test("there is a command for each action of an operator", () => {
  const silent = { write: () => true };
  const terminal = createTerminal({ stdout: silent, stderr: silent, env: {}, isJson: false });
  const program = new Command();
  addTickets(program, {
    ...describeCall({ env: {}, workingFolder: "/", program: undefined }),
    terminal,
    openInput: () => process.stdin,
    setExitCode: () => undefined,
  });
  const commands = program.commands.flatMap((command) => command.commands.map((child) => child.name()));
  expect(commands).toEqual(expect.arrayContaining([...REVIEW_ACTIONS]));
});

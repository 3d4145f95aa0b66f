import type { Locator } from "playwright-core";

/** Chooses an option of a list box of the console by its label, like a user with the mouse. */
export async function chooseOption(field: Locator, label: string): Promise<void> {
  await field.click();
  await field.page().getByRole("option", { name: label, exact: true }).click();
}

import { createContext, useContext } from "react";
import type { Texts } from "./create-texts.ts";

/** The texts of the language that is chosen. */
export const TextsContext = createContext<Texts | null>(null);

/** The texts of the language that is chosen. Throws outside of the app. */
export function useTexts(): Texts {
  const texts = useContext(TextsContext);
  if (texts === null) throw new Error("useTexts is for components within the app.");
  return texts;
}

import { createContext, useContext } from "react";
import type { Texts } from "./create-texts.ts";
import { ENGLISH } from "./languages.ts";

/** The texts of the language that is chosen. */
export const TextsContext = createContext<Texts>(ENGLISH);

/** The texts of the language that is chosen. */
export const useTexts = (): Texts => useContext(TextsContext);

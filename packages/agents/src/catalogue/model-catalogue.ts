import type { Model, UnreachableProvider } from "@svc/contracts";
import type { PullOptions } from "./pull-from-ollama.ts";

/** A model of the catalogue, without what is known of its pull. */
export type CatalogueModel = Omit<Model, "pull">;

/** A model that can be pulled, and whether it need be. */
export interface PullableModel {
  /** Its id in the catalogue, written out: with its tag. */
  catalogId: string;
  /** What it takes on the disk, in bytes; null while it is not installed. */
  installedBytes: number | null;
}

/** The models that there are: those of every configured provider, and those that can be installed on Ollama. */
export interface ModelCatalogue {
  /**
   * Returns what every provider has. Providers that do not respond within two seconds are listed in `unreachable`.
   * Never rejects.
   */
  list(): Promise<{ models: CatalogueModel[]; unreachable: UnreachableProvider[] }>;
  /**
   * The model that an id stands for, if it can be pulled. `ollama:` begins the ids of every Ollama, whatever its
   * provider is called. Throws ServiceError: not_found for an unknown provider, invalid_request for an id that stands
   * for no model, or for one that cannot be pulled, unavailable while Ollama does not answer.
   */
  findPullable(catalogId: string): Promise<PullableModel>;
  /**
   * The ids, written out, that an id may stand for: more than one where `ollama:` names no provider. None for no model.
   */
  idsOf(catalogId: string): string[];
  /**
   * Pulls the model with this id, as `findPullable` has answered it, and resolves when it is installed. What an earlier
   * pull has downloaded is not downloaded again. Rejects with a `PullError`, or with the reason of the signal.
   */
  pull(catalogId: string, options: PullOptions): Promise<void>;
}

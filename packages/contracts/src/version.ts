/** Version of the product, as reported by health, callbacks and the tool server. */
export const VERSION = "0.1.0";

/** Version of the product, as health, callbacks and the tool server name it. */
export const VERSION = "0.1.0";

import { brand } from "../content/brand.ts";
import { pageSettings } from "./page-settings.ts";
import { useConfig } from "./product-config.ts";

const pageBrand: typeof brand = { ...brand, name: pageSettings.name, email: pageSettings.email };

/** The operator's name and addresses; those in the page until the configuration is read. */
export function useBrand(): typeof brand {
  return useConfig()?.brand ?? pageBrand;
}

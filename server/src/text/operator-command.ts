/** bin/berth gives its processes this title; from a checkout the commands are npm's. */
const isInstalled = process.title === "berth";

/** What a person types for a command of the operator, such as `berth doctor` or `npm run operator -- doctor` (G137). */
export const operatorCommand = (args: string) => `${isInstalled ? "berth" : "npm run operator --"} ${args}`;

/** The same into a file: npm would write lines of its own before the output. */
export const operatorOutput = (args: string, file: string) =>
  `${isInstalled ? "berth" : "npm run --silent operator --"} ${args} > ${file}`;

/** What a person types to start the server. */
export const startCommand = isInstalled ? "berth start" : "npm start";

/** The settings of a service (docs/operate/install.md), and what a person types after a change of them. */
export const serviceFile = isInstalled ? "/etc/berth/berth.env" : undefined;
export const restartCommand = "systemctl restart berth";

/** What a person types to build the images of environments, or one type's. */
export function imagesCommand(type?: string): string {
  if (isInstalled) return type ? `berth images ${type}` : "berth images";
  return type ? `npm run images -- ${type}` : "npm run images";
}

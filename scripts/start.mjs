// npm start: installs, builds and runs the product. Only node: modules here, because nothing may be installed yet.
import { become, buildWeb, install } from "./setup.mjs";

install();
buildWeb();
become("server/src/main.ts", []);

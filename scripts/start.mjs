// npm start: installs, builds and runs the product. Only node: modules here, because nothing may be installed yet.
import { become, buildServer, buildWeb, install } from "./setup.mjs";

install();
buildWeb();
buildServer();
become("server/dist/main.js", []);

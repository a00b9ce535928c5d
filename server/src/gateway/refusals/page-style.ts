import { createHash } from "node:crypto";

/** The design tokens in both colour schemes. Geist only where it is installed: an error page loads no font. */
export const style = `
:root{color-scheme:light dark;--canvas:#fbfcfc;--line:#e3e7e8;--ink:#0f1517;--ink-2:#49555a;--ink-3:#647075;--live:#0a8f6c;--wait:#2f74dd;--wait-ink:#1d5bb8;--hold-ink:#855600;--fail-ink:#b0281d}
@media (prefers-color-scheme:dark){:root{--canvas:#0b0e10;--line:#20272b;--ink:#e8edee;--ink-2:#a4b0b5;--ink-3:#84929a;--live:#2fce9f;--wait:#5b9dff;--wait-ink:#8ebcff;--hold-ink:#efc064;--fail-ink:#ff9d93}}
*{box-sizing:border-box}
body{margin:0;background:var(--canvas);color:var(--ink);font-family:"Geist Variable",Geist,system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;-webkit-font-smoothing:antialiased}
main{display:grid;align-items:center;min-height:100vh;min-height:100dvh;padding:24px}
main>div{width:100%;max-width:480px;margin-inline:auto;padding-bottom:10vh}
.host{display:flex;align-items:center;gap:10px;margin:0 0 40px;padding-bottom:16px;border-bottom:1px solid var(--line);font-family:"Geist Mono Variable","Geist Mono",ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:13px;letter-spacing:-.01em;overflow-wrap:anywhere}
svg{flex:none}
.block{fill:var(--live)}
.status{display:inline-flex;align-items:center;gap:7px;margin:0;font-size:13px;line-height:20px}
.pending{color:var(--wait-ink)}.paused{color:var(--hold-ink)}.stopped{color:var(--ink-2)}.terminated,.unknown{color:var(--ink-3)}.failed{color:var(--fail-ink)}
.turning{transform-origin:7px 7px;animation:turn 1s linear infinite}
@keyframes turn{to{transform:rotate(360deg)}}
@media (prefers-reduced-motion:reduce){.turning{animation:none}}
h1{margin:10px 0 0;font-size:28px;line-height:34px;font-weight:550;letter-spacing:-.03em;text-wrap:balance}
h1+p{margin:8px 0 24px;font-size:15px;line-height:23px;color:var(--ink-2);font-variant-numeric:tabular-nums;text-wrap:pretty}
ol{margin:0 0 24px;padding:0;list-style:none;font-size:14px;line-height:28px}
li{display:flex;align-items:center;gap:10px;color:var(--ink-3)}
li.done{color:var(--ink-2)}li.done svg{color:var(--live)}li.doing{color:var(--wait-ink);font-weight:500}
.acts{display:flex;flex-wrap:wrap;align-items:center;gap:12px}
form{display:contents}
.act,button{display:inline-flex;align-items:center;justify-content:center;height:40px;padding:0 18px;border-radius:6px;background:var(--ink);color:var(--canvas);font-size:14px;font-weight:500;text-decoration:none}
.other{font-size:14px;font-weight:500;line-height:40px;padding:0 6px;color:var(--ink-2);text-decoration:none}
.other:hover{color:var(--ink)}
button{border:0;font-family:inherit;cursor:pointer}
a:focus-visible,button:focus-visible{outline:2px solid var(--wait);outline-offset:2px}
@media (max-width:48em){main{align-items:start;padding:20px 16px}.act,button{width:100%;height:48px}.other{width:100%;text-align:center;line-height:48px}}
`;

/** No script, no external resource, no form. */
export const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`;

/** As above, with a form that posts to its own host. */
export const formSecurityPolicy = contentSecurityPolicy.replace("form-action 'none'", "form-action 'self'");

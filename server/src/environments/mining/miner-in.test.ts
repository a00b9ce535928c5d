import { expect, test } from "vitest";
import { minerIn } from "./miner-in.ts";

test.each([
  ["./xmrig -o pool.supportxmr.com:3333 -u 4A...", "program", "xmrig"],
  ["/tmp/x/XMRig --donate-level 1", "program", "xmrig"],
  ["nohup /home/jovyan/t-rex -a kawpow", "program", "t-rex"],
  ["python3 ./lolMiner.exe --algo ETCHASH", "program", "lolminer"],
  ["SRBMiner-MULTI --disable-gpu", "program", "srbminer-multi"],
  ["./train -o stratum+tcp://eth.example:4444 -u 0xabc", "pool", "stratum+tcp://eth.example"],
  ["./a --url=pool.supportxmr.com:3333", "pool", "pool.supportxmr.com:3333"],
  ["python job.py xmr-eu1.nanopool.org:10343", "pool", "xmr-eu1.nanopool.org:10343"],
])("%s is mining", (command, kind, name) => {
  expect(minerIn({ command })).toMatchObject({ [kind]: name, isExecuted: false });
});

test.each([
  "python3 -m ipykernel_launcher -f /home/jovyan/.local/kernel.json",
  "python train.py --data /data/xmrig --epochs 100",
  "torchrun --nproc_per_node 8 --rdzv_endpoint 10.0.0.1:29500 train.py",
  "python process_miner.py --log events.xes",
  "python3 -m pm4py.miner alpha",
  "vim /home/jovyan/xmrig/notes.txt",
  "grep -r stratum+tcp:// .",
  "git clone https://github.com/xmrig/xmrig.git",
  "curl https://api.nicehash.com:443/main/api/v2/public/stats",
  "python fetch.py api.nicehash.com:443",
  "python fetch.py notnicehash.com:3333",
  "wget https://2miners.com/eth-mining-pool",
  "pip install xmrig-exporter",
  "python rigel.py",
  "tensorboard --logdir runs --port 6006",
  "",
  "   ",
])("%s is not", (command) => {
  expect(minerIn({ command })).toBeUndefined();
});

test.each(["a", "a.", ":33", "a.b:33 "])(
  "G326 a command line of megabytes that repeats %j is looked at, and nothing is found",
  (text) => {
    expect(minerIn({ command: `python ${text.repeat(1 << 20)}` })).toBeUndefined();
  },
);

test.each([
  ["/home/user/.cache/xmrig", "node server.js", { program: "xmrig", isExecuted: true }],
  ["/tmp/t-rex (deleted)", "vim", { program: "t-rex", isExecuted: true }],
  ["/usr/bin/python3.11", "python t-rex.py", { program: "t-rex", isExecuted: false }],
  ["/home/user/vim", "vim -o stratum+tcp://pool.example:1", { pool: "stratum+tcp://pool.example", isExecuted: false }],
  ["/usr/bin/vim.basic", "vim xmrig", undefined],
])("G305 what the kernel says that runs counts: %s for %s", (program, command, expected) => {
  if (expected) expect(minerIn({ command, program })).toMatchObject(expected);
  else expect(minerIn({ command, program })).toBeUndefined();
});
